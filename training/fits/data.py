"""Gather the training sentences of the head of `fits`: claims on file and written sentences, no drafts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from core.domain import TargetGroup
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.records import LANGUAGES, Language
from pipeline.languages import pack
from training.stances.data import Sample, written_lists

WRITTEN = Path(__file__).parent
POSTS = 80
"""Posts drawn for each language, to pair with its sentences."""
PAIRED = 3
"""Posts that each written sentence is paired with."""
SAYING_NOTHING = ("off_topic", "evasion", "meta", "polite")
ANSWERING = ("warm", "correction", "value", "question", "appeal")
"""The lists in `training/stances` that are used here too: SAYING_NOTHING as bad examples, these as good ones."""
WRITTEN_COUNTS = 2.0


def read_samples() -> list[Sample]:
    """Return all samples, language by language."""
    claims, random = load_claims(), Random(0)
    return [sample for language in LANGUAGES for sample in _of_language(claims, language, random)]


def _of_language(claims: ClaimFiles, language: Language, random: Random) -> Iterator[Sample]:
    posts = random.sample([text for claim in claims.claims.values() for text in claim.wordings[language]], POSTS)
    for claim in claims.claims.values():
        counters = [text for texts in claim.counter.values() for text in texts[language]]
        yield Sample(
            random.choice(claim.wordings[language]), random.choice(counters), language, True, "counter", claim.id
        )
        fact = claims.facts[random.choice(claim.facts)]
        yield Sample(random.choice(posts), (fact.short or fact.text)[language], language, True, "fact", claim.id)
    for kind, text, good in _sentences(language):
        for _ in range(PAIRED):
            source = f"{language}:{text}"
            filled = _filled(text, language, random)
            yield Sample(random.choice(posts), filled, language, good, kind, source, WRITTEN_COUNTS)


def _sentences(language: Language) -> Iterator[tuple[str, str, bool]]:
    """Yield the written sentences: kind, text, and whether it answers something."""
    shared = written_lists(language)
    for kind in (*SAYING_NOTHING, *ANSWERING):
        yield from ((kind, text, kind in ANSWERING) for text in shared[kind] if "{claim}" not in text)
    for kind, texts in _tables(language).items():
        good = kind.startswith("good_")
        yield from ((kind.removeprefix("good_"), text, good) for text in texts)


def written_sentences(language: Language) -> Iterator[str]:
    """Yield the written sentences in `training/fits` for a language."""
    for texts in _tables(language).values():
        yield from texts


def _tables(language: Language) -> Mapping[str, list[str]]:
    return tomllib.loads((WRITTEN / f"{language}.toml").read_text("utf-8"))


def _filled(text: str, language: Language, random: Random) -> str:
    people = pack(language).people
    group, other = random.sample([people[group] for group in TargetGroup if group is not TargetGroup.OTHER], 2)
    filled = text.format(group=group, other=other)
    return filled[:1].upper() + filled[1:]
