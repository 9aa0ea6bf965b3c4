"""Find the claims on file that a post makes, and the facts that answer them."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain import AttackKind, Claim, Evidence, Intent, TargetGroup
from core.errors import BadInput, KnowledgeBaseError
from core.settings import KnowledgeBaseSettings
from kb.claims.facts import claim_of, evidence_of, language_on_file
from kb.claims.judge import Impression, Judge, Nearness, Setting, features, row_of, shipped_judge
from kb.claims.loading import ClaimFiles
from kb.claims.ranking import COLD, ClaimRanker, Occasion
from kb.claims.records import LANGUAGES, FiledClaim, Language
from kb.claims.reviews import Reviews
from kb.claims.second_opinion import ClaimOpinion, shipped_opinions
from kb.claims.two_groups import naming_both, two_groups
from kb.query import Vectors
from kb.shipped import TextToEmbed, embed_texts

if TYPE_CHECKING:
    from models.embed import Embedder

log = logging.getLogger(__name__)

Readings = Sequence[Vectors | None]
"""What models made of a post, in the order of `kb.claims.second_opinion.NAMES`; None for one that did not read it."""

_WORD = re.compile(r"\w+")

MOST_CLAIMS = 3
"""Most claims that a post is answered on; those after the surest are for redrafts."""
BESIDE = 0.7
"""Least probability of a further claim, as a share of the surest one's."""
MOST_FACTS = 5
"""Most facts that a moderator sees."""
IN_PLACE, IN_PLACE_FROM = 0.25, 0.2
"""Least probability of a claim that stands in for a wider one: as a share of the wider one's, and in absolute terms.

Below it, readers often found no such word in the post (docs/drafting.md).
"""
SURE, FEW = 0.3, 2
"""If the surest claim is less probable than SURE, only the first FEW claims and facts are taken."""


@dataclass(frozen=True)
class Wording:
    """One wording of a claim on file."""

    claim: str
    language: Language
    text: str


@dataclass(frozen=True)
class ClaimReading:
    """How a post was judged: the probability of each claim, by id, the likeliest first, and that of each kind.

    `answerable` is the probability that something on file answers the post.
    """

    claims: Mapping[str, float]
    kinds: Vectors
    answerable: float


