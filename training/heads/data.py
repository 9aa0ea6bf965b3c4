"""Read the public data that the heads are trained and measured on."""

from __future__ import annotations

import ast
import csv
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import resources
from itertools import chain
from pathlib import Path

from core.domain import TargetGroup as Group
from pipeline.normalise import normalise
from training.heads.forums import HATE, NO_ATTACK, read_forums
from training.heads.sample import EVERY, NOBODY, Part, Sample
from training.heads.written import read_claims, read_functional, read_written

LONGEST = 400
"""Characters of a text that are embedded for training: most posts are shorter, and long texts cost minutes."""
SHORT = 20
"""Texts up to this many characters are not taken for copies: different people may write the same."""
NOTHING: frozenset[str] = frozenset()
REAL, REPLIES, ADVERSARIAL, FORUMS = "real posts", "CrowdCounter replies", "Hatemoji", "forum posts"

# The most samples of a kind taken from a source: more of the same improved nothing.
EDOS_SEXIST, EDOS_OTHER = 3000, 3500
HATEMOJI_CALM, HATEMOJI_CHECK = 3000, 1500
DAVIDSON_EACH = 2500
WIKIPEDIA_CALM = 1500
REPLIES_EACH = {"Train": 3000, "Test": 300}
CLAIMS, ANSWERS = 6000, 2200
MLMA_EACH = {"en": 900, "fr": 150, "ar": 60}

_HATEXPLAIN = {
    "Women": Group.WOMEN, "African": Group.PEOPLE_OF_COLOUR, "Asian": Group.PEOPLE_OF_COLOUR,
    "Indian": Group.PEOPLE_OF_COLOUR, "Minority": Group.PEOPLE_OF_COLOUR, "Disability": Group.DISABLED,
    "Refugee": Group.MIGRANTS, "Hispanic": Group.MIGRANTS, "Islam": Group.MUSLIMS, "Arab": Group.MUSLIMS,
    "Jewish": Group.JEWS, "Homosexual": Group.LGBT, "Bisexual": Group.LGBT, "Asexual": Group.LGBT,
}  # fmt: skip
_HATEMOJI = {
    "bla": Group.PEOPLE_OF_COLOUR, "african": Group.PEOPLE_OF_COLOUR, "asi": Group.PEOPLE_OF_COLOUR,
    "ethmin": Group.PEOPLE_OF_COLOUR, "mix.race": Group.PEOPLE_OF_COLOUR, "wom": Group.WOMEN, "dis": Group.DISABLED,
    "mus": Group.MUSLIMS, "arab": Group.MUSLIMS, "jew": Group.JEWS, "gay": Group.LGBT, "lgbtqa": Group.LGBT,
    "trans": Group.LGBT, "bis": Group.LGBT, "trav": Group.PEOPLE_OF_COLOUR, "rom": Group.PEOPLE_OF_COLOUR,
    "immig": Group.MIGRANTS, "ref": Group.MIGRANTS, "asy": Group.MIGRANTS,
    "for": Group.MIGRANTS, "hisp": Group.MIGRANTS, "mex": Group.MIGRANTS,
}  # fmt: skip
_HATEMOJI_CHECK = {
    "Muslims": Group.MUSLIMS, "women": Group.WOMEN, "gay people": Group.LGBT, "trans people": Group.LGBT,
    "disabled people": Group.DISABLED, "black people": Group.PEOPLE_OF_COLOUR,
}  # fmt: skip
_MLMA = {
    "women": Group.WOMEN, "special_needs": Group.DISABLED, "refugees": Group.MIGRANTS, "immigrants": Group.MIGRANTS,
    "hispanics": Group.MIGRANTS, "gay": Group.LGBT, "muslims": Group.MUSLIMS, "arabs": Group.MUSLIMS,
    "jews": Group.JEWS, "african_descent": Group.PEOPLE_OF_COLOUR, "asians": Group.PEOPLE_OF_COLOUR,
    "indian/hindu": Group.PEOPLE_OF_COLOUR, "christian": Group.OTHER,
}  # fmt: skip


def read_samples(data: Path, claims: Path) -> list[Sample]:
    """Return every sample of the data sets under `data`, the claim files in `claims` and our own sentences.

    Each text comes once; if it is in several parts, it stays in the one that is furthest from training.
    """
    sets, reserved = data / "datasets", reserved_posts()
    real = _real_posts(data / "flags" / "real_posts.jsonl")
    parts = chain(
        _hatexplain(sets / "HateXplain", real, reserved["hatexplain"]),
        _hatemoji(sets / "Hatemoji"),
        _crowdcounter(sets / "CrowdCounter", real.keys() | reserved["hatexplain"]),
        read_written(),
        read_functional(),
        *_some_claims(claims),
        _forum_posts(data),
        _edos(sets / "EDOS" / "edos_labelled_aggregated.csv"),
        _mlma(sets / "MLMA" / "hate_speech_mlma.zip", reserved["mlma"]),
        _davidson(sets / "Davidson2017" / "labeled_data.csv"),
        _wikipedia(sets / "ConversationAI_bias" / "toxicity_nonfuzzed_testset.csv"),
    )
    once: dict[str, Sample] = {}
    for sample in sorted(parts, key=lambda sample: list(Part).index(sample.part)):
        if sample.text:
            once.setdefault(sample.text.casefold(), sample)
    return list(_without_copies(once.values()))


