#!/bin/sh
# Install the programs that tests need: Chromium and Firefox for the desk, Tesseract for scanned documents, and WordNet
# for METEOR. If one can't be installed, its tests are skipped with a message.
set -u
missing=""
command -v chromium >/dev/null || missing="chromium"
command -v firefox-esr >/dev/null || missing="$missing firefox-esr"
command -v tesseract >/dev/null || missing="$missing tesseract-ocr tesseract-ocr-eng"
[ -d /usr/share/wordnet ] || missing="$missing wordnet-base wordnet-sense-index"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Not here: $missing. Their tests will be skipped. As root: apt-get install $missing" >&2
    exit 0
fi
echo "Installing for the tests: $missing …"
apt-get update -qq >/dev/null 2>&1
# shellcheck disable=SC2086 - one word a package
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 ||
    echo "Could not install: $missing. Their tests will be skipped." >&2
