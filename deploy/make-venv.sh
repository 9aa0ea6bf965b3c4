#!/bin/sh
# Make a virtual environment: make-venv.sh PYTHON [FOLDER], by default .venv. Explain what to install if it can't.
set -eu
python=${1:-}
if [ -z "$python" ]; then
    found=$(python3 --version 2>/dev/null || echo "no Python")
    echo "Rejoinder needs Python 3.11, 3.12 or 3.13; found: $found." >&2
    echo "On Debian or Ubuntu: apt-get install python3 python3-venv. Or name one: make PYTHON=/path/to/python3.12 …" >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))'; then
    echo "Rejoinder needs Python 3.11, 3.12 or 3.13; $python is $("$python" --version 2>&1)." >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "$python has no venv module. On Debian or Ubuntu: apt-get install python3-venv" >&2
    exit 1
fi
if ! command -v cc >/dev/null && ! command -v gcc >/dev/null; then
    echo "No C compiler found; one dependency is compiled on Python 3.11. On Debian or Ubuntu: apt-get install gcc libc6-dev" >&2
    exit 1
fi
"$python" -m venv "${2:-.venv}"
