"""What is said of the dependencies: licences on file, and an audit that says when it could not be made."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("lock", "extras"),
    [("run", ("kb",)), ("dev", ("dev", "entailment", "evaluate", "kb")), ("accurate", ("accurate", "dev", "train"))],
)
def test_every_dependency_is_locked_with_hashes(lock: str, extras: tuple[str, ...]) -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    names = {re.sub("[._]", "-", re.split(r"[^A-Za-z0-9_.-]", line)[0]).lower() for line in asked}
    locked = re.findall(
        r"^([a-z0-9.-]+)==.* \\\n +--hash=", (REPO / f"requirements/{lock}.txt").read_text(), re.MULTILINE
    )
    assert names <= set(locked), "run `make lock`"


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
