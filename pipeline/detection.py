"""Detect the language of a post or a reply.

The model knows 140 languages and dialects, and a few words fit many of them. So a platform's hint counts as a prior,
and if doubt remains the answer is the hint or "und". For documents, `kb.extract.subjects` does this.
"""

from __future__ import annotations

from models.language_id import language_identifier
from pipeline.languages.loading import UNKNOWN
from pipeline.normalise import LINK, SOMEONE, normalise

PRIOR = 20.0
"""How many times likelier a hinted language is than any other, before the text is read."""
FEW_LETTERS = 20
"""Letters below which a text is too short to overrule a hint."""
CONTRADICTED = 0.02
"""Probability of the hinted language below which a longer text overrules the hint."""
LONGEST = 2000
"""Characters that are read."""

_DIALECTS = {
    "ary": "ar", "arz": "ar", "wuu": "zh", "yue": "zh", "pcm": "en", "nn": "no", "ext": "es", "vec": "it", "lij": "it",
    "uzs": "uz", "ltg": "lv", "sdh": "ku", "grc": "el", "hbo": "he", "gug": "qu",
}  # fmt: skip
_SELDOM = frozenset({"eo", "la", "vo", "sa", "an", "wa", "br", "se", "st", "fo", "oc", "zxx"})
"""Codes of languages that few posts are in, but that short texts in other languages are mistaken for."""


def load() -> None:
    """Load the model now (up to a second), so that the first text need not wait for it."""
    language_identifier()


def detect(text: str, hint: str | None = None, *, threshold: float = 0.6) -> tuple[str, float]:
    """Return the text's ISO 639-1 code, or `und`, and the probability, 0 to 1.

    `hint` is the platform's language tag. If no language reaches `threshold`, the hint is returned, unless a text of at
    least FEW_LETTERS letters speaks against it; without a hint, `und` is. Safe in any thread.
    """
    hinted = _base(hint)
    words = " ".join(normalise(text)[:LONGEST].replace(SOMEONE, " ").replace(LINK, " ").split())
    shares = _shares(words, hinted)
    best = max(shares, key=lambda code: shares[code])
    if shares[best] >= threshold:
        return best, shares[best]
    if hinted is None:
        return UNKNOWN, shares[best]
    share = shares.get(hinted, 0.0)
    few = sum(map(str.isalpha, words)) < FEW_LETTERS
    return (hinted, share) if few or share >= CONTRADICTED else (UNKNOWN, shares[best])


def _base(hint: str | None) -> str | None:
    """Return the code of a language tag such as `pt-BR`; None if it names no language with an ISO 639-1 code."""
    if hint is None:
        return None
    code = hint.split("-")[0].lower()
    code = _DIALECTS.get(code, code)
    return code if len(code) == 2 else None


def _shares(text: str, hinted: str | None) -> dict[str, float]:
    """Return probabilities that sum to 1, of ISO 639-1 codes only."""
    shares: dict[str, float] = {}
    for label, share in language_identifier().rank(text):
        code = _DIALECTS.get(label, label)
        if len(code) == 2 and (code not in _SELDOM or code == hinted):
            shares[code] = shares.get(code, 0.0) + share * (PRIOR if code == hinted else 1.0)
    total = sum(shares.values())
    return {code: share / total for code, share in shares.items()}
