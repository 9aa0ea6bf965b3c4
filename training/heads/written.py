"""Read the project's own sentences: every group in six languages, hard cases by kind, and the claims on file."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, cycle, islice, product
from pathlib import Path
from typing import Any

from core.domain import TargetGroup
from training.heads.sample import EVERY, NOBODY, Part, Sample

Tables = Mapping[str, Any]

WRITTEN, FUNCTIONAL, CLAIMS, ANSWERS = "written", "functional", "claims", "answers to claims"
REPORTED_NAMES = 2
"""Groups that each template of the report part is filled with; training templates get a name of every group."""
DISGUISED = ("insult", "exclusion", "question", "identity", "praise", "everyday")
"""Kinds whose sentences are repeated in disguised spelling."""
_LEET = str.maketrans("aeio", "4310")


def read_written() -> Iterator[Sample]:
    """Yield plain sentences: every group in six languages, attacked and not."""
    for language, texts in _tables("sentences.toml").items():
        for kind, (group, names) in product(("hostile", "neutral"), texts["names"].items()):
            for name, sentence in product(names, texts["sentences"][kind]):
                yield _mention(sentence, name, group, WRITTEN, kind == "hostile", language=language)


def read_functional() -> Iterator[Sample]:
    """Yield the hard sentences of each kind; templates of the report part are never trained on."""
    sentences = _tables("functional.toml")
    names = {language: texts["names"] for language, texts in _tables("sentences.toml").items()}
    for title, table in sentences.items():
        language = table.get("language", "en")
        kind = title.removesuffix(f"_{language}")
        counter = table.get("counter", False)
        for part in (Part.TRAIN, Part.REPORT):
            for number, template in enumerate(table[part]):
                filled = list(_filled(template, names[language], number, part))
                for name, group in filled:
                    yield _mention(template, name, group, FUNCTIONAL, table["hateful"], counter, part, kind, language)
                if title in DISGUISED:
                    name, group = filled[number % len(filled)]
                    secret = disguise(template.format(name), number)
                    yield _mention(
                        secret, "", group, FUNCTIONAL, table["hateful"], counter, part, f"disguised_{_tone(table)}"
                    )


def read_claims(folder: Path) -> Iterator[Sample]:
    """Yield what hateful posts assert, by the claim files in `folder`, and the counterspeech that answers it."""
    samples = chain(*(_claims_of(path) for path in sorted(folder.glob("*.toml"))))
    by_text: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_text[sample.text.casefold()].append(sample)
    for same in by_text.values():
        # A claim made about several groups says nothing about whom a post attacks.
        if len({sample.groups for sample in same}) == 1:
            yield same[0]
        else:
            first = same[0]
            yield Sample(first.text, first.origin, hateful=first.hateful, counter=first.counter,
                         language=first.language, family=first.family)  # fmt: skip


def disguise(text: str, number: int) -> str:
    """Return a sentence in leet spelling if `number` is odd, else with the letters of its longest word separated."""
    if number % 2:
        return text.translate(_LEET)
    longest = max(text.split(), key=len)
    return text.replace(longest, (" ", ".", "-")[number // 2 % 3].join(longest), 1)


def _tables(file: str) -> Tables:
    return tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))


def _tone(table: Tables) -> str:
    return "hateful" if table["hateful"] else "harmless"


def _filled(template: str, names: Mapping[str, list[str]], number: int, part: Part) -> Iterator[tuple[str, str]]:
    """Yield names to fill in, with their groups; the choice of names, and of groups to report, varies with `number`."""
    if "{}" not in template:
        yield "", ""
        return
    most = REPORTED_NAMES if part is Part.REPORT else len(names)
    for group, own in islice(cycle(names.items()), 3 * number, 3 * number + most):
        yield own[number % len(own)], group


def _mention(
    template: str,
    name: str,
    group: str,
    origin: str,
    hateful: bool,
    counter: bool = False,
    part: Part = Part.TRAIN,
    kind: str = "",
    language: str = "en",
) -> Sample:
    """Return a sentence about a group, or about none if `group` is empty.

    A sentence that names a group without attacking it is judged for no group.
    """
    text = template.format(name) if name else template
    attacked = frozenset({TargetGroup(group)}) if group and hateful else NOBODY
    judged = EVERY if hateful or not group else NOBODY
    return Sample(text[0].upper() + text[1:], origin, attacked, judged, hateful, counter, part,
                  kind=kind, language=language, family=template)  # fmt: skip


def _claims_of(path: Path) -> Iterator[Sample]:
    group = frozenset({TargetGroup(path.stem)})
    for claim in tomllib.loads(path.read_text("utf-8"))["claim"]:
        wordings = {language: list(texts) for language, texts in claim["wordings"].items()}
        for language, gist in claim["gist"].items():
            wordings.setdefault(language, []).append(gist)
        for language, text in ((language, text) for language, texts in wordings.items() for text in texts):
            yield Sample(text, CLAIMS, group, EVERY, True, False, language=language, family=claim["id"])
        for answers in claim.get("counter", {}).values():
            for language, text in ((language, text) for language, texts in answers.items() for text in texts):
                yield Sample(text, ANSWERS, NOBODY, NOBODY, False, True, language=language, family=claim["id"])
