"""Read two readers' verdicts on the sheets, and summarise them by system."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import StatisticsError, correlation, fmean

from core.errors import BadInput
from core.spreadsheets import TextLines
from evaluation.reading.sheets import ReadingKey, own_words
from evaluation.records import SystemDraft

FITS = ("0", "1", "2", "n")
FAULTS = ("echo", "agrees", "false", "awkward", "garbled", "tone", "language")
GOOD = 4
"""The lowest score of a reply that a moderator would post."""


@dataclass(frozen=True)
class Verdict:
    """One reader's verdict on one reply: a score from 1 to 5, one of FITS, and any of FAULTS."""

    score: int
    fit: str
    faults: frozenset[str]


Verdicts = Mapping[str, Mapping[int, Verdict]]
"""Verdicts by reader, then by the number of the reply."""


@dataclass(frozen=True)
class SystemReading:
    """How a system did: its number of posts and drafts, and the readers' verdicts on replies in its own words.

    Shares are taken over all verdicts of both readers. `stood_in` is the share of posts for which another strategy
    wrote the draft. `agreement` is Pearson's r of the two readers' scores; NaN if it is not defined, as when one
    reader gave all the same score.
    """

    system: str
    posts: int
    drafted: float
    stood_in: float
    seconds: float
    read: int
    mean: float
    good: float
    answers: float
    false: float
    echoes: float
    agrees: float
    awkward: float
    agreement: float


def read_verdicts(paths: Iterable[Path], key: ReadingKey) -> dict[str, dict[int, Verdict]]:
    """Return the verdicts in files named `READER-….tsv`, by reader.

    Raises BadInput for a line that can't be used, and unless exactly two readers scored every reply of the sheets.
    """
    verdicts: dict[str, dict[int, Verdict]] = {}
    for path in paths:
        reader = verdicts.setdefault(path.stem.partition("-")[0], {})
        for place, line in enumerate(_lines(path), 1):
            if line.strip():
                number, verdict = _verdict(line, f"{path}, line {place}")
                if number not in key or number in reader:
                    raise BadInput(f"{path}, line {place}: {number} is there twice, or on no sheet.")
                reader[number] = verdict
    if len(verdicts) != 2:
        raise BadInput(f"Two readers are counted, not {len(verdicts)}; name their files `READER-1.tsv`.")
    for name, reader in verdicts.items():
        if missing := sorted(key.keys() - reader.keys()):
            raise BadInput(f"{name} has not scored {len(missing)} replies: {', '.join(map(str, missing[:10]))} …")
    return verdicts


def _lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return "".join(TextLines(file)).splitlines()


def _verdict(line: str, where: str) -> tuple[int, Verdict]:
    cells = [cell.strip() for cell in line.split("\t")]
    number, score, fit, faults = (*cells, "", "", "", "")[:4]
    named = frozenset(fault.strip() for fault in faults.split(",")) - {"", "-"}
    if not number.isdecimal() or score not in ("1", "2", "3", "4", "5") or fit not in FITS or named - set(FAULTS):
        raise BadInput(f"{where}: write number, score (1 to 5), fit ({', '.join(FITS)}) and faults, with tabs between.")
    return int(number), Verdict(int(score), fit, named)


def by_system(drafts: Iterable[SystemDraft], key: ReadingKey, verdicts: Verdicts) -> list[SystemReading]:
    """Return each system's summary, the best mean first; systems without a reply on the sheets are left out."""
    answers: dict[str, list[SystemDraft]] = {}
    for draft in drafts:
        answers.setdefault(draft.system, []).append(draft)
    readings = (
        _reading(system, answered, numbers, verdicts)
        for system, answered in answers.items()
        if (numbers := [number for number, item in key.items() if system in item["systems"]])
    )
    return sorted(readings, key=lambda reading: -reading.mean)


def _reading(system: str, answers: Sequence[SystemDraft], numbers: list[int], verdicts: Verdicts) -> SystemReading:
    own_verdicts = [verdict for reader in verdicts.values() for number in numbers for verdict in [reader[number]]]

    def share(holds: Callable[[Verdict], bool]) -> float:
        return fmean(holds(verdict) for verdict in own_verdicts)

    return SystemReading(
        system=system,
        posts=len(answers),
        drafted=fmean(bool(draft.text) for draft in answers),
        stood_in=fmean(bool(draft.text) and not own_words(draft) for draft in answers),
        seconds=fmean(draft.seconds for draft in answers),
        read=len(numbers),
        mean=fmean(verdict.score for verdict in own_verdicts),
        good=share(lambda verdict: verdict.score >= GOOD),
        answers=share(lambda verdict: verdict.fit == "2"),
        false=share(lambda verdict: "false" in verdict.faults),
        echoes=share(lambda verdict: "echo" in verdict.faults),
        agrees=share(lambda verdict: "agrees" in verdict.faults),
        awkward=share(lambda verdict: bool(verdict.faults & {"awkward", "garbled"})),
        agreement=agreement(verdicts, numbers),
    )


def agreement(verdicts: Verdicts, numbers: Iterable[int]) -> float:
    """Return Pearson's r of two readers' scores; NaN if it is not defined."""
    first, second = ([reader[number].score for number in numbers] for reader in verdicts.values())
    try:
        return correlation(first, second)
    except StatisticsError:
        return math.nan


def as_markdown(readings: Iterable[SystemReading]) -> str:
    """Return a Markdown table of the systems, for the documentation."""
    lines = [
        "| system | posts | with a draft | other stood in | s a post | read | mean | 4 or 5 | answers the post | false "
        "| echoes | agrees | awkward | readers' r |",
        "|---|" + "--:|" * 13,
    ]
    for reading in readings:
        shares = (reading.good, reading.answers, reading.false, reading.echoes, reading.agrees, reading.awkward)
        cells = (
            f"`{reading.system}`", str(reading.posts), f"{reading.drafted:.0%}", f"{reading.stood_in:.0%}",
            f"{reading.seconds:.1f}", str(reading.read), f"{reading.mean:.2f}", *(f"{share:.0%}" for share in shares),
            "–" if math.isnan(reading.agreement) else f"{reading.agreement:.2f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