class ClaimMatcher:
    """The claims on file, matched by how probably a post makes them. Safe to call from many threads."""

    def __init__(
        self,
        files: ClaimFiles,
        reviews: Reviews,
        wordings: Sequence[Wording],
        vectors: Vectors,
        judge: Judge | None,
        settings: KnowledgeBaseSettings,
        ranker: ClaimRanker = COLD,
        opinions: Sequence[ClaimOpinion] = (),
    ) -> None:
        self._files, self._wordings, self._ranker = files, wordings, ranker
        self._reviews = two_groups().with_filled_in(reviews)
        self._languages = np.array([row_of(wording.language) for wording in wordings])
        self._centres = centres_of(vectors, self._languages)
        self._vectors = _units(vectors - self._centres[self._languages])
        self.names = list(dict.fromkeys(wording.claim for wording in wordings))
        self._groups = [files.group_of(files.claims[name]) for name in self.names]
        self._places = _places(self.names, wordings)
        self._word_for_word = _word_for_word(self.names, wordings)
        self._judge, self._opinions, self._settings = judge, opinions, settings
        kinds = {name: files.claims[name].kind for name in self.names}
        owners, languages = zip(*((wording.claim, wording.language) for wording in wordings), strict=True)
        self._table = judge.table(kinds, owners, vectors, languages) if judge else None

    @classmethod
    async def open(
        cls,
        files: ClaimFiles,
        reviews: Reviews,
        embedder: Embedder,
        settings: KnowledgeBaseSettings,
        ranker: ClaimRanker = COLD,
    ) -> ClaimMatcher:
        """Embed the wordings, using shipped vectors if possible; raises KnowledgeBaseError if no claim is on file.

        The learned arrays fit the default embedder's vectors. With another embedder, the nearest two claims are taken
        instead.
        """
        wordings, vectors = await embedded(files, embedder)
        judge = shipped_judge()
        if judge.embedder != embedder.name:
            log.warning("Claims are not judged with %s: the nearest two are taken for a post's.", embedder.name)
            return cls(files, reviews, wordings, vectors, None, settings, ranker)
        return cls(files, reviews, wordings, vectors, judge, settings, ranker, shipped_opinions())

    def centred(self, vector: Vectors, language: str = "en") -> Vectors:
        """Return a post's embedding as it is compared: less the mean of all wordings in its language, with length 1."""
        return np.asarray(_units((vector - self._centres[row_of(language)])[None])[0], np.float32)

    def nearest(self, vector: Vectors, language: str = "en") -> tuple[str, float]:
        """Return the claim with the wording nearest to a post, of any group, and its centred cosine."""
        cosines = self._vectors @ self.centred(vector, language)
        number = int(np.argmax(cosines))
        return self._wordings[number].claim, float(cosines[number])

    def match(
        self,
        text: str,
        vector: Vectors,
        groups: Collection[TargetGroup],
        language: str,
        readings: Readings = (),
        attacked: Collection[TargetGroup] = (),
        hate: float = 1.0,
    ) -> tuple[tuple[Claim, ...], tuple[Evidence, ...]]:
        """Return the claims that the post surely makes, surest first, and their facts, in the reply's language.

        `attacked` are the groups that the post surely attacks: an insult to one beside another is answered for both
        (`kb.claims.two_groups`). `readings` are for further opinions. `hate` is how likely the post is hateful; some
        claims are unsure below a limit.

        The facts of several claims take turns: the first fact of each before the second of any. With a ranker, those
        that moderators approve come first. Both results are empty if no claim is sure or the language is none of those
        on file. Raises BadInput for a vector of another length than the wordings'.
        """
        if len(vector) != (length := self._vectors.shape[1]):
            raise BadInput(f"The post's embedding has {len(vector)} numbers, not {length}: triage it again.")
        own = language_on_file(language)
        if own is None:
            return (), ()
        sure, unsure = self._sure(text, vector, groups, own, readings)
        occasion = Occasion(own, next(iter(groups), None))
        claims = self._ranker.in_order([self._files.claims[name] for name in sure], sure, occasion)
        said_of_nobody = any(hate < claim.least_hate.get(own, 0.0) and sure[claim.id] < 1.0 for claim in claims[:1])
        unsure = unsure or said_of_nobody
        # Only the surest: a second insult is left as it is, for a redraft that says something else.
        claims[:1] = [naming_both(claim, groups, attacked, self._files) for claim in claims[:1]]
        return (
            tuple(
                self._claim(claim, own, sure[claim.id], occasion).model_copy(update={"unsure": unsure})
                for claim in claims
            ),
            self._facts(claims, own, MOST_FACTS if max(sure.values(), default=0.0) >= SURE else FEW, occasion),
        )

    def read(
        self, text: str, vector: Vectors, groups: Collection[TargetGroup], language: str, readings: Readings = ()
    ) -> ClaimReading:
        """Judge a post on every claim on file; one that repeats a wording word for word surely makes its claim.

        Raises KnowledgeBaseError if nothing was learned for this embedder's vectors.
        """
        if self._judge is None or self._table is None:
            raise KnowledgeBaseError("Nothing was learned for this embedder's vectors. Use the default embedder.")
        impression = self._judge.read_post(text, vector, language, self._table)
        pairs = self.pairs(text, vector, groups, language, impression)
        probabilities = self._judge.probabilities(pairs)
        answerable = self._judge.answerable(probabilities, impression, len(text.split()), language)
        for opinion, reading in zip(self._opinions, readings, strict=False):
            if reading is not None:
                probabilities = opinion.probabilities(self.names, probabilities, reading)
                answerable = opinion.gate(answerable, reading)
        if repeated := self._repeated(text, groups, language):
            probabilities[repeated] = answerable = 1.0
        order = np.argsort(-probabilities, kind="stable")
        return ClaimReading(
            {self.names[number]: float(probabilities[number]) for number in order},
            impression.kinds,
            answerable,
        )

    def _repeated(self, text: str, groups: Collection[TargetGroup], language: str) -> list[int]:
        """Return the numbers of the claims that the post words exactly as on file; of several, only its groups'."""
        owners = self._word_for_word.get((language, _words(text)), [])
        return owners if len(owners) == 1 else [number for number in owners if self._groups[number] in groups]

    def pairs(
        self,
        text: str,
        vector: Vectors,
        groups: Collection[TargetGroup],
        language: str,
        impression: Impression,
        but: Sequence[int] = (),
    ) -> Vectors:
        """Return the features of a post with each of `names`.

        Wordings can be left out by their numbers (`but`); training leaves out a wording that stands for a post.
        """
        assert self._table is not None
        cosines = self._vectors @ self.centred(vector, language)
        cosines[list(but)] = -1.0
        # Padding gets the cosine -1, so that it is never the nearest.
        padded = np.append(cosines, -1.0)[self._places]
        own = np.append(np.where(self._languages == row_of(language), cosines, -1.0), -1.0)[self._places]
        near = Nearness(padded.max(axis=1), np.partition(padded, -3, axis=1)[:, -3:].mean(axis=1), own.max(axis=1))
        ranks = {group: rank for rank, group in enumerate(groups)}
        places = np.array([ranks.get(group, -1) for group in self._groups]) if ranks else None
        return features(near, impression, self._table, Setting(places, language, len(text.split())))

    def _sure(
        self, text: str, vector: Vectors, groups: Collection[TargetGroup], language: Language, readings: Readings
    ) -> tuple[dict[str, float], bool]:
        """Return the claims that the post surely makes, and whether what is on file may not answer it."""
        if self._judge is None:
            return self._nearest_two(vector, groups, language), False
        reading = self.read(text, vector, groups, language, readings)
        unsure = reading.answerable < self._settings.answer_from
        if unsure and reading.answerable < self._settings.show_from:
            return {}, unsure
        claims = {name: p for name, p in self._narrowed(reading.claims).items() if p >= self._least(name, language)}
        surest = max(claims.values(), default=0.0)
        least = BESIDE * surest
        sure = [(name, probability) for name, probability in claims.items() if probability >= least]
        return dict(sure[: MOST_CLAIMS if surest >= SURE else FEW]), unsure

    def _narrowed(self, claims: Mapping[str, float]) -> dict[str, float]:
        """Return the claims; the likeliest that stands in for a wider one exchanges its probability with that one's.

        A wider claim that the post words exactly as on file keeps its place.
        """
        narrowed = dict(claims)
        least = max(IN_PLACE_FROM, self._settings.assertion_from)
        for name, probability in claims.items():
            wider = self._files.claims[name].instead_of
            if wider is None or not probability < narrowed.get(wider, 0.0) < 1.0:
                continue
            if probability >= max(least, IN_PLACE * narrowed[wider]):
                narrowed[name], narrowed[wider] = narrowed[wider], probability
        return dict(sorted(narrowed.items(), key=lambda each: -each[1]))

    def _least(self, name: str, language: Language) -> float:
        """Return a claim's least probability: a fact beside the point is worse than a word on worth and dignity."""
        claim = self._files.claims[name]
        presumes = claim.kind is AttackKind.CLAIM or claim.instead_of is not None
        least = self._settings.assertion_from if presumes else self._settings.claim_from
        return max(least, claim.least) * self._settings.less_sure_in.get(language, 1.0)

    def _nearest_two(self, vector: Vectors, groups: Collection[TargetGroup], language: Language) -> dict[str, float]:
        cosines = self._vectors @ self.centred(vector, language)
        best: dict[str, float] = {}
        for number in np.argsort(-cosines):
            name = self._wordings[number].claim
            if not groups or self._files.group_of(self._files.claims[name]) in groups:
                best.setdefault(name, max(0.0, float(cosines[number])))
            if len(best) == 2:
                break
        return best

    def _claim(self, claim: FiledClaim, language: Language, score: float, occasion: Occasion) -> Claim:
        def liked(counter: str, intent: Intent) -> float:
            return self._ranker.counter(claim, counter, intent, occasion)

        return claim_of(claim, language, score, self._reviews, liked)

    def _facts(
        self, claims: Sequence[FiledClaim], language: Language, most: int, occasion: Occasion
    ) -> tuple[Evidence, ...]:
        liked = {
            (claim.id, name): self._ranker.fact(claim, self._files.facts[name], occasion)
            for claim in claims
            for name in claim.facts
        }
        ranked = ([(claim.id, name) for name in claim.facts] for claim in claims)
        turns = chain.from_iterable(zip_longest(*(sorted(own, key=lambda each: -liked[each]) for own in ranked)))
        preferences: dict[str, float] = {}
        for claim, name in filter(None, turns):
            preferences.setdefault(name, liked[claim, name])
        return tuple(
            evidence_of(
                self._files.facts[name],
                language,
                tuple(claim.id for claim in claims if name in claim.facts),
                self._reviews,
                preference,
            )
            for name, preference in list(preferences.items())[:most]
        )


