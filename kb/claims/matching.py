"""Find the claims on file that a post makes, and the facts that answer them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.domain import AttackKind, Claim, Evidence, TargetGroup
from core.errors import KnowledgeBaseError
from kb.claims.facts import claim_of, evidence_of, language_on_file
from kb.claims.loading import ClaimFiles
from kb.claims.records import LANGUAGES, FiledClaim, Language
from kb.claims.reviews import Reviews
from kb.query import Vectors
from kb.shipped import Passage, embed_passages

if TYPE_CHECKING:
    from models.embed import Embedder

MOST_CLAIMS = 2
"""Claims that a post is answered on; those after the surest are for redrafts."""


@dataclass(frozen=True)
class Wording:
    """One wording of a claim on file."""

    claim: str
    language: Language
    text: str


class ClaimMatcher:
    """The claims on file by the nearness of their wordings to a post. Safe to call from many threads."""

    def __init__(self, files: ClaimFiles, reviews: Reviews, wordings: Sequence[Wording], vectors: Vectors) -> None:
        self._files, self._reviews, self._wordings = files, reviews, wordings
        self._centre = vectors.mean(axis=0)
        self._vectors = _units(vectors - self._centre)
        self._groups = np.array([files.group_of(files.claims[wording.claim]) for wording in wordings])

    @classmethod
    async def open(cls, files: ClaimFiles, reviews: Reviews, embedder: Embedder) -> ClaimMatcher:
        """Embed the wordings, taking shipped vectors where there are; raises KnowledgeBaseError without a claim."""
        wordings = wordings_of(files)
        if not wordings:
            raise KnowledgeBaseError("No claim is on file. Install the package again: its data is missing.")
        vectors = await embed_passages([Passage(wording.text, True) for wording in wordings], embedder)
        return cls(files, reviews, wordings, vectors)

    def centred(self, vector: Vectors) -> Vectors:
        """Return a post's embedding as it is compared: less what all wordings share, of length 1."""
        return np.asarray(_units((vector - self._centre)[None])[0], np.float32)

    def nearest(self, vector: Vectors) -> tuple[str, float]:
        """Return the claim with the wording nearest to a post, and its centred cosine, whatever the group."""
        cosines = self._vectors @ self.centred(vector)
        number = int(np.argmax(cosines))
        return self._wordings[number].claim, float(cosines[number])

    def match(
        self,
        text: str,
        vector: Vectors,
        groups: Collection[TargetGroup],
        kind: AttackKind | None,
        language: str,
    ) -> tuple[tuple[Claim, ...], tuple[Evidence, ...]]:
        """Return the claims that the post surely makes, surest first, and their facts, in the reply's language.

        Both are empty where no claim is sure, or the language is none of those on file.
        """
        own = language_on_file(language)
        if own is None:
            return (), ()
        allowed = np.isin(self._groups, list(groups)) if groups else np.ones(len(self._groups), bool)
        cosines = np.where(allowed, self._vectors @ self.centred(vector), -1.0)
        best: dict[str, float] = {}
        for number in np.argsort(-cosines)[:200]:
            best.setdefault(self._wordings[number].claim, float(cosines[number]))
        claims = [self._files.claims[name] for name in list(best)[:MOST_CLAIMS]]
        return (
            tuple(claim_of(claim, own, max(0.0, best[claim.id]), self._reviews) for claim in claims),
            self._facts(claims, own),
        )

    def _facts(self, claims: Sequence[FiledClaim], language: Language) -> tuple[Evidence, ...]:
        names = dict.fromkeys(name for claim in claims for name in claim.facts)
        return tuple(
            evidence_of(
                self._files.facts[name],
                language,
                tuple(claim.id for claim in claims if name in claim.facts),
                self._reviews,
            )
            for name in names
        )


def wordings_of(files: ClaimFiles) -> list[Wording]:
    """Return every wording of every claim."""
    return [
        Wording(claim.id, language, text)
        for claim in files.claims.values()
        for language in LANGUAGES
        for text in claim.wordings.get(language, ())
    ]


def _units(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths, lengths, 1), np.float32)
