"""Gather the posts that the head of self-harm learns from, and those that it is measured on."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kb.claims.loading import load_claims
from pipeline import routing_rules
from pipeline.normalise import normalise
from training.claims.own_posts import read_own_posts
from training.heads.sample import Part
from training.threats.data import chance
from training.threats.data import read_samples as read_threats

HERE = Path(__file__).parent
LANGUAGES = ("en", "es", "it", "eu")
OWN, UNSEEN, REAL, HOSTILE = "own", "unseen", "real", "hostile"
"""Origins: the lists of a language, the list of another writer, posts of data sets, and wordings of claims on file with
posts of our own that were written for other heads.
"""
MOST_REAL = 2_500
"""Real posts to train on; nobody read them for self-harm, so those that the patterns find are left out."""
SOURCES = frozenset({"posts", "forum posts", "flagged posts", "EDOS", "Hatemoji"})
"""Data sets of the threat head that real posts are drawn from."""
MOST_HOSTILE, REPORTED = 3_600, 3
"""Hostile texts that are taken, and one in how many of them is kept for the report."""


@dataclass(frozen=True)
class Sample:
    """One normalised post: whether its author, or somebody near, may harm themselves."""

    text: str
    risk: bool
    origin: str
    language: str
    part: Part


def read_samples(data: Path) -> list[Sample]:
    """Return all samples, given the folder of the data sets."""
    return [*own(), *unseen(), *_real(data), *_hostile()]


def own() -> Iterator[Sample]:
    """Yield the posts written for training."""
    for language in LANGUAGES:
        lists = tomllib.loads((HERE / f"{language}.toml").read_text("utf-8"))
        yield from _listed(lists, OWN, language, Part.TRAIN)


def unseen() -> Iterator[Sample]:
    """Yield the posts of the writer that nothing is fitted to."""
    for language, lists in tomllib.loads((HERE / "unseen.toml").read_text("utf-8")).items():
        yield from _listed(lists, UNSEEN, language, Part.REPORT)


def _listed(lists: dict[str, list[str]], origin: str, language: str, part: Part) -> Iterator[Sample]:
    for name, texts in lists.items():
        yield from (Sample(normalise(text), name == "risk", origin, language, part) for text in texts)


def _real(data: Path) -> Iterator[Sample]:
    posts = [post for post in read_threats(data) if post.origin in SOURCES]
    taught = sorted((post for post in posts if not post.held_out), key=lambda post: chance(post.text))[:MOST_REAL]
    for post in taught:
        text = normalise(post.text)
        if text and not routing_rules.rule(routing_rules.SELF_HARM).pattern.search(routing_rules.folded(text)):
            yield Sample(text, False, REAL, "en", Part.TRAIN)
    for post in posts:
        if post.held_out and (text := normalise(post.text)):
            yield Sample(text, False, REAL, "en", Part.REPORT)


def _hostile() -> Iterator[Sample]:
    posts = [(post.language, post.text) for post in read_own_posts()]
    for claim in load_claims().claims.values():
        posts += [(str(language), text) for language, texts in claim.wordings.items() for text in texts]
    for language, text in sorted(posts, key=lambda post: chance(*post))[:MOST_HOSTILE]:
        part = Part.REPORT if chance(text, "part") % REPORTED == 0 else Part.TRAIN
        yield Sample(normalise(text), False, HOSTILE, language, part)
