"""What is said of the dependencies: licences on file, and an audit that says when it could not be made."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

REPO = Path(__file__).parents[2]


def test_every_locked_dependency_is_on_the_page_of_licences() -> None:
    locked = set(re.findall(r"^([A-Za-z0-9_.-]+)==", (REPO / "requirements/run.txt").read_text(), re.MULTILINE))
    listed = set(re.findall(r"^\| (\S+) \|", (REPO / "docs/licences.md").read_text(), re.MULTILINE)) - {"package"}
    assert listed == locked, "run `make licences`"


def test_an_audit_without_a_database_says_so_and_is_no_failure() -> None:
    env = {**os.environ, "AUDIT_DATABASE": "http://127.0.0.1:9"}
    audit = subprocess.run(
        ["/bin/sh", "deploy/audit.sh"], cwd=REPO, env=env, capture_output=True, text=True, check=False
    )
    assert audit.returncode == 0
    assert "NOT audited" in audit.stdout and "127.0.0.1:9" in audit.stdout