async def embedded(files: ClaimFiles, embedder: Embedder) -> tuple[list[Wording], Vectors]:
    """Return the wordings and their embeddings; raises KnowledgeBaseError if no claim is on file."""
    wordings = wordings_of(files)
    if not wordings:
        raise KnowledgeBaseError("No claim is on file. Install the package again: its data is missing.")
    return wordings, await embed_texts([TextToEmbed(wording.text, True) for wording in wordings], embedder)


def wordings_of(files: ClaimFiles) -> list[Wording]:
    """Return every wording of every claim."""
    return [
        Wording(claim.id, language, text)
        for claim in files.claims.values()
        for language in LANGUAGES
        for text in claim.wordings.get(language, ())
    ]


def centres_of(vectors: Vectors, languages: NDArray[np.int_]) -> Vectors:
    """Return the mean vector of each language, by row, shape (LANGUAGES, d); without any, the mean of all."""
    means = [
        vectors[languages == row].mean(axis=0) if (languages == row).any() else vectors.mean(axis=0)
        for row in range(len(LANGUAGES))
    ]
    return np.asarray(means, np.float32)


def _places(names: Sequence[str], wordings: Sequence[Wording]) -> np.ndarray[tuple[int, int], np.dtype[np.int_]]:
    """Return the numbers of each claim's wordings, one row per claim, padded with the number after the last."""
    numbers: dict[str, list[int]] = {name: [] for name in names}
    for number, wording in enumerate(wordings):
        numbers[wording.claim].append(number)
    most = max(3, *map(len, numbers.values()))
    return np.array([row + [len(wordings)] * (most - len(row)) for row in numbers.values()])


def _word_for_word(names: Sequence[str], wordings: Sequence[Wording]) -> dict[tuple[str, str], list[int]]:
    """Return the numbers of the claims that have a wording, by the wording's language and words."""
    numbers = {name: number for number, name in enumerate(names)}
    owners: dict[tuple[str, str], list[int]] = {}
    for wording in wordings:
        owners.setdefault((wording.language, _words(wording.text)), []).append(numbers[wording.claim])
    return owners


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _units(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths, lengths, 1), np.float32)
