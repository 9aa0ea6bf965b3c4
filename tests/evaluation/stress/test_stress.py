"""The closed loop as an operator runs it, small."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).parents[3]
COMMAND = "from evaluation.stress.command import stress; stress()"

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]


def stress(folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    argv = [sys.executable, "-c", COMMAND, "--json", "--folder", str(folder), *options]
    run = subprocess.run(argv, cwd=REPO, stdout=subprocess.PIPE, timeout=800, check=False)
    return run.returncode, json.loads(run.stdout)


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_200_flags_with_two_kills_a_pause_and_outages_lose_and_double_nothing(database: str, tmp_path: Path) -> None:
    faults = ("--kills", "2", "--pauses", "1", "--broker-outages", "1", "--database-outages", "1", "--outage-s", "17")
    load = ("--flags", "200", "--rate", "8", "--decisions", "60", "--collisions", "8", "--settle-s", "500")
    code, report = stress(tmp_path / "run", "--database", database, *load, *faults)
    assert code == 0, report
    assert not any(report["wrong"].values())
    assert report["flags accepted"] == 200
    assert report["collisions"] == 8
    assert len(report["faults"]) == 5
    assert report["replies on the topic"] == report["states"]["released"] > 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("a small file system can't be mounted here; it takes root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_is_full_for_a_while_loses_and_doubles_nothing(small_disk: Path) -> None:
    load = ("--flags", "100", "--rate", "5", "--decisions", "30", "--collisions", "3", "--settle-s", "500")
    code, report = stress(small_disk, *load, "--disk-fills", "1", "--outage-s", "10")
    assert code == 0, report
    assert [what for _, what in report["faults"]] == ["fill the disk for 10 s"]


def test_a_model_server_that_is_killed_loses_and_doubles_nothing(smollm2: Path, tmp_path: Path) -> None:
    load = ("--flags", "12", "--rate", "0.5", "--decisions", "6", "--collisions", "1", "--settle-s", "500")
    code, report = stress(tmp_path / "run", *load, "--chat-model", "smollm2-135m", "--model-kills", "1")
    assert code == 0, report
    assert [what for _, what in report["faults"]] == ["kill the model's server"]


def test_a_passed_limit_is_an_exit_code(tmp_path: Path) -> None:
    load = ("--flags", "20", "--rate", "20", "--workers", "1", "--desks", "1", "--decisions", "2", "--collisions", "0")
    code, report = stress(tmp_path / "run", *load, "--limit-p95-s", "0.1")
    assert code == 1 and not any(report["wrong"].values())
