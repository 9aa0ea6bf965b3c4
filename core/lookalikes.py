"""Read Cyrillic and Greek letters that look like Latin ones as these."""

from __future__ import annotations

_LOOKALIKES = str.maketrans(
    "авеікмнорстухѕјԁɡαεικνορτυχАВЕІКМНОРСТУХЅЈΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abeikmhopctyxsjdgaeikvoptuxABEIKMHOPCTYXSJABEZHIKMNOPTYX",
)


def latin(word: str) -> str:
    """Replace Cyrillic and Greek look-alikes in a word that also has Latin letters; leave other words alone."""
    if word.isascii() or not any("a" <= char.lower() <= "z" for char in word):
        return word
    return word.translate(_LOOKALIKES)
