#!/bin/sh
# Test the code that needs torch: the extras `accurate` (FlagEmbedding, sentence-transformers) and `train` (trl, peft).
# The tests use tiny random models and no hub; one computes with the smallest chat model's weights.
# They get their own environment, because torch is large and not in the product's lock.
set -eu
home=.venv-accurate
[ -x "$home/bin/python" ] || sh deploy/make-venv.sh "${1:-python3}" "$home"
echo "Installing the extras accurate and train into $home …"
"$home/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/accurate.txt
"$home/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --editable .
exec "$home/bin/python" -m pytest -m "slow or not slow" tests/models/test_accurate.py tests/models/test_toxicity_models.py \
    tests/kb/test_retrievers.py tests/kb/test_rerank.py tests/evaluation/metrics/test_encoder.py \
    tests/training/test_adapters.py tests/training/test_reranker.py tests/training/test_low_rank.py \
    tests/training/test_mpnet_layers.py
