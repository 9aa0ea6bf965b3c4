"""Read the texts that the threat head is trained and measured on."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import tomllib
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from core.domain import AttackKind
from evaluation.evidence.yardstick import texts_by_id
from kb.claims.loading import load_claims
from pipeline.threats import speaks_of_violence
from training.heads.forums import read_forums
from training.heads.written import read_written

LONGEST = 400
"""Characters of a text that are used."""
FILLS = 8
"""Sentences made from each template with slots."""
HELD_OUT_OF = 4
"""One in this many templates, claims, replies and forum posts, chosen by checksum, is for the report only."""
CALM = "no violent words"
"""The kind of posts that have no violent word and were not read by anybody."""
CALM_COUNTS = 2.3
"""Posts that each CALM post stands for: 3,431 were found and 1,500 are used."""
ONLY_TRAINED = "as_in_posts"
"""The kind of sentences written after the report had been read, which is why the report has none of them."""
SUITES = {"suite": "suite.toml", "second suite": "second_suite.toml"}
"""Origins whose sentences are always for the report only, with their files."""
FORUMS, WORDINGS, TWINS = "forum posts", "wordings", "threat twins"
READ_BY_TWO = frozenset({"posts", FORUMS, "flagged posts"})
"""Origins whose held-out posts two readers read whole."""
THREATENS = {"t-": True, "n-": False}
"""Whether a twin threatens, by the beginning of its kind."""
LANGUAGES = ("en", "es", "it", "eu", "fr", "de")

_HERE = Path(__file__).parent
_EVIDENCE_POSTS = Path(__file__).parents[2] / "evaluation" / "evidence" / "held_out.txt"
_CHECK_THREATS = frozenset({*range(1, 11), 41, 42, 43, 61, 63, 69, 73})
"""Templates of HatemojiCheck whose hateful version threatens or urges violence; chosen by reading them."""

_MLMA_WHOLE = "hate_speech_mlma/en_dataset_with_stop_words.csv"
"""MLMA with all words kept; its rows are numbered in another order than those of the other file."""
_ESCAPED = re.compile(r"(?:\\u[0-9a-f]{4})+")


@dataclass(frozen=True)
class Sample:
    """One text and whether it is a threat.

    `origin` is the data set, `kind` the sort of text within it, and `source` the template or row it was made from:
    either all samples of a source are used for training or none. `who` is the group it names, if known.
    """

    text: str
    threat: bool
    origin: str
    kind: str
    source: str
    held_out: bool
    language: str = "en"
    who: str = ""


def read_samples(data: Path) -> list[Sample]:
    """Return every sample, each text once; a text that is both held out and not stays held out."""
    sets = data / "datasets"
    parts = chain(
        written(),
        _edos(sets / "EDOS" / "edos_labelled_aggregated.csv"),
        _hatemoji(sets / "Hatemoji"),
        _hatemoji_check(sets / "Hatemoji" / "HatemojiCheck_test.csv"),
        _posts(data),
        _forum_posts(data),
        _flagged(data / "flags" / "real_posts.jsonl"),
        _replies(sets / "CrowdCounter" / "Train.json"),
        _neutral(),
        wordings(),
        twins(),
        suites(),
    )
    once: dict[str, Sample] = {}
    for sample in sorted(parts, key=lambda sample: not sample.held_out):
        if sample.text.strip():
            once.setdefault(sample.text.casefold(), sample)
    return list(once.values())


def chance(*parts: object) -> int:
    """Return a pseudo-random number made from `parts`, the same in every run."""
    return zlib.crc32(" ".join(map(str, parts)).encode("utf-8", "replace"))


def written() -> Iterator[Sample]:
    """Yield the project's own sentences: threats and harmless look-alikes by language, some disguised."""
    for language in LANGUAGES:
        texts = tomllib.loads((_HERE / f"{language}.toml").read_text("utf-8"))
        for section, threat in (("threats", True), ("harmless", False)):
            for kind, lines in texts[section].items():
                for template in lines.strip().splitlines():
                    yield from _filled(template, texts["slots"], threat, kind, language)