def _without_copies(samples: Collection[Sample]) -> Iterator[Sample]:
    """Yield all samples except reserved ones, and training ones with the same letters as a held-out text."""
    held_out = {letters(sample.text) for sample in samples if sample.part is not Part.TRAIN}
    for sample in samples:
        copied = len(sample.text) > SHORT and letters(sample.text) in held_out
        if sample.part is not Part.RESERVED and not (sample.part is Part.TRAIN and copied):
            yield sample


def letters(text: str) -> str:
    """Return the letters and digits of a text, folded to lower case, to recognise its copies."""
    return "".join(char for char in text.casefold() if char.isalnum())


def _some_claims(folder: Path) -> Iterator[list[Sample]]:
    samples = list(read_claims(folder))
    yield _pick((sample for sample in samples if sample.hateful), CLAIMS)
    yield _pick((sample for sample in samples if not sample.hateful), ANSWERS)


def reserved_posts() -> Mapping[str, frozenset[str]]:
    """Return the ids, by data set, of the posts that the evidence search is measured on."""
    lines = resources.files("evaluation").joinpath("evidence/held_out.txt").read_text("utf-8").splitlines()
    pairs = [line.split(":", 1) for line in lines if line and not line.startswith("#")]
    return {name: frozenset(post for source, post in pairs if source == name) for name in ("hatexplain", "mlma")}


