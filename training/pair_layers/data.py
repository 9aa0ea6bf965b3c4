"""Gather the pairs that the layers for pairs learn from: sentences of replies beside their post or evidence."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from evaluation.evidence.yardstick import texts_by_id
from kb.claims.loading import ClaimFiles, load_claims
from kb.starter import load_starter
from pipeline.guard.pair_judge import evidence_text
from pipeline.guard.words import content, fold, words
from training.heads.sample import Part
from training.stances.data import read_samples as read_stances

HERE = Path(__file__).parent
FOLLOWS_FILE, EVIDENCE_FILE, OPPOSES_FILE = HERE / "follows.tsv", HERE / "evidence.tsv", HERE / "opposes.tsv"
SCENES_FILE, DRAFTS_FILE = HERE / "scenes.tsv", HERE / "drafts.tsv"
OPPOSES, FOLLOWS = "opposes", "follows"
REPORTED = 10
"""One source in so many is kept apart for the report."""
STATES_NOTHING = frozenset({"value", "question", "warm", "appeal", "denounce", "partial", "refute", "defend"})
"""Kinds of sentences that state nothing which evidence must bear out."""
STATES_MORE = frozenset({"agreement", "concession", "flip", "denial", "opposed", "echo", "other", "dog_whistle"})
"""Kinds that state something which evidence does not bear out."""
BESIDE_EVIDENCE = 4_000
"""Most sentences of those kinds, which are placed beside evidence drawn for them."""
STANCES_OF_A_KIND = 300
"""Most pairs of a kind that are taken from the stance head's; all of its near twins are."""
UNEVEN = 2.0
"""Weight of sentences whose form does not give their label away, since questions may be untrue there."""


@dataclass(frozen=True)
class Pair:
    """Two texts and the answer to the question that is asked of them.

    `first` is a post (OPPOSES) or a piece of evidence with its source (FOLLOWS), `second` a sentence of a reply.
    Pairs of one `source` are in the same part.
    """

    first: str
    second: str
    question: str
    answer: bool
    kind: str
    language: str
    source: str
    weight: float = 1.0

    @property
    def part(self) -> Part:
        """Tell whether the pair is trained on or kept for the report."""
        return Part.REPORT if zlib.crc32(self.source.encode()) % REPORTED == 0 else Part.TRAIN


def read_pairs(data: Path) -> list[Pair]:
    """Return all pairs, given the folder of the data sets that the real posts are in."""
    claims = load_claims()
    evidence = read_evidence(claims)
    follows, opposes = list(_follows(evidence)), list(_opposes(data, claims))
    return [
        *follows,
        *_other_evidence(follows, evidence),
        *_short_forms(claims, evidence),
        *_beside_evidence(opposes, evidence),
        *opposes,
        *_stances(data),
        *_drafts(evidence),
    ]


def read_evidence(claims: ClaimFiles) -> dict[tuple[str, str], str]:
    """Return the evidence, with its source in front, by id and language."""
    texts: dict[tuple[str, str], str] = {}
    for fact in claims.facts.values():
        texts |= {(fact.id, str(language)): evidence_text(fact, text) for language, text in fact.text.items()}
    for statement in load_starter():
        texts[statement.id, "en"] = evidence_text(statement, statement.text)
    for number, language, text in rows(EVIDENCE_FILE):
        texts[number, language] = text
    return texts


def rows(path: Path) -> Iterator[list[str]]:
    """Yield the rows of a tab-separated file without its comments."""
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def _follows(evidence: Mapping[tuple[str, str], str]) -> Iterator[Pair]:
    for number, language, answer, kind, sentence in rows(FOLLOWS_FILE):
        weight = UNEVEN if number.startswith("own-") else 1.0
        yield Pair(evidence[number, language], sentence, FOLLOWS, answer == "1", kind, language, number, weight)