def _filled(template: str, slots: Mapping[str, list[str]], threat: bool, kind: str, language: str) -> Iterator[Sample]:
    gaps = [name for name in slots if f"{{{name}}}" in template]
    for turn in range(FILLS if gaps else 2):
        text, who = template, ""
        for name in gaps:
            filling = slots[name][chance(template, name, turn) % len(slots[name])]
            who = filling if name == "who" else who
            text = text.replace(f"{{{name}}}", filling)
        held_out = kind != ONLY_TRAINED and chance(template) % HELD_OUT_OF == 0
        yield Sample(_varied(text, turn), threat, "written", kind, template, held_out, language, who)


def _varied(text: str, turn: int) -> str:
    """Return a sentence as people might type it: half of them with changed case, punctuation or spelling."""
    drawn = chance(text, turn) % 16
    if drawn < 3:
        return text.lower()
    if drawn == 3:
        return text.upper()
    if drawn in (4, 5):
        return text.rstrip(".!?") + ("!!!" if drawn == 4 else ".")
    if drawn in (6, 7):
        return disguised(text, turn)
    return text[:1].upper() + text[1:]


def disguised(text: str, turn: int) -> str:
    """Return the text with letters dropped, doubled, swapped, spaced out or replaced, or with spaces dropped."""
    how = chance(turn, text) % 7
    if how == 6:
        return _run_together(text, turn)
    words = text.split()
    for place, word in enumerate(words):
        if len(word) < 4 or not word.isalpha() or chance(word, place) % 3 == 0:
            continue
        at = 1 + chance(word, turn) % (len(word) - 2)
        if how == 0:
            words[place] = word[:at] + word[at + 1 :]
        elif how == 1:
            words[place] = word[: at + 1] + word[at:]
        elif how == 2:
            words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        elif how == 3:
            words[place] = " ".join(word)
        elif how == 4:
            words[place] = word[:at] + "*" + word[at + 1 :]
        else:
            words[place] = word.translate(str.maketrans("aeiost", "431057"))
    return " ".join(words)


def _run_together(text: str, turn: int) -> str:
    """Return the text without some of the spaces between its words, or without any."""
    words = text.split()
    some = chance(text, turn) % 3
    joints = ("" if not some or chance(word, turn) % 3 == 0 else " " for word in words[1:])
    return words[0] + "".join(joint + word for joint, word in zip(joints, words[1:], strict=True))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def _pick(samples: Iterable[Sample], most: int) -> list[Sample]:
    """Return up to `most` samples, the same in every run."""
    return sorted(samples, key=lambda sample: chance(sample.text))[:most]


def _edos(path: Path) -> Iterator[Sample]:
    """Yield EDOS's threats and other sexist posts; those not sexist are left out, as they may still be threats."""
    harmless: dict[bool, list[Sample]] = {True: [], False: []}
    for row in _rows(path):
        if row["label_sexist"] != "sexist":
            continue
        threat, held_out = row["label_category"].startswith("1."), row["split"] == "test"
        kind = row["label_vector"][4:] if threat else "sexism without a threat"
        sample = Sample(row["text"][:LONGEST], threat, "EDOS", kind, row["rewire_id"], held_out, who="women")
        if threat:
            yield sample
        else:
            harmless[held_out].append(sample)
    yield from chain(_pick(harmless[True], 800), _pick(harmless[False], 2200))


def _hatemoji(folder: Path) -> Iterator[Sample]:
    for split in ("train", "validation", "test"):
        kinds: dict[bool, list[Sample]] = {True: [], False: []}
        for row in _rows(folder / f"HatemojiBuild_{split}.csv"):
            threat = row["type"] == "threateninglanguage"
            kind = "threat" if threat else "hate without a threat" if row["label_gold"] == "1" else "not hateful"
            who = row["target"] if threat else ""
            source = f"{min(int(row['entry_id']), int(float(row['matched_id'] or row['entry_id'])))}"
            kinds[threat].append(
                Sample(row["text"][:LONGEST], threat, "Hatemoji", kind, source, split == "test", who=who)
            )
        yield from kinds[True]
        yield from _pick(kinds[False], 2500)


