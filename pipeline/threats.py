"""Estimate how likely a post threatens people, urges violence or wishes it on them.

A logistic regression reads three views of a post: its embedding, its words and pieces of words, and the words near a
violent one. A small network beside it reads the embedding together with the forms of threats. Both are trained by
`rejoinder train threats`; figures and limits are in `data/threat.md`.
"""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from math import exp, sqrt
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.errors import BadInput
from models.arrays import open_arrays
from pipeline import routing_rules
from pipeline.network import Network

BITS = 16
"""Words, pieces and neighbours are hashed into 2 ** BITS buckets."""
BUCKETS = 1 << BITS
READ = 250
"""Words of a post that are read, from its start; after them, only what a rule finds counts."""
NEAR = 8
"""Words before and after a violent one that count as its neighbours."""
PIECES = (3, 4, 5)
SHARES = {"words": 1.0, "pieces": 0.7, "neighbours": 1.5, "parts": 1.5, "forms": 0.7}
"""Length of each view's feature vector relative to an embedding of length 1; for `forms`, the length of each form."""

VIOLENT = frozenset({"violence", "harmed", "harming", "death", "weapon"})
"""A run of parts counts only if at least one of these is in it."""
SIGNS = frozenset(".!?")
LETTERS = {
    "self": "I", "will": "W", "should": "S", "somebody": "B", "hope": "H", "not": "N", "told": "T", "rejected": "R",
    "reported": "P", "was": "A", "violence": "V", "harmed": "K", "harming": "G", "death": "D", "weapon": "O",
    "whom": "M", "asks": "Q", "thing": "Y", "?": "?", '"': "q", "“": "q", "”": "q", "«": "q", "»": "q",
}  # fmt: skip
"""A letter for each part, so that regular expressions can find the forms of a sentence."""
FORMS = {
    name: re.compile(form)
    for name, form in {
        "intent": r"I[xM]{0,2}W[xWMBI]{0,3}[VG]",
        "passive": r"S[xAMBWS]{0,4}K",
        "active": r"S[xMWSI]{0,3}[VG]|[BI]x?S[xMWS]{0,3}[VGO]",
        "deserved": r"S[xA]{0,2}D",
        "command": r"^[xqMW]{0,2}[VG][xMB]|^[xq]{0,1}D[xM]",
        "wish": r"H[^N]{0,6}[DK]|H[^N]{0,6}V",
        "wanted": r"I?W[xMBI]{0,4}[DK]",
        "weapon": r"O",
        "violence": r"[VKGD]",
        "asked": r"Q.{0,5}[VKGD]",
        "why not": r"N.{0,6}[VKGD].*\?$",
    }.items()
}
TAKEN_BACK = {
    name: re.compile(sign)
    for name, sign in {
        "negated": r"N[^N]{0,5}[VKGDO]",
        "quoted": r"q[^q]*[VKGDO][^q]*q",
        "told": r"T[^q]{0,8}[VKGDO]",
        "rejected": r"R[^q]{0,10}[VKGDO]|[VKGDO].*R",
        "reported": r"P.{0,10}[VKGDO]|[VKGDO].*P",
        "past": r"(?<!S)A[xM]{0,2}K",
        "others": r"^x{0,3}[BxA]V",
        "of a thing": r"[VKGD][^VKGD]{0,4}Y|Y[^VKGD]{0,6}[VKGD]",
    }.items()
}

MENDED = VIOLENT | {"should", "not", "somebody", "hope"} - {"weapon"}
"""Parts whose words are also recognised when misspelt."""

_DOUBLED = re.compile(r"(.)\1+")
_WORD = re.compile(r"[\w'*]+|[^\w\s]")


