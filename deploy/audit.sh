#!/bin/sh
# Audit the locked dependencies against a database of vulnerabilities if one can be reached; with `sbom`, list them.
set -eu
DATABASE=${AUDIT_DATABASE:-https://api.osv.dev}
reachable() {
    "$1" -c 'import sys, urllib.error, urllib.request
try: urllib.request.urlopen(sys.argv[1], timeout=5)
except urllib.error.HTTPError: pass
except (OSError, ValueError): sys.exit(1)' "$DATABASE"
}
PYTHON=.venv/bin/python
if [ "${1:-}" != sbom ] && ! reachable "$PYTHON"; then
    echo "Dependencies NOT audited: no database of vulnerabilities answers at $DATABASE."
    exit 0
fi
# The tools get their own environment, so that their dependencies stay out of the product's lock.
if [ ! -x .venv-audit/bin/pip-audit ]; then
    "$PYTHON" -m venv .venv-audit
    .venv-audit/bin/pip install --quiet --disable-pip-version-check pip-audit==2.10.1 cyclonedx-bom
fi
if [ "${1:-}" = sbom ]; then
    mkdir -p build
    .venv-audit/bin/cyclonedx-py requirements requirements/run.txt --output-format JSON -o build/sbom.json
    echo "build/sbom.json lists the locked dependencies, with their hashes (CycloneDX)."
else
    .venv-audit/bin/pip-audit --requirement requirements/run.txt --disable-pip --vulnerability-service osv
fi
