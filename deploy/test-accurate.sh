#!/bin/sh
# Test what only runs with torch: the extras `accurate` (FlagEmbedding, sentence-transformers) and `train` (trl, peft).
# Tiny random models, no hub; one test computes with the smallest chat model's weights.
# An environment of its own: torch is large, and the product's lock has none of it.
set -eu
home=.venv-accurate
[ -x "$home/bin/python" ] || sh deploy/make-venv.sh "${1:-python3}" "$home"
echo "Installing the extras accurate and train into $home …"
"$home/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/accurate.txt
"$home/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --editable .
exec "$home/bin/python" -m pytest -m "slow or not slow" tests/models/test_accurate.py tests/models/test_toxicity_models.py \
    tests/kb/test_retrievers.py tests/kb/test_rerank.py tests/evaluation/metrics/test_encoder.py \
    tests/training/test_adapters.py tests/training/test_reranker.py
