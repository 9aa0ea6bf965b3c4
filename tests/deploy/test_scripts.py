"""The set-up scripts say in plain words what is missing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"


def fake_python(folder: Path, version: str, *, has_venv: bool = True) -> Path:
    """Write a program that answers like a Python of that version."""
    major, minor = (int(part) for part in version.split(".")[:2])
    path = folder / "python3"
    path.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --version ] && {{ echo "Python {version}"; exit 0; }}\n'
        f'case "$2" in *ensurepip*) exit {0 if has_venv else 1};; *version_info*) '
        f"exit {0 if (3, 11) <= (major, minor) < (3, 14) else 1};; esac\n"
    )
    path.chmod(0o755)
    return path


def run(script: str, *args: str, path: str | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **({"PATH": path} if path else {})}
    return subprocess.run(
        ["/bin/sh", str(DEPLOY / script), *args], capture_output=True, text=True, env=env, cwd=cwd, check=False
    )


def test_a_python_that_is_too_old_is_named(tmp_path: Path) -> None:
    result = run("make-venv.sh", str(fake_python(tmp_path, "3.9.2")), cwd=tmp_path)
    assert result.returncode == 1
    assert "needs Python 3.11" in result.stderr and "3.9.2" in result.stderr
    assert not (tmp_path / ".venv").exists()


def test_no_python_at_all_says_how_to_get_one(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    fake_python(tmp_path / "bin", "3.9.2")
    search = run("find-python.sh", path=f"{tmp_path / 'bin'}")
    assert search.stdout == ""
    result = run("make-venv.sh", "", cwd=tmp_path, path=f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert result.returncode == 1
    assert "3.9.2" in result.stderr and "apt-get install python3" in result.stderr


def test_a_python_without_venv_says_how_to_get_it(tmp_path: Path) -> None:
    result = run("make-venv.sh", str(fake_python(tmp_path, "3.12.1", has_venv=False)), cwd=tmp_path)
    assert result.returncode == 1 and "python3-venv" in result.stderr


@pytest.mark.parametrize("version", ["3.11.7", "3.13.0"])
def test_a_python_that_fits_is_found(tmp_path: Path, version: str) -> None:
    fake_python(tmp_path, version)
    assert run("find-python.sh", path=str(tmp_path)).stdout.strip() == str(tmp_path / "python3")