def _hatemoji_check(path: Path) -> Iterator[Sample]:
    samples: dict[str, list[Sample]] = {}
    for row in _rows(path):
        template = int(float(row["templ_id"]))
        hateful = row["label_gold"] == "1"
        threat = hateful and template in _CHECK_THREATS
        kind = row["functionality"] + ("" if threat else ", no threat")
        samples.setdefault(row["templ_id"], []).append(
            Sample(
                row["text"], threat, "HatemojiCheck", kind, str(template),
                chance("check", template) % HELD_OUT_OF == 0, who=row["target"],
            )
        )  # fmt: skip
    for several in samples.values():
        yield from _pick(several, 5)


def _posts(data: Path) -> Iterator[Sample]:
    """Yield posts of four data sets: those labelled in `read.txt`, and some without a violent word."""
    texts = dict(_texts(data))
    labels = _labels("read.txt")
    for name, label in labels.items():
        text, threat = texts[name], label == "threat"
        kind = "threat" if threat else f"{'violent' if speaks_of_violence(text) else 'other'} words, no threat"
        yield Sample(text[:LONGEST], threat, "posts", kind, name, chance(name) % 3 == 0)
    calm = [
        Sample(text[:LONGEST], False, "posts", CALM, name, chance(name) % 3 == 0)
        for name, text in texts.items()
        if name not in labels and not name.startswith("mlma") and not speaks_of_violence(text)
    ]
    yield from _pick(calm, 1500)


def _labels(file: str) -> dict[str, str]:
    """Return the labels in a file of this package, by post id."""
    lines = (_HERE / file).read_text("utf-8").splitlines()
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {name: label for label, name in rows}


def _unescaped(escapes: re.Match[str]) -> str:
    """Return the characters behind MLMA's escapes: emoji are surrogate pairs, the last of which may be cut off."""
    return str(json.loads(f'"{escapes[0]}"')).encode("utf-16", "surrogatepass").decode("utf-16", "ignore")


def _flagged(path: Path) -> Iterator[Sample]:
    """Yield the flagged posts, for the report only."""
    labels = _labels("flags.txt")
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        name = f"{row['post_id']}_{row['platform']}"
        label = labels.get(name, "not read")
        if label != "unclear":
            yield Sample(row["text"][:LONGEST], label == "threat", "flagged posts", label, name, held_out=True)


def _texts(data: Path) -> Iterator[tuple[str, str]]:
    """Yield posts by `dataset:id`, without flagged posts and those that the evidence search is measured on."""
    sets = data / "datasets"
    kept_apart = set(_EVIDENCE_POSTS.read_text("utf-8").split())
    with (data / "flags" / "real_posts.jsonl").open(encoding="utf-8") as file:
        kept_apart |= {f"hatexplain:{row['post_id']}_{row['platform']}" for row in map(json.loads, file)}
    replied = json.loads((sets / "CrowdCounter" / "Final_Dataset_additional_context.json").read_text("utf-8"))
    posts = {f"hatexplain:{case['org_id']}": case["post"] for case in replied.values()}
    for split in ("val", "test"):
        for row in _rows(sets / "HateXplain" / f"df_{split}_processed.csv"):
            posts[f"hatexplain:{row['id']}"] = " ".join(ast.literal_eval(row["post_tokens"]))
    for row in _rows(sets / "Davidson2017" / "labeled_data.csv"):
        if row["class"] == "0":
            posts[f"davidson:{next(iter(row.values()))}"] = row["tweet"]
    with zipfile.ZipFile(sets / "MLMA" / "hate_speech_mlma.zip") as archive, archive.open(_MLMA_WHOLE) as file:
        for row in csv.DictReader(io.TextIOWrapper(file, "utf-8")):
            posts[f"mlma-words:{row['HITId']}"] = _ESCAPED.sub(_unescaped, row["tweet"])
    yield from ((name, text) for name, text in posts.items() if name not in kept_apart)


