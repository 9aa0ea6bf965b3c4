"""Gather the training and test lessons of the layers for posts, from the data of heads, threats and claims."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.domain import AttackKind, TargetGroup
from kb.claims.judge import KINDS
from kb.claims.loading import ClaimFiles
from kb.claims.matching import wordings_of
from pipeline.heads import HATE, NAMES
from pipeline.languages import DEFAULT
from pipeline.normalise import normalise
from pipeline.second_opinion import THREAT
from training.claims.data import Post, Twin, harmless, read_labelled, read_twins
from training.claims.own_posts import ODD, OwnPost, read_own_posts
from training.claims.unseen import NATURAL, UNSEEN
from training.heads.data import LONGEST, SHORT, letters
from training.heads.data import read_samples as read_head_samples
from training.heads.sample import Part
from training.heads.train import COUNTS, HATE_COUNTS, labels
from training.threats.data import WORDINGS, read_again, read_by_two
from training.threats.data import read_samples as read_threats
from training.threats.train import COUNTS as THREAT_COUNTS

MORE_OWN_POSTS = Path(__file__).with_name("own_posts.tsv")
"""Posts of our own that no head learned from."""
UNSEEN_ORIGIN = "unseen"
"""Origin of the posts in `training/claims/unseen.tsv`."""
CLAIM_TWINS, OWN_POSTS = "claim twins", "own posts"
"""Origins of the posts in `training/claims/twins.tsv` and `own_posts.tsv`."""
OWN_HATE = {"functional": 3.0, "written": 2.0, "Hatemoji": 1.0}
"""Weights for hate that replace those in HATE_COUNTS: layers learn these origins faster than linear heads do."""
HARMLESS = 1.3
"""Weight of a text without a threat, relative to one with a threat."""
AGAIN_COUNTS = 2.0
"""Weight of a real post that was read for threats and is in none of the heads' data."""
WORDING_IS_NO_THREAT = 0.5
"""Weight of a wording as an example without a threat; many wordings are hostile, but those used here don't threaten."""
OWN_POST_HATE, OWN_POST_GROUP, OWN_POST_THREAT = 1.0, 0.5, 1.0
"""Weights of a post of our own for whether it is hateful, whom it attacks, and whether it threatens."""
READ_THREAT = 1.5
"""Weight for threats of a post whose kind of attack was labelled."""
KIND_COUNTS = {
    "labels": 1.0, UNSEEN_ORIGIN: 1.0, OWN_POSTS: 1.0, CLAIM_TWINS: 0.7, "harmless": 0.5, "wording": 0.25,
}  # fmt: skip
ANSWERABLE_WORDING = 0.05
"""Weight of a wording for whether anything on file answers a text: for wordings, something always does."""
KEPT = {"claims": 0.4, "EDOS": 0.6, "answers to claims": 0.4, "written": 0.8, "MLMA": 0.7, "Davidson": 0.6}
"""Share of an origin's texts that is trained on, for origins whose texts repeat themselves."""


@dataclass(frozen=True)
class Lesson:
    """One text and the answers to learn for it.

    `opinions` has the right answer and its weight by the head's name. `kind` is the number in KINDS of how the text
    attacks, and `claims` are the claims on file that it makes; each is None if it is not known, and `counts` is their
    weight. `language` is the one in which claims are looked for.
    """

    text: str
    origin: str
    part: Part
    opinions: Mapping[str, tuple[bool, float]] = field(default_factory=dict)
    kind: int | None = None
    claims: frozenset[str] | None = None
    counts: float = 1.0
    label: str = ""
    language: str = DEFAULT

    @property
    def answerable(self) -> tuple[bool, float]:
        """Whether anything on file answers the text, and the weight of that; 0 if its claims were not labelled."""
        if self.claims is None:
            return False, 0.0
        return bool(self.claims), ANSWERABLE_WORDING if self.origin == "wording" else self.counts


def read_lessons(data: Path, files: ClaimFiles, claims: Path) -> list[Lesson]:
    """Return every lesson, without training ones that have the same letters as one for measuring."""
    lessons = [*_of_heads(data, claims), *_of_threats(data), *_of_posts(data), *_of_wordings(files)]
    lessons += [*_of_twins(files), *(_of_own(post, post.part) for post in read_own_posts())]
    lessons += [_of_own(post, Part.TRAIN) for post in read_own_posts(MORE_OWN_POSTS)]
    apart = {letters(lesson.text) for lesson in lessons if lesson.part is not Part.TRAIN}
    return [lesson for lesson in lessons if lesson.part is not Part.TRAIN or not _copies(lesson, apart)]


