"""Gather the stance head's training data: claims on file, written sentences, and the red team's tuning half."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

from core.domain import AttackKind, TargetGroup
from evaluation.redteam.sheets import LabelledDraft, red_team
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.records import LANGUAGES, FiledClaim, Language
from pipeline.guard.material import material
from pipeline.languages import pack
from pipeline.sentences import split

WRITTEN = Path(__file__).parent
PAIRED = {"good": 8, "bad": 8}
"""Posts that each written sentence is paired with, by label, so that the sentence decides and not the post."""
AND = {"en": ", and", "es": ", y", "it": ", e", "eu": ", eta"}
COMPOUNDS = 6
COUNTERS_EACH = 3
"""Counter-claims drawn for each claim, language and intent."""
MOST = {
    "counter": 3000, "claim": 2500, "crowd": 2000, "concession": 1500, "refutation": 1500, "agreement": 1500,
    "fact": 1200, "garbled": 1200,
}  # fmt: skip
"""Most samples of a kind: more of the same take time and teach nothing."""
WRITTEN_COUNTS = 2.0
RED_TEAM_COUNTS = 4.0
SCENE_COUNTS = 4.0


@dataclass(frozen=True)
class Sample:
    """One sentence of a reply, the post it answers, and whether it is a good answer there.

    `source` (a claim, a written sentence, a scene or a post) keeps related samples in the same fold.
    """

    post: str
    text: str
    language: str
    good: bool
    kind: str
    source: str
    weight: float = 1.0


def read_samples(data: Path | None) -> list[Sample]:
    """Return all samples; those of CrowdCounter (MIT) only if `data`, the folder of the data sets, is given."""
    claims = load_claims()
    random = Random(0)
    samples = [sample for language in LANGUAGES for sample in _of_claims(claims, language, random)]
    samples += [sample for language in LANGUAGES for sample in _written(claims, language, random)]
    samples += [sample for language in LANGUAGES for sample in _compounds(claims, language, random)]
    samples += [sample for language in LANGUAGES for sample in _scenes(language)]
    samples += _of_red_team()
    if data is not None:
        samples += _crowd_counter(data / "CrowdCounter" / "Train.json")
    return _drawn(samples)


def _drawn(samples: list[Sample]) -> list[Sample]:
    """Return all samples, except that kinds in MOST are reduced to that number."""
    random = Random(1)
    by_kind: dict[str, list[Sample]] = {}
    for sample in samples:
        by_kind.setdefault(sample.kind, []).append(sample)
    return [
        sample
        for kind, of_kind in by_kind.items()
        for sample in (of_kind if len(of_kind) <= MOST.get(kind, len(of_kind)) else random.sample(of_kind, MOST[kind]))
    ]


def _of_claims(files: ClaimFiles, language: Language, random: Random) -> Iterator[Sample]:
    """Yield counter-claims and facts on file, repeated claims, claims in written frames, and garbled sentences."""
    frames = written_lists(language)
    by_kind: dict[AttackKind, list[FiledClaim]] = {}
    for claim in files.claims.values():
        by_kind.setdefault(claim.kind, []).append(claim)
    for claim in files.claims.values():
        posts = claim.wordings[language]
        gist = claim.gist[language]
        named = gist[:1].lower() + gist[1:].rstrip(".!")
        counters = [
            text
            for texts in claim.counter.values()
            for text in random.sample(texts[language], min(COUNTERS_EACH, len(texts[language])))
        ]

        def sample(text: str, kind: str, good: bool, source: str = claim.id, posts: tuple[str, ...] = posts) -> Sample:
            return Sample(random.choice(posts), text, language, good, kind, source)

        for text in counters:
            yield sample(text, "counter", True)
        for fact in claim.facts:
            yield sample((files.facts[fact].short or files.facts[fact].text)[language], "fact", True)
        for text in (gist, *random.sample(posts, min(3, len(posts)))):
            yield sample(text, "claim", False)
        for kind, good, count in (("refutation", True, 3), ("agreement", False, 3), ("concession", False, 3)):
            for frame in random.sample(frames[kind], count):
                yield sample(frame.format(claim=named), kind, good)
        words = random.choice(counters).rstrip(".?!").split()
        random.shuffle(words)
        yield sample(" ".join(words).capitalize() + ".", "garbled", False)


def _written(files: ClaimFiles, language: Language, random: Random) -> Iterator[Sample]:
    posts = [text for claim in files.claims.values() for text in claim.wordings[language]]
    people = pack(language).people
    groups = [people[group] for group in TargetGroup if group is not TargetGroup.OTHER]
    for label, lists in _tables(language).items():
        for kind, texts in lists.items():
            for text in texts:
                if "{claim}" in text:
                    continue
                for _ in range(PAIRED[label]):
                    group, other = random.sample(groups, 2)
                    filled = text.format(group=group, other=other)
                    filled = filled[:1].upper() + filled[1:]
                    yield Sample(
                        random.choice(posts),
                        filled,
                        language,
                        label == "good",
                        kind,
                        f"{language}:{text}",
                        WRITTEN_COUNTS / PAIRED[label] * 4,
                    )


def _scenes(language: Language) -> Iterator[Sample]:
    """Yield sentences written for the posts of one scene: near twins, of which one is a good answer and one is bad."""
    scenes = tomllib.loads((WRITTEN / "scenes" / f"{language}.toml").read_text("utf-8"))["scene"]
    for number, scene in enumerate(scenes):
        for label in ("good", "bad"):
            for kind, texts in scene[label].items():
                for post, text in product(scene["posts"], texts):
                    yield Sample(
                        post, text, language, label == "good", f"{kind}, scene", f"scene:{number}", SCENE_COUNTS
                    )


def _compounds(files: ClaimFiles, language: Language, random: Random) -> Iterator[Sample]:
    """Yield acceptable sentences joined with a threat, a hint or an insult (bad), or with another one (good)."""
    lists = written_lists(language)
    posts = [text for claim in files.claims.values() for text in claim.wordings[language]]
    joins = AND[language]
    for kind, label in (
        ("threat", "bad"),
        ("dog_whistle", "bad"),
        ("insult", "bad"),
        ("polite", "bad"),
        ("value", "good"),
    ):
        for text in (text for text in lists[kind] if "{" not in text):
            for _ in range(COMPOUNDS):
                fair = random.choice([text for text in (*lists["value"], *lists["warm"]) if "{" not in text])
                joined = f"{fair.rstrip('.?!')}{joins} {text[:1].lower()}{text[1:]}"
                yield Sample(
                    random.choice(posts), joined, language, label == "good", f"{kind}, joined", f"{language}:{text}"
                )


def written_lists(language: Language) -> Mapping[str, list[str]]:
    """Return the written sentences by kind; some contain `{claim}`, `{group}` or `{other}`."""
    return {kind: texts for lists in _tables(language).values() for kind, texts in lists.items()}


def _tables(language: Language) -> Mapping[str, Mapping[str, list[str]]]:
    return tomllib.loads((WRITTEN / f"{language}.toml").read_text("utf-8"))


def _of_red_team() -> Iterator[Sample]:
    for draft in red_team():
        if draft.tuning:
            yield from red_team_samples(draft)


def red_team_samples(draft: LabelledDraft) -> Iterator[Sample]:
    """Yield the sentences of a draft that its label applies to, leaving out sentences on file.

    A bad draft with several other sentences gives none: its label does not say which of them is bad.
    """
    context = draft.line.context()
    parts = [part for part in material(draft.line.draft, context).parts if not part.quoted]
    for part in parts:
        if draft.good or len(parts) == 1:
            yield Sample(
                draft.line.post,
                part.text,
                draft.line.language,
                draft.good,
                draft.kind,
                draft.line.id.split("-")[1],
                RED_TEAM_COUNTS,
            )


def _crowd_counter(path: Path) -> Iterator[Sample]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    for row in rows:
        post = row["hatespeech"]
        for text in split(row["counterspeech"])[:2]:
            yield Sample(post, text, "en", True, "crowd", post, 0.5)
