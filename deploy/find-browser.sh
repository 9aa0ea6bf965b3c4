#!/bin/sh
# Make sure that the browser tests have a Chromium; where it can't be installed they are skipped and say so.
command -v chromium >/dev/null && exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || {
    echo "No chromium here; browser tests will be skipped. As root: apt-get install chromium" >&2
    exit 1
}
echo "Installing chromium for the browser tests …"
apt-get update -qq >/dev/null 2>&1
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 || {
    echo "chromium could not be installed; browser tests will be skipped." >&2
    exit 1
}
