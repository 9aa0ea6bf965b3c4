"""Read the public data that the heads learn from and are measured on."""

from __future__ import annotations

import ast
import csv
import io
import json
import tomllib
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

from core.domain import TargetGroup as Group
from pipeline.normalise import normalise

LONGEST = 400
"""Characters of a text that are embedded for training; posts are short, and long ones cost minutes."""
EVERY = frozenset(Group)
NOBODY: frozenset[Group] = frozenset()

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
    "trans": Group.LGBT, "bis": Group.LGBT, "immig": Group.MIGRANTS, "ref": Group.MIGRANTS, "asy": Group.MIGRANTS,
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
    "christian": Group.OTHER,
}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """One text and what is known about it.

    `groups` are those it attacks, `judged` those of which the data say whether it does. `hateful` and `counter` are
    None where the data don't tell. `held_out` marks what training never sees.
    """

    text: str
    origin: str
    groups: frozenset[Group] = NOBODY
    judged: frozenset[Group] = NOBODY
    hateful: bool | None = None
    counter: bool | None = None
    held_out: bool = False
    label: str = ""


def read_samples(data: Path) -> list[Sample]:
    """Return every sample under `data`, each text once, held-out ones first; at most about 16,000."""
    sets = data / "datasets"
    real = _real_posts(data / "flags" / "real_posts.jsonl")
    parts = chain(
        _hatexplain(sets / "HateXplain", real),
        _hatemoji(sets / "Hatemoji"),
        _crowdcounter(sets / "CrowdCounter", real),
        read_written(),
        _edos(sets / "EDOS" / "edos_labelled_aggregated.csv"),
        _mlma(sets / "MLMA" / "hate_speech_mlma.zip"),
        _davidson(sets / "Davidson2017" / "labeled_data.csv"),
        _wikipedia(sets / "ConversationAI_bias" / "toxicity_nonfuzzed_testset.csv"),
    )
    once: dict[str, Sample] = {}
    for sample in sorted(parts, key=lambda sample: not sample.held_out):
        if sample.text:
            once.setdefault(sample.text.casefold(), sample)
    return list(once.values())


def _text(raw: str) -> str:
    return normalise(raw)[:LONGEST]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _pick(samples: Iterable[Sample], most: int) -> list[Sample]:
    """Pick `most` samples, the same in every run."""
    return sorted(samples, key=lambda sample: zlib.crc32(sample.text.encode("utf-8", "replace")))[:most]


