#!/bin/sh
# Print the newest Python that Rejoinder runs on, or nothing.
for name in python3.13 python3.12 python3.11 python3 python; do
    if "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
        command -v "$name"
        exit 0
    fi
done