def thinned(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Return the lessons to train on, with only a share of the origins in KEPT; the same in every run."""
    return [
        lesson
        for lesson in lessons
        if lesson.part is Part.TRAIN and _drawn(lesson.text) % 100 < 100 * KEPT.get(lesson.origin, 1.0)
    ]


def part_of_unseen(post: Post) -> Part:
    """Return the part of a post in `training/claims/unseen.tsv`: of those in their natural mix, half are trained on."""
    if not post.id.startswith(NATURAL):
        return Part.TRAIN
    return (Part.TRAIN, Part.TRAIN, Part.CALIBRATE, Part.REPORT)[_drawn(post.id) % 4]


def _drawn(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def _copies(lesson: Lesson, apart: Collection[str]) -> bool:
    return len(lesson.text) > SHORT and letters(lesson.text) in apart


def _of_heads(data: Path, claims: Path) -> Iterator[Lesson]:
    samples = read_head_samples(data, claims)
    answers = {name: labels(name, samples) for name in NAMES}
    for row, sample in enumerate(samples):
        opinions = {
            name: (bool(truth[row]), _count(name, sample.origin))
            for name, (truth, known) in answers.items()
            if known[row]
        }
        yield Lesson(sample.text, sample.origin, sample.part, opinions, label=sample.label, language=sample.language)


def _count(name: str, origin: str) -> float:
    return ((HATE_COUNTS | OWN_HATE) if name == HATE else COUNTS).get(origin, 1.0)


def _of_threats(data: Path) -> Iterator[Lesson]:
    """Yield the lessons on threats; what was read again replaces what was said of a text before."""
    again = {normalise(text)[:LONGEST]: threat for text, threat in read_again(data)}
    for sample in read_by_two(read_threats(data)):
        if sample.origin == WORDINGS:
            continue  # `_of_wordings` makes lessons of these.
        part = Part.REPORT if sample.held_out else Part.TRAIN
        text = normalise(sample.text)[:LONGEST]
        threat = sample.threat if sample.held_out else again.pop(text, sample.threat)
        counts = THREAT_COUNTS.get(sample.origin, 1.0) * (1.0 if threat else HARMLESS)
        opinions = {THREAT: (threat, counts)}
        yield Lesson(text, sample.origin, part, opinions, label=sample.kind, language=sample.language)
    for text, threat in again.items():
        counts = AGAIN_COUNTS * (1.0 if threat else HARMLESS)
        yield Lesson(text, "read again", Part.TRAIN, {THREAT: (threat, counts)})


def _of_posts(data: Path) -> Iterator[Lesson]:
    yield from (lesson_of(post, "labels", Part.TRAIN) for post in read_labelled(data))
    yield from (lesson_of(post, UNSEEN_ORIGIN, part_of_unseen(post)) for post in read_labelled(data, UNSEEN))
    yield from (replace(lesson_of(post, "harmless", Part.TRAIN), opinions={}) for post in harmless())


def lesson_of(post: Post, origin: str, part: Part) -> Lesson:
    """Return the lesson of a labelled post; `origin` is one of KIND_COUNTS."""
    threat = {THREAT: (post.kind is AttackKind.THREAT, READ_THREAT)}
    return Lesson(
        post.text[:LONGEST], origin, part, threat, KINDS.index(post.kind), post.claims, KIND_COUNTS[origin], post.id,
        post.language,
    )  # fmt: skip


def _of_wordings(files: ClaimFiles) -> Iterator[Lesson]:
    for wording in wordings_of(files):
        claim = files.claims[wording.claim]
        text, kind = normalise(wording.text)[:LONGEST], KINDS.index(claim.kind)
        opinions = {} if claim.kind is AttackKind.THREAT else {THREAT: (False, WORDING_IS_NO_THREAT)}
        yield Lesson(
            text, "wording", Part.TRAIN, opinions, kind, frozenset({claim.id}), KIND_COUNTS["wording"],
            language=wording.language,
        )  # fmt: skip


def _of_twins(files: ClaimFiles) -> Iterator[Lesson]:
    for twin in read_twins():
        threatens = any(files.claims[name].kind is AttackKind.THREAT for name in twin.claims)
        opinions = _opinions(twin.hateful, {twin.group}) | ({} if threatens else {THREAT: (False, OWN_POST_THREAT)})
        yield Lesson(
            twin.text[:LONGEST], CLAIM_TWINS, twin.part, opinions, _kind_of(twin, files), twin.claims,
            KIND_COUNTS[CLAIM_TWINS], twin.kind, twin.language,
        )  # fmt: skip


def _kind_of(twin: Twin, files: ClaimFiles) -> int | None:
    """Return the number in KINDS of how a twin attacks; None if its claims differ in kind or it makes none."""
    if not twin.hateful:
        return KINDS.index(None)
    kinds = {files.claims[name].kind for name in twin.claims}
    return KINDS.index(kinds.pop()) if len(kinds) == 1 else None


def _of_own(post: OwnPost, part: Part) -> Lesson:
    """Return the lesson that a post of our own gives."""
    opinions = _opinions(post.hateful, post.groups) | {THREAT: (post.threatens, OWN_POST_THREAT)}
    kind = None if post.kind == ODD else KINDS.index(post.attack)
    return Lesson(
        post.text[:LONGEST], OWN_POSTS, part, opinions, kind, post.claims,
        KIND_COUNTS[OWN_POSTS], post.kind, post.language,
    )  # fmt: skip


def _opinions(hateful: bool, attacked: Collection[TargetGroup]) -> dict[str, tuple[bool, float]]:
    """Return whether a post of our own is hateful and, if so, whom it attacks, with their weights."""
    groups = {group.value: (group in attacked, OWN_POST_GROUP) for group in TargetGroup} if hateful else {}
    return {HATE: (hateful, OWN_POST_HATE)} | groups
