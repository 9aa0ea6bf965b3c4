"""Tell whether evidence speaks to a language model, as no document about people does: it was planted there."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files

from core.domain import Evidence
from core.lookalikes import latin

_NEW_LINE = re.compile(r"\s*\n\s*(?=[^\W\d_a-z])")


def speaks_to_a_model(evidence: Evidence) -> bool:
    """Tell whether the text of evidence, or what names its source, gives orders to whatever reads it."""
    source = evidence.source
    return any(map(_gives_orders, (evidence.text, evidence.summary, source.title, source.institution)))


@lru_cache(maxsize=4096)
def _gives_orders(text: str) -> bool:
    return bool(_orders().search(_plain(text)))


def _plain(text: str) -> str:
    """Return a text in lower case and single spaces, without accents, compatibility forms, invisible characters or
    look-alikes. A line that begins with a capital letter begins a sentence.
    """
    folded = unicodedata.normalize("NFKD", _NEW_LINE.sub(". ", text)).casefold()
    if not folded.isascii():
        folded = "".join([char for char in folded if char.isascii() or unicodedata.category(char) not in ("Mn", "Cf")])
    return " ".join(map(latin, folded.split()))


@cache
def _orders() -> re.Pattern[str]:
    table = tomllib.loads((files("kb") / "addressed.toml").read_text("utf-8"))
    begun = rf"(?:{table['begins']})(?:{'|'.join(table['commands'])})"
    return re.compile(rf"{table['tokens']}|{begun}|\b(?:{'|'.join(table['orders'])})")
