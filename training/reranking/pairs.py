"""Make questions for a reranker from claims on file: a wording, a fact that answers its claim, and facts that don't."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from core.errors import BadInput
from evaluation.evidence.yardstick import read_grades, read_posts
from kb.claims.loading import ClaimFiles
from kb.claims.records import FiledClaim, Language
from kb.starter import load_starter
from models.embed import Embedder

NEGATIVES = 4
"""Wrong facts for each right one: of the same group, for other claims, and nearest to the query."""
HELD_OUT = 5
"""One claim in HELD_OUT, chosen by its digest, is only measured on, never trained on."""


@dataclass(frozen=True)
class RankingQuestion:
    """A query with texts to order; `grades` says how well each text answers it, higher is better."""

    query: str
    texts: tuple[str, ...]
    grades: tuple[float, ...]


@dataclass(frozen=True)
class _Draw:
    """A wording of a claim in a language, and one of the claim's facts."""

    claim: FiledClaim
    language: Language
    query: str
    fact: str


async def filed_questions(
    files: ClaimFiles, languages: Sequence[Language], most: int, seed: int, embedder: Embedder
) -> tuple[list[RankingQuestion], list[RankingQuestion]]:
    """Return up to `most` questions to train on, and up to `most // HELD_OUT` (at least one) on held-out claims.

    The right fact comes first in each question. Raises BadInput if either part has no question.
    """
    draws: dict[bool, list[_Draw]] = {True: [], False: []}
    for claim in files.claims.values():
        held_out = hashlib.sha256(claim.id.encode()).digest()[0] % HELD_OUT == 0
        draws[held_out] += [
            _Draw(claim, language, query, fact)
            for language in languages
            for query in claim.wordings[language]
            for fact in claim.facts
        ]
    parts = []
    for held_out, count in ((False, most), (True, max(1, most // HELD_OUT))):
        Random(seed).shuffle(draws[held_out])
        parts.append(await _with_negatives(files, draws[held_out][:count], embedder))
    if not all(parts):
        raise BadInput("The claims on file give nothing to learn from, or nothing to measure on.")
    return parts[0], parts[1]


async def _with_negatives(files: ClaimFiles, draws: Sequence[_Draw], embedder: Embedder) -> list[RankingQuestion]:
    questions = []
    queries = await embedder.queries([draw.query for draw in draws])
    ids = list(files.facts)
    facts = {
        language: await embedder.passages([fact.text[language] for fact in files.facts.values()])
        for language in sorted({draw.language for draw in draws})
    }
    for draw, query in zip(draws, queries, strict=True):
        order = np.argsort(-(facts[draw.language] @ query), kind="stable")
        wrong = [ids[place] for place in order if _is_wrong(files, ids[place], draw.claim)][:NEGATIVES]
        texts = [files.facts[fact].text[draw.language] for fact in (draw.fact, *wrong)]
        if len(wrong) == NEGATIVES:
            questions.append(RankingQuestion(draw.query, tuple(texts), (1.0,) + (0.0,) * NEGATIVES))
    return questions


def _is_wrong(files: ClaimFiles, fact: str, claim: FiledClaim) -> bool:
    """Tell whether a fact is about the claim's group but not one of those that answer the claim."""
    return fact not in claim.facts and files.group_of(claim) in files.facts[fact].groups


def graded_questions(files: ClaimFiles, data: Path | None) -> list[RankingQuestion]:
    """Return the posts of the yardstick with the texts that readers graded for them; nothing is trained on these.

    Posts whose texts all have the same grade are left out. Without `data`, only posts that are written out are used.
    """
    texts = {statement.id: statement.text for statement in load_starter()}
    texts |= {name: fact.text["en"] for name, fact in files.facts.items()}
    graded: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for (post, text), grades in read_grades().items():
        if text in texts:
            graded[post].append((texts[text], float(np.mean(grades))))
    return [
        RankingQuestion(post.text, *zip(*graded[post.id], strict=True))
        for post in read_posts(data)
        if len({grade for _, grade in graded[post.id]}) > 1
    ]