def _real_posts(path: Path) -> dict[str, str]:
    """Return the texts of the flagged posts by their HateXplain ids."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {f"{row['post_id']}_{row['platform']}": row["text"] for row in rows}


def _hatexplain(folder: Path, real: Mapping[str, str]) -> Iterator[Sample]:
    """Yield labels and targets that two of three annotators agree on; the posts in `real` are held out."""
    for row in chain(*(_rows(folder / f"df_{split}_processed.csv") for split in ("val", "test"))):
        votes = ast.literal_eval(row["annotators"])
        label, agree = Counter(votes["label"]).most_common(1)[0]
        if agree < 2:
            continue
        hits = Counter(target for named in votes["target"] for target in set(named))
        targets = [target for target, count in hits.items() if count >= 2 and target != "None"]
        held_out = row["id"] in real
        text = real[row["id"]] if held_out else " ".join(ast.literal_eval(row["post_tokens"]))
        groups = frozenset(_HATEXPLAIN.get(target, Group.OTHER) for target in targets)
        yield Sample(
            _text(text),
            "real posts" if held_out else "HateXplain",
            groups,
            EVERY,
            label != 1,
            counter=False,
            held_out=held_out,
            label=("hate", "normal", "offensive")[label],
        )


def _hatemoji(folder: Path) -> Iterator[Sample]:
    for split in ("train", "validation", "test"):
        kind: dict[bool, list[Sample]] = {True: [], False: []}
        for row in _rows(folder / f"HatemojiBuild_{split}.csv"):
            hateful = row["label_gold"] == "1"
            # What isn't hateful still names a group, mostly in praise: it says nothing about whom posts attack.
            groups = frozenset(chain(*map(_hatemoji_groups, ast.literal_eval(row["target"])))) if hateful else NOBODY
            judged = EVERY if hateful else NOBODY
            kind[hateful].append(
                Sample(_text(row["text"]), "Hatemoji", groups, judged, hateful, False, split == "test")
            )
        yield from kind[True]
        yield from _pick(kind[False], 1000)
    check = []
    for row in _rows(folder / "HatemojiCheck_test.csv"):
        hateful = row["label_gold"] == "1" and row["target"] in _HATEMOJI_CHECK
        groups = frozenset({_HATEMOJI_CHECK[row["target"]]}) if hateful else NOBODY
        check.append(Sample(_text(row["text"]), "HatemojiCheck", groups, EVERY if hateful else NOBODY, hateful, False))
    yield from _pick(check, 600)


def _hatemoji_groups(target: str) -> Iterator[Group]:
    """Yield the groups of a HatemojiBuild label; compounds such as `blawom` name two."""
    if target == "none":
        return
    if target.endswith("wom") and target != "wom":
        yield Group.WOMEN
    stem = target.removesuffix("wom").removesuffix("man") or target
    yield _HATEMOJI.get(stem.split(".")[0] if stem.startswith("asi") else stem, Group.OTHER)


def _crowdcounter(folder: Path, real: Collection[str]) -> Iterator[Sample]:
    for case in json.loads((folder / "Final_Dataset_additional_context.json").read_text("utf-8")).values():
        if case["org_id"] in real:
            continue
        groups = frozenset(_HATEXPLAIN[target] for target in case["targets"] if target in _HATEXPLAIN)
        # Any one annotator's target counts here, so that "other" and posts with many targets are mostly noise.
        judged = EVERY - {Group.OTHER} if len(groups) in (1, 2) else NOBODY
        yield Sample(_text(case["post"]), "CrowdCounter posts", groups, judged, True, False)
    for split, most in (("Train", 1500), ("Test", 300)):
        rows = [json.loads(line) for line in (folder / f"{split}.json").read_text("utf-8").splitlines() if line.strip()]
        replies = (
            Sample(_text(row["counterspeech"]), "CrowdCounter replies", NOBODY, NOBODY, False, True, split == "Test")
            for row in rows
        )
        yield from _pick(replies, most)


def read_written() -> Iterator[Sample]:
    """Yield the project's own sentences: every group in five languages, attacked and not."""
    path = Path(__file__).with_name("sentences.toml")
    for texts in tomllib.loads(path.read_text("utf-8")).values():
        for kind, (group, names) in product(("hostile", "neutral"), texts["names"].items()):
            for name, sentence in product(names, texts["sentences"][kind]):
                text, hostile = sentence.format(name), kind == "hostile"
                groups, judged = (frozenset({Group(group)}), EVERY) if hostile else (NOBODY, NOBODY)
                yield Sample(text[0].upper() + text[1:], "written", groups, judged, hostile, False)


def _edos(path: Path) -> Iterator[Sample]:
    rows = [row for row in _rows(path) if row["split"] == "train"]
    women = frozenset({Group.WOMEN})
    sexist = (row["text"] for row in rows if row["label_sexist"] == "sexist")
    others = (row["text"] for row in rows if row["label_sexist"] != "sexist")
    yield from _pick((Sample(_text(text), "EDOS", women, women, True, False) for text in sexist), 1000)
    # "Not sexist" is not "not hateful": these come from rough forums.
    yield from _pick((Sample(_text(text), "EDOS", NOBODY, women) for text in others), 600)


def _mlma(path: Path) -> Iterator[Sample]:
    with zipfile.ZipFile(path) as archive:
        for language, each in (("en", 120), ("fr", 150), ("ar", 60)):
            with archive.open(f"hate_speech_mlma/{language}_dataset.csv") as file:
                yield from _mlma_language(list(csv.DictReader(io.TextIOWrapper(file, "utf-8"))), each)


def _mlma_language(rows: list[dict[str, str]], each: int) -> Iterator[Sample]:
    """Yield up to `each` attacks on a group; its labels come from one or two annotators, so all are kept few."""
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
        yield from _pick((Sample(_text(text), "Davidson", NOBODY, judged, hateful, False) for text in tweets), 700)


def _wikipedia(path: Path) -> Iterator[Sample]:
    calm = (row["comment"] for row in _rows(path) if row["toxic"] == "False")
    yield from _pick((Sample(_text(text), "Wikipedia", NOBODY, EVERY, False, False) for text in calm), 400)