@dataclass(frozen=True)
class ThreatHead:
    """The shipped regression, with `embedded` of shape (d,) and `hashed` of shape (BUCKETS,), and the shipped network.

    The network reads the embedding and which of `signs` a text shows. Both fit the vectors of one embedder only, named
    in `embedder`.
    """

    embedded: NDArray[np.float32]
    hashed: NDArray[np.float32]
    bias: float
    signs: tuple[str, ...]
    network: Network
    embedder: str

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """Load the shipped head, or the one at `path`; raises WeightsError for a file that is missing or damaged."""
        file_path = path or resources.files("pipeline").joinpath("data/threat.npz")
        with open_arrays(file_path, "The threat head") as data:
            return cls(
                data["embedded"].astype(np.float32),
                data["hashed"].astype(np.float32),
                float(data["bias"]),
                tuple(data["signs"].tolist()),
                Network(*(data[part].astype(np.float32) for part in ("hidden", "hidden_bias", "out"))),
                str(data["embedder"]),
            )

    def score(self, text: str, embedding: NDArray[np.float32]) -> float:
        """Return the probability, 0 to 1, that `text` is a threat; raises BadInput for an embedding of another shape.

        `embedding`, shape (d,), is the text's query embedding.
        """
        if embedding.shape != self.embedded.shape:
            raise BadInput(f"The threat head reads {len(self.embedded)} numbers, not a shape of {embedding.shape}.")
        surface = read(text)
        logit = self.bias + float(self.embedded @ embedding) + float(self.hashed[surface.buckets] @ surface.weights)
        shown = np.array([sign in surface.signs for sign in self.signs], np.float32)
        logit += float(self.network.logits(np.concatenate([embedding, shown])[np.newaxis])[0, 0])
        return 1.0 / (1.0 + exp(-max(min(logit, 60.0), -60.0)))


@dataclass(frozen=True)
class Surface:
    """A post's words as the head reads them: buckets, shape (n,), with their weights, and the signs of a threat.

    Signs are the parts that the words play and the forms of the sentences.
    """

    buckets: NDArray[np.int64]
    weights: NDArray[np.float32]
    signs: frozenset[str]


def read(text: str) -> Surface:
    """Return what the head reads of `text` besides its embedding."""
    folded = routing_rules.folded(text)
    words = _WORD.findall(folded)[:READ]
    parts = [_part(word) for word in words]
    views = {
        "words": set(_runs(words, parts)),
        "pieces": {f"p {piece}" for word in set(words) for piece in _pieces(word)},
        "neighbours": set(_neighbours(words, parts)),
        "parts": set(_orders(parts)),
        "forms": set(_forms(parts, routing_rules.rule(routing_rules.VIOLENCE).pattern.search(folded) is not None)),
    }
    weights: dict[int, float] = {}
    for name, terms in views.items():
        for term in terms:
            bucket = zlib.crc32(term.encode("utf-8", "replace")) % BUCKETS
            # A form keeps its weight in a long post: one sentence is enough for a threat.
            length = 1.0 if name == "forms" else sqrt(len(terms))
            weights[bucket] = weights.get(bucket, 0.0) + SHARES[name] / length
    return Surface(
        np.fromiter(weights, np.int64, len(weights)),
        np.fromiter(weights.values(), np.float32, len(weights)),
        frozenset(views["forms"].union(f"part {part}" for part in parts if part)),
    )


def speaks_of_violence(text: str) -> bool:
    """Tell whether any word of `text` is one of violence, death or weapons."""
    return any(_part(word) in VIOLENT for word in _WORD.findall(routing_rules.folded(text))[:READ])


def _runs(words: list[str], parts: list[str]) -> Iterator[str]:
    """Yield words, pairs and triples; in pairs and triples, each violent word is replaced by its part."""
    yield from words
    alike = [f"#{part}" if part in VIOLENT else word for word, part in zip(words, parts, strict=True)]
    yield from (f"{left} {right}" for left, right in pairwise(alike))
    yield from (" ".join(three) for three in zip(alike, alike[1:], alike[2:], strict=False))


def _pieces(word: str) -> list[str]:
    padded = f" {word[:30]} "
    return [padded[start : start + size] for size in PIECES for start in range(len(padded) - size + 1)]


