"""Find WordNet, which METEOR needs for English: nltk's own copy, a folder, or Debian's packages."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

from core.errors import BadInput

DEBIAN = Path("/usr/share/wordnet")
"""Where Debian's `wordnet-base` and `wordnet-sense-index` put their files."""
NEEDED = ("data.noun", "data.verb", "data.adj", "data.adv", "index.sense")


def find_wordnet(folder: Path | None = None) -> Any | None:
    """Return nltk's own WordNet, else the one in `folder` (by default Debian's); None if there is none.

    Raises BadInput if a folder is named that holds no WordNet.
    """
    if folder is not None and _missing(folder):
        raise BadInput(f"{folder} holds no WordNet: {', '.join(_missing(folder))} is not there.")
    wordnet = _loaded()
    source = folder or DEBIAN
    if wordnet is None and not _missing(source):
        _hand_to_nltk(source)
        wordnet = _loaded()
    return wordnet


def _missing(folder: Path) -> list[str]:
    return [name for name in NEEDED if not (folder / name).exists()]


def _loaded() -> Any | None:
    """Return nltk's WordNet; None if nltk finds no copy."""
    from nltk.corpus import wordnet

    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # that it knows English alone
            wordnet.ensure_loaded()
    except (LookupError, OSError):
        return None
    return wordnet


def _hand_to_nltk(folder: Path) -> None:
    """Copy a WordNet, with the table that Debian leaves out, to a folder where nltk looks, until the process ends."""
    import nltk.data

    home = Path(tempfile.mkdtemp(prefix="rejoinder-wordnet-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    copy = Path(shutil.copytree(folder, home / "corpora" / "wordnet"))
    if not (copy / "lexnames").exists():
        (copy / "lexnames").write_bytes((files("evaluation.metrics") / "lexnames.tsv").read_bytes())
    nltk.data.path.append(str(home))