def read_again(data: Path) -> Iterator[tuple[str, bool]]:
    """Yield real posts to train on that one reader read whole, each with whether it threatens (`read_again.txt`).

    Only layers and larger models learn from them (`training.post_layers`), not the threat head.
    """
    texts = texts_by_id(data)
    for name, label in _labels("read_again.txt").items():
        yield texts[name][:LONGEST], label == "threat"


def read_by_two(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Yield the samples, real posts for measuring with the label that two readers gave them (`second_reading.txt`).

    Where the two differ, the post is left out.
    """
    labels = _labels("second_reading.txt")
    for sample in samples:
        if not (sample.held_out and sample.origin in READ_BY_TWO):
            yield sample
            continue
        label = labels.get(sample.source, "none")
        if label != "unclear":
            threat = label == "threat"
            kind = "threat" if threat else "no threat" if sample.threat else sample.kind
            yield replace(sample, threat=threat, kind=kind)


def _replies(path: Path) -> Iterator[Sample]:
    """Yield counterspeech, which often speaks of violence but never threatens."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    replies = (
        Sample(row["counterspeech"][:LONGEST], False, "replies", "counterspeech", row["counterspeech"],
               chance(row["counterspeech"]) % HELD_OUT_OF == 0)
        for row in rows
    )  # fmt: skip
    yield from _pick(replies, 1000)


def _neutral() -> Iterator[Sample]:
    """Yield the plain sentences written for the other heads, hostile and neutral, none of which threatens."""
    for sample in read_written():
        yield Sample(sample.text, False, "written", "no violence", sample.text, chance(sample.text) % 4 == 0, "und")


def _forum_posts(data: Path) -> Iterator[Sample]:
    """Yield the posts of rough forums whose label says clearly whether they threaten."""
    for post in read_forums(data):
        if post.threat is not None:
            words = "violent" if speaks_of_violence(post.text) else "other"
            kind = "threat" if post.threat else f"{words} words, no threat"
            held_out = chance(post.id) % HELD_OUT_OF == 0
            yield Sample(post.text[:LONGEST], post.threat, FORUMS, kind, post.id, held_out)


def wordings() -> Iterator[Sample]:
    """Yield the wordings of all claims on file that don't threaten: hostile texts in four languages without threats."""
    for claim in load_claims().claims.values():
        if claim.kind is not AttackKind.THREAT:
            held_out = chance(claim.id) % HELD_OUT_OF == 0
            for language, texts in claim.wordings.items():
                for text in texts:
                    yield Sample(text, False, WORDINGS, str(claim.kind), claim.id, held_out, language)


def twins() -> Iterator[Sample]:
    """Yield near twins as people post them: threats to a group, and violent or hostile words without one.

    Only the layers for posts learn from them (`training.post_layers`), not the threat head. Raises KeyError for an
    unknown kind.
    """
    for line in (_HERE / "twins.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            group, language, kind, text = line.split("\t")
            held_out = chance(text) % HELD_OUT_OF == 0
            yield Sample(text, THREATENS[kind[:2]], TWINS, kind[2:], text, held_out, language, group)


def suites() -> Iterator[Sample]:
    """Yield the sentences of SUITES, threats and others, none of which is ever trained on."""
    for origin, file in SUITES.items():
        for language, sections in tomllib.loads((_HERE / file).read_text("utf-8")).items():
            for section, kinds in sections.items():
                for kind, lines in kinds.items():
                    for text in lines.strip().splitlines():
                        yield Sample(text, section == "threats", origin, kind, text, held_out=True, language=language)