def _text(raw: str) -> str:
    return normalise(raw)[:LONGEST]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _crc(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def _pick(samples: Iterable[Sample], most: int) -> list[Sample]:
    """Return up to `most` samples, the same in every run."""
    return sorted(samples, key=lambda sample: _crc(sample.text))[:most]


def _real_posts(path: Path) -> dict[str, str]:
    """Return the texts of the flagged posts by their HateXplain ids."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {f"{row['post_id']}_{row['platform']}": row["text"] for row in rows}


def _hatexplain(folder: Path, real: Mapping[str, str], reserved: Collection[str]) -> Iterator[Sample]:
    """Yield HateXplain's posts with the labels and targets that two of three annotators agree on.

    The posts in `real` are never trained on: half of them calibrate, half are reported on.
    """
    for row in chain(*(_rows(folder / f"df_{split}_processed.csv") for split in ("val", "test"))):
        votes = ast.literal_eval(row["annotators"])
        label, agree = Counter(votes["label"]).most_common(1)[0]
        is_real = row["id"] in real
        text = real[row["id"]] if is_real else " ".join(ast.literal_eval(row["post_tokens"]))
        if row["id"] in reserved and not is_real:
            yield Sample(_text(text), "HateXplain", part=Part.RESERVED)
            continue
        if agree < 2:
            continue
        hits = Counter(target for named in votes["target"] for target in set(named))
        targets = [target for target, count in hits.items() if count >= 2 and target != "None"]
        yield Sample(
            _text(text),
            REAL if is_real else "HateXplain",
            frozenset(_HATEXPLAIN.get(target, Group.OTHER) for target in targets),
            EVERY,
            label != 1,
            counter=False,
            part=part_of_flag(row["id"]) if is_real else Part.TRAIN,
            label=("hate", "normal", "offensive")[label],
        )


def part_of_flag(post: str) -> Part:
    """Return the part of a flagged post, by its HateXplain id."""
    return Part.CALIBRATE if _crc(post) % 2 else Part.REPORT


def _hatemoji(folder: Path) -> Iterator[Sample]:
    for split in ("train", "validation", "test"):
        attacks: list[Sample] = []
        calm: list[Sample] = []
        for row in _rows(folder / f"HatemojiBuild_{split}.csv"):
            hateful = row["label_gold"] == "1"
            # Harmless texts name groups too, mostly in praise, which teaches nothing about whom posts attack.
            groups = frozenset(chain(*map(_hatemoji_groups, ast.literal_eval(row["target"])))) if hateful else NOBODY
            judged = EVERY if hateful else NOBODY
            part = Part.REPORT if split == "test" else Part.TRAIN
            pair = min(int(row["entry_id"]), int(float(row["matched_id"] or row["entry_id"])))
            sample = Sample(
                _text(row["text"]), ADVERSARIAL, groups, judged, hateful, False, part, family=f"pair {pair}"
            )
            (attacks if hateful else calm).append(sample)
        yield from attacks
        yield from _pick(calm, HATEMOJI_CALM)
    check = []
    for row in _rows(folder / "HatemojiCheck_test.csv"):
        hateful = row["label_gold"] == "1" and row["target"] in _HATEMOJI_CHECK
        groups = frozenset({_HATEMOJI_CHECK[row["target"]]}) if hateful else NOBODY
        check.append(Sample(_text(row["text"]), "HatemojiCheck", groups, EVERY if hateful else NOBODY, hateful, False,
                            family=f"check {row['templ_id']}"))  # fmt: skip
    yield from _pick(check, HATEMOJI_CHECK)


def _hatemoji_groups(target: str) -> Iterator[Group]:
    """Yield the groups of a HatemojiBuild label; compounds such as `blawom` name two."""
    if target == "none":
        return
    if target.endswith("wom") and target != "wom":
        yield Group.WOMEN
    stem = target.removesuffix("wom").removesuffix("man") or target
    yield _HATEMOJI.get(stem.split(".")[0] if stem.startswith("asi") else stem, Group.OTHER)


def _crowdcounter(folder: Path, left_out: Collection[str]) -> Iterator[Sample]:
    for case in json.loads((folder / "Final_Dataset_additional_context.json").read_text("utf-8")).values():
        if case["org_id"] in left_out:
            yield Sample(_text(case["post"]), "CrowdCounter posts", part=Part.RESERVED)
            continue
        groups = frozenset(_HATEXPLAIN[target] for target in case["targets"] if target in _HATEXPLAIN)
        # Each annotator's targets are listed here, so "other" and posts with many targets are mostly noise.
        judged = EVERY - {Group.OTHER} if len(groups) in (1, 2) else NOBODY
        yield Sample(_text(case["post"]), "CrowdCounter posts", groups, judged, True, False)
    for split, most in REPLIES_EACH.items():
        rows = [json.loads(line) for line in (folder / f"{split}.json").read_text("utf-8").splitlines() if line.strip()]
        part = Part.REPORT if split == "Test" else Part.TRAIN
        replies = (Sample(_text(row["counterspeech"]), REPLIES, hateful=False, counter=True, part=part) for row in rows)
        yield from _pick(replies, most)


def _forum_posts(data: Path) -> Iterator[Sample]:
    """Yield the labelled posts of rough forums; `hateful` is None for coarse words that attack no group."""
    for post in read_forums(data):
        hateful = {HATE: True, NO_ATTACK: False}.get(post.attack)
        yield Sample(_text(post.text), FORUMS, post.groups, EVERY, hateful, counter=False)


def _edos(path: Path) -> Iterator[Sample]:
    rows = _rows(path)
    women = frozenset({Group.WOMEN})
    sexist = (row["text"] for row in rows if row["label_sexist"] == "sexist")
    others = (row["text"] for row in rows if row["label_sexist"] != "sexist")
    yield from _pick((Sample(_text(text), "EDOS", women, women, True, False) for text in sexist), EDOS_SEXIST)
    # "Not sexist" does not mean "not hateful": these posts come from rough forums.
    yield from _pick((Sample(_text(text), "EDOS", NOBODY, women) for text in others), EDOS_OTHER)


def _mlma(path: Path, reserved: Collection[str]) -> Iterator[Sample]:
    with zipfile.ZipFile(path) as archive:
        for language, each in MLMA_EACH.items():
            with archive.open(f"hate_speech_mlma/{language}_dataset.csv") as file:
                rows = list(csv.DictReader(io.TextIOWrapper(file, "utf-8")))
                # Ids are only unique within a language, and the reserved ones are English.
                samples = _mlma_language(rows, each, reserved if language == "en" else NOTHING)
                yield from (replace(sample, language=language) for sample in samples)


def _mlma_language(rows: list[dict[str, str]], each: int, reserved: Collection[str]) -> Iterator[Sample]:
    """Yield up to `each` attacks per group, and twice as many normal posts: few, as one or two people labelled each."""
    yield from (Sample(_text(row["tweet"]), "MLMA", part=Part.RESERVED) for row in rows if row["HITId"] in reserved)
    for name, group in _MLMA.items():
        attacks = (row["tweet"] for row in rows if row["group"] == name and "normal" not in row["sentiment"])
        whom = frozenset({group})
        yield from _pick((Sample(_text(text), "MLMA", whom, whom, True, False) for text in attacks), each)
    normal = (row["tweet"] for row in rows if row["sentiment"] == "normal")
    yield from _pick((Sample(_text(text), "MLMA", NOBODY, NOBODY, False, False) for text in normal), 2 * each)


def _davidson(path: Path) -> Iterator[Sample]:
    rows = _rows(path)
    for label, hateful in (("0", True), ("2", False)):
        tweets = (row["tweet"] for row in rows if row["class"] == label)
        judged = NOBODY if hateful else EVERY
        samples = (Sample(_text(text), "Davidson", NOBODY, judged, hateful, False) for text in tweets)
        yield from _pick(samples, DAVIDSON_EACH)


def _wikipedia(path: Path) -> Iterator[Sample]:
    calm = (row["comment"] for row in _rows(path) if row["toxic"] == "False")
    yield from _pick((Sample(_text(text), "Wikipedia", NOBODY, EVERY, False, False) for text in calm), WIKIPEDIA_CALM)