def _neighbours(words: list[str], parts: list[str]) -> Iterator[str]:
    """Yield the part of each violent word, and the words up to NEAR before and after it."""
    for place in (place for place, part in enumerate(parts) if part in VIOLENT):
        yield parts[place]
        yield from (f"{word} <" for word in words[max(0, place - NEAR) : place])
        yield from (f"> {word}" for word in words[place + 1 : place + 1 + NEAR])


def _orders(parts: list[str]) -> Iterator[str]:
    """Yield runs of two to five parts with a violent one, once with words of no part as gaps and once without gaps."""
    gaps = [part for part, before in zip(parts, ["", *parts], strict=False) if part or before]
    for sequence in (gaps, [part for part in parts if part]):
        for size in (2, 3, 4, 5):
            for start in range(len(sequence) - size + 1):
                run = sequence[start : start + size]
                if VIOLENT.intersection(run):
                    yield "~".join(run)


def _forms(parts: list[str], ruled: bool) -> Iterator[str]:
    """Yield the forms of threats that sentences take, and what takes them back: negation, quotation, report.

    For the text as a whole, "ruled" says that a pattern matches it, "calm" that none does and no word is violent.
    """
    letters = "".join(LETTERS.get(part, "." if part in SIGNS else "x") for part in parts)
    if not ruled and not VIOLENT.intersection(parts):
        yield "calm"
    if ruled:
        yield "ruled"
        yield from (
            f"ruled {name}" for name in [n for n, sign in TAKEN_BACK.items() if sign.search(letters)] or ("plainly",)
        )
    for sentence in re.findall(r"[^.?]+\??", letters):
        forms = [name for name, form in FORMS.items() if form.search(sentence)]
        taken_back = [name for name, sign in TAKEN_BACK.items() if sign.search(sentence)]
        yield from forms
        yield from taken_back
        yield from (f"{name} {sign}" for name in forms for sign in taken_back or ("plainly",))


@lru_cache(maxsize=20_000)
def _part(word: str) -> str:
    """Return the part that a word, even misspelt, may play in a threat; empty for most words."""
    if not word[0].isalnum():
        return word if word in SIGNS or word in LETTERS else ""
    exact, begins, misspelt = _roles()
    if word in exact:
        return exact[word]
    for size in range(min(len(word), 12), 3, -1):
        if word[:size] in begins:
            return begins[word[:size]]
    return next((misspelt[key] for key in _misspellings(word) if key in misspelt), "")


def _misspellings(word: str) -> Iterator[str]:
    """Yield keys that a word shares with its misspellings: letters doubled or swapped, or one hidden or dropped."""
    if len(word) < 4 or not word[0].isalpha():
        return
    yield _DOUBLED.sub(r"\1", word)
    yield f"{word[0]}{''.join(sorted(word[1:-1]))}{word[-1]}~"
    yield f"{word.replace('*', '')}-"


@lru_cache(maxsize=1)
def _roles() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return three mappings to parts: of words, of beginnings of words, and of keys of misspellings."""
    listed = tomllib.loads(resources.files("pipeline").joinpath("data/threat_roles.toml").read_text("utf-8"))
    exact: dict[str, str] = {}
    begins: dict[str, str] = {}
    for language in listed.values():
        for name in sorted(language, key=lambda name: name not in VIOLENT):
            for word in language[name].split():
                (begins if word.endswith("*") else exact).setdefault(word.rstrip("*"), name)
    misspelt: dict[str, str] = {}
    for word, name in exact.items():
        if name in MENDED and len(word) > 3:
            misspelt.setdefault(_DOUBLED.sub(r"\1", word), name)
            if len(word) > 5:
                misspelt.setdefault(f"{word[0]}{''.join(sorted(word[1:-1]))}{word[-1]}~", name)
                for at in range(1, len(word) - 1):
                    misspelt.setdefault(f"{word[:at]}{word[at + 1 :]}-", name)
            else:
                for at in range(1, len(word) - 1):
                    misspelt.setdefault(f"{word[:at]}*{word[at + 1 :]}", name)
    return exact, begins, misspelt
