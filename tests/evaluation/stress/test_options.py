"""What `rejoinder stress` refuses before it starts anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluation.stress import command


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--decisions", "1", "--collisions", "2"], "2 collisions among 1 decisions"),
        (["--own-cluster", "--broker-outages", "1"], "the wire to a cluster of your own"),
        (["--model-kills", "1"], "there is no model's server to kill"),
        (["--disk-fills", "1"], "make a small one"),
    ],
)
def test_what_can_not_be_done_is_refused(options: list[str], reason: str) -> None:
    result = CliRunner().invoke(command.stress, options)
    assert result.exit_code == 2 and reason in result.output


def test_a_large_disk_is_not_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_SMALL_DISK_B", 0)
    result = CliRunner().invoke(command.stress, ["--disk-fills", "1", "--folder", str(tmp_path)])
    assert result.exit_code == 2 and "make a small one" in result.output
