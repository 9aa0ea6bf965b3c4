#!/bin/sh
# Lock the dependencies with hashes, for all supported Pythons and platforms at once.
set -eu
[ -x .venv/bin/uv ] || .venv/bin/python -m pip install --quiet --disable-pip-version-check uv
uv() { .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
    --no-emit-index-url --no-emit-find-links "$@"; }
uv pyproject.toml --extra kb -o requirements/run.txt
uv pyproject.toml --extra dev --extra entailment --extra evaluate --extra kb -o requirements/dev.txt
# What `make test-accurate` installs, with the tests' needs. A lock of its own, as datasets needs an older fsspec than
# dev.txt has.
uv pyproject.toml --extra dev --extra entailment --extra evaluate --extra kb --extra accurate --extra train \
    -o requirements/accurate.txt