def _other_evidence(follows: Sequence[Pair], evidence: Mapping[tuple[str, str], str]) -> Iterator[Pair]:
    """Yield a true sentence of each piece of evidence beside another piece, from which it does not follow."""
    true = {pair.source: pair for pair in follows if pair.answer}
    random, others = Random(0), _by_language(evidence)
    for pair in true.values():
        number = random.choice([number for number in others[pair.language] if number != pair.source])
        first = evidence[number, pair.language]
        yield Pair(first, pair.second, FOLLOWS, False, "other evidence", pair.language, pair.source)


def _short_forms(claims: ClaimFiles, evidence: Mapping[tuple[str, str], str]) -> Iterator[Pair]:
    """Yield the short forms of facts on file, each in one language."""
    random = Random(0)
    for fact in claims.facts.values():
        if fact.short:
            language = random.choice(sorted(fact.short))
            first = evidence[fact.id, language]
            yield Pair(first, fact.short[language], FOLLOWS, True, "short form", language, fact.id)


def _beside_evidence(opposes: Sequence[Pair], evidence: Mapping[tuple[str, str], str]) -> Iterator[Pair]:
    """Yield sentences that state nothing, or things not in the evidence, beside evidence drawn for them."""
    random, others = Random(0), _by_language(evidence)
    chosen = [pair for pair in opposes if pair.kind in STATES_NOTHING | STATES_MORE]
    for pair in random.sample(chosen, min(BESIDE_EVIDENCE, len(chosen))):
        number = random.choice(others[pair.language])
        answer = pair.kind in STATES_NOTHING
        kind = f"{pair.kind}, beside evidence"
        yield Pair(evidence[number, pair.language], pair.second, FOLLOWS, answer, kind, pair.language, pair.source)


def _by_language(evidence: Mapping[tuple[str, str], str]) -> Mapping[str, list[str]]:
    numbers: dict[str, list[str]] = defaultdict(list)
    for number, language in sorted(evidence):
        numbers[language].append(number)
    return numbers


def _opposes(data: Path, claims: ClaimFiles) -> Iterator[Pair]:
    texts = texts_by_id(data)
    for name, language, answer, kind, sentence in rows(OPPOSES_FILE):
        post = texts[name] if name in texts else _wording(name, language, claims)
        yield Pair(post, sentence, OPPOSES, answer == "1", kind, language, name, UNEVEN)


def _drafts(evidence: Mapping[tuple[str, str], str]) -> Iterator[Pair]:
    """Yield each sentence of the drafts beside its post, and beside the piece of evidence that it shares most with."""
    scenes = {scene: (numbers.split(","), post) for scene, _, numbers, post in rows(SCENES_FILE)}
    for scene, language, stands, follows, sentence in rows(DRAFTS_FILE):
        numbers, post = scenes[scene]
        own = content(words(fold(sentence)), language)
        nearest = max(
            (evidence[number, language] for number in numbers),
            key=lambda text: len(own & content(words(fold(text)), language)),
        )
        yield Pair(post, sentence, OPPOSES, stands == "1", "draft", language, scene, UNEVEN)
        yield Pair(nearest, sentence, FOLLOWS, follows == "1", "draft", language, scene, UNEVEN)


def _wording(name: str, language: str, claims: ClaimFiles) -> str:
    """Return the wording of a claim on file that `name`, "claim:number", stands for."""
    claim, _, number = name.rpartition(":")
    by_language = {str(own): wordings for own, wordings in claims.claims[claim].wordings.items()}
    return by_language[language][int(number)]


def _stances(data: Path) -> Iterator[Pair]:
    """Yield pairs of the stance head's training data, but for sentences whose words stand in no order."""
    by_kind = defaultdict(list)
    for sample in read_stances(data / "datasets"):
        by_kind[sample.kind].append(sample)
    random = Random(0)
    for kind, samples in by_kind.items():
        if kind.startswith("garbled"):
            continue
        most = len(samples) if kind.endswith(", scene") else STANCES_OF_A_KIND
        for each in random.sample(samples, min(most, len(samples))):
            yield Pair(each.post, each.text, OPPOSES, each.good, f"{kind} (stances)", each.language, each.source)
