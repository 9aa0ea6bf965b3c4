"""Print docs/licences.md: every locked dependency, with the licence stated by its package as installed here."""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements" / "run.txt"
LONGEST = 60


def locked_packages() -> list[str]:
    """Return the names in the lock file."""
    return sorted(set(re.findall(r"^([A-Za-z0-9_.-]+)==", LOCK.read_text(), re.MULTILINE)))


def licence_of(name: str) -> str:
    """Return a short form of the licence that a package states."""
    try:
        stated = metadata(name)
    except PackageNotFoundError:
        return "(not for this platform)"
    return _expression(stated) or _classifiers(stated) or _first_line(stated) or "(not stated)"


def _expression(stated: PackageMetadata) -> str:
    return str(stated.get("License-Expression") or "")


def _classifiers(stated: PackageMetadata) -> str:
    licences = [line for line in stated.get_all("Classifier") or () if line.startswith("License ::")]
    return ", ".join(line.rpartition(" :: ")[2] for line in licences)


def _first_line(stated: PackageMetadata) -> str:
    lines = str(stated.get("License") or "").strip().splitlines()
    return lines[0][:LONGEST] if lines else ""


def page() -> str:
    """Return the page as Markdown."""
    rows = [f"| {name} | {licence_of(name)} |" for name in locked_packages()]
    head = "# Licences\n\nOf the locked dependencies, as their packages state them; `make licences` writes this page.\n"
    return "\n".join([head, "| package | licence |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    sys.stdout.write(page())
