"""Read the public data that the toxicity head is trained and measured on."""

from __future__ import annotations

import ast
import csv
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from training.toxicity.sentences import EVERYDAY, GROUPS, HOSTILE, INSULTING, INSULTS, MENTIONING, NEUTRAL, THREATS


@dataclass(frozen=True)
class Sample:
    """One text and whether it counts as toxic; `held_out` texts are never trained on, `weight` is that in training."""

    text: str
    toxic: bool
    origin: str
    held_out: bool
    weight: float = 1.0


def read_samples(data: Path, rights: Path | None) -> Iterator[Sample]:
    """Yield every sample under `data`, and the sentences of the legal texts under `rights`."""
    yield from _davidson(data / "Davidson2017" / "labeled_data.csv")
    yield from _hatexplain(data / "HateXplain")
    yield from _edos(data / "EDOS" / "edos_labelled_aggregated.csv")
    yield from _hatemoji(data / "Hatemoji")
    yield from _wikipedia(data / "ConversationAI_bias" / "toxicity_nonfuzzed_testset.csv")
    yield from _crowdcounter(data / "CrowdCounter")
    yield from _arguments(data / "IBM_ArgQ30k" / "test_30k.csv")
    yield from _neutral()
    yield from _insults()
    if rights is not None:
        yield from _legal(rights)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _fifth(text: str) -> bool:
    """Tell whether a text is in a fixed fifth of all texts; copies of a text stay together."""
    return zlib.crc32(text.encode("utf-8", "replace")) % 5 == 0


def _davidson(path: Path) -> Iterator[Sample]:
    for row in _rows(path):
        yield Sample(row["tweet"], row["class"] != "2", "Davidson", _fifth(row["tweet"]), 0.5)


def _hatexplain(folder: Path) -> Iterator[Sample]:
    for split, held_out in (("val", False), ("test", True)):
        for row in _rows(folder / f"df_{split}_processed.csv"):
            (label, votes), *_ = Counter(ast.literal_eval(row["annotators"])["label"]).most_common()
            if votes >= 2:  # three people; where all differ there is no label
                yield Sample(row["unmasked_sentence"], label != 1, "HateXplain", held_out)


def _edos(path: Path) -> Iterator[Sample]:
    for row in _rows(path):
        sexist = row["label_sexist"] == "sexist"
        # "Not sexist" does not mean "not toxic": these posts come from rough forums, so they count for little.
        yield Sample(row["text"], sexist, "EDOS (sexism)", row["split"] == "test", 1.0 if sexist else 0.25)


def _hatemoji(folder: Path) -> Iterator[Sample]:
    for split, held_out in (("train", False), ("validation", False), ("test", True)):
        for row in _rows(folder / f"HatemojiBuild_{split}.csv"):
            yield Sample(row["text"], row["label_gold"] == "1", "HatemojiBuild (adversarial)", held_out)


def _wikipedia(path: Path) -> Iterator[Sample]:
    for row in _rows(path):
        yield Sample(row["comment"], row["toxic"] == "True", "Wikipedia comments", _fifth(row["comment"]))


def _crowdcounter(folder: Path) -> Iterator[Sample]:
    for split, held_out in (("Train", False), ("Val", False), ("Test", True)):
        rows = [json.loads(line) for line in (folder / f"{split}.json").read_text("utf-8").splitlines() if line.strip()]
        for post in dict.fromkeys(row["hatespeech"] for row in rows):
            yield Sample(post, True, "CrowdCounter posts", held_out)
        for row in rows:
            yield Sample(row["counterspeech"], False, "CrowdCounter counterspeech", held_out, 3.0)


def _arguments(path: Path) -> Iterator[Sample]:
    """Yield debating arguments for measuring only, to keep weights free of their licence (CC BY-SA)."""
    for row in _rows(path):
        yield Sample(row["text"], False, "IBM arguments", True)


def _neutral() -> Iterator[Sample]:
    yield from _about_groups(NEUTRAL, 8, toxic=False, origin="neutral identity sentences")
    yield from _about_groups(HOSTILE, 3, toxic=True, origin="hostile identity sentences")


def _about_groups(sentences: tuple[str, ...], spared: int, *, toxic: bool, origin: str) -> Iterator[Sample]:
    """Yield every group in every sentence; the last `spared` sentences with every fifth group are held out.

    Pairs of a held-out group and a training sentence, or the reverse, are left out.
    """
    for (place, group), (number, sentence) in product(enumerate(GROUPS), enumerate(sentences)):
        seen_group, seen_sentence = place % 5 != 0, number < len(sentences) - spared
        if seen_group == seen_sentence:  # trained on both or on neither
            text = sentence.format(group)
            yield Sample(text[0].upper() + text[1:], toxic, origin, not seen_group, 4.0)


def _insults() -> Iterator[Sample]:
    for (place, insult), (number, sentence) in product(enumerate(INSULTS), enumerate(INSULTING)):
        text = sentence.format(_with_article(insult), bare=insult, group=GROUPS[place % len(GROUPS)])
        yield Sample(text, True, "mild insults", number >= len(INSULTING) - 4, 12.0)
    for insult, (number, sentence) in product(INSULTS, enumerate(MENTIONING)):
        text = sentence.format(_with_article(insult), bare=insult)
        yield Sample(text, False, "insults mentioned", number == len(MENTIONING) - 1, 6.0)
    for text in THREATS:
        yield Sample(text, True, "threats", held_out=False, weight=12.0)
    for text in (*GROUPS, *(group.lower() for group in GROUPS), *EVERYDAY):
        yield Sample(text, False, "everyday phrases", held_out=False, weight=10.0)


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _legal(folder: Path) -> Iterator[Sample]:
    for path in sorted(folder.rglob("*.md")):
        for sentence in re.split(r"(?<=[.;])\s+", path.read_text("utf-8")):
            if 40 <= len(sentence) <= 400:
                yield Sample(sentence, False, "human-rights treaties", _fifth(path.name))
