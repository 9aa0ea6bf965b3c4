"""The sheet on which a speaker of a language marks the sentences that they have read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from core.domain import Intent
from core.errors import BadInput
from core.spreadsheets import TextLines, read_rows
from kb.claims.loading import ClaimFiles
from kb.claims.records import FiledClaim, FiledFact, Language, Lines
from kb.claims.reviews import Reviews
from kb.claims.two_groups import FILE as TWO_GROUPS
from kb.claims.two_groups import two_groups

GOOD = frozenset({"x", "ok", "yes", "sí", "si", "bai"})
"""What a reader may write into `good`, in upper or lower case."""


@dataclass(frozen=True)
class SheetLine:
    """One sentence to be read beside the English one; the reader fills in `good` and `better`."""

    entry: str
    place: str
    what: str
    english: str
    sentence: str
    good: str = ""
    better: str = ""


COLUMNS = tuple(field.name for field in fields(SheetLine))


@dataclass(frozen=True)
class Marked:
    """A reader's marks: the sentences that are good, and those with a better wording."""

    good: tuple[str, ...]
    corrections: tuple[SheetLine, ...]


def lines(files: ClaimFiles, language: Language, reviews: Reviews) -> list[SheetLine]:
    """Return the sentences in a language that no speaker has read: what replies say by file, then what posts say."""
    listed = [line for claim in files.claims.values() for line in _of_claim(claim, language, files)]
    listed += _of_two_groups(language)
    listed += [line for fact in files.facts.values() for line in _of_fact(fact, language, files)]
    listed += [line for claim in files.claims.values() for line in _of_posts(claim, language, files)]
    return [line for line in listed if reviews.provisional(line.sentence, language)]


def write_sheet(path: Path, listed: Iterable[SheetLine]) -> None:
    """Write a sheet that spreadsheet programs open without an import dialogue."""
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(map(astuple, listed))


def read_sheet(path: Path) -> Marked:
    """Read what a speaker marked, in whatever form their program saved it.

    Raises BadInput, naming the line, for a missing column or an unknown word.
    """
    good: list[str] = []
    corrections: list[SheetLine] = []
    try:
        with path.open("rb") as file:
            for number, row in read_rows(TextLines(file), path, COLUMNS):
                line = SheetLine(*(row[column].strip() for column in COLUMNS))
                if line.better:
                    corrections.append(line)
                elif line.good.casefold() in GOOD:
                    good.append(line.sentence)
                elif line.good:
                    message = f"{path}:{number}: {line.good!r} under `good` is not known. Write x, or leave it empty."
                    raise BadInput(message)
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error}. Give the sheet that `kb review export` wrote.") from error
    return Marked(tuple(good), tuple(corrections))


def _of_claim(claim: FiledClaim, language: Language, files: ClaimFiles) -> Iterator[SheetLine]:
    yield from _of_counters(claim.id, str(files.places[claim.id]), claim.counter, language)


def _of_two_groups(language: Language) -> Iterator[SheetLine]:
    """Yield the counter-claims that name two groups, with the places for their names as they are on file."""
    yield from _of_counters("two groups", f"kb/data/{TWO_GROUPS}", two_groups().counter, language)


def _of_counters(entry: str, place: str, counters: Mapping[Intent, Lines], language: Language) -> Iterator[SheetLine]:
    for intent, by_language in counters.items():
        english = by_language.get("en", ())
        for number, sentence in enumerate(by_language.get(language, ())):
            yield SheetLine(entry, place, f"counter-claim, {intent}", "".join(english[number : number + 1]), sentence)


def _of_fact(fact: FiledFact, language: Language, files: ClaimFiles) -> Iterator[SheetLine]:
    place = str(files.places[fact.id])
    for what, texts in (("fact", fact.text), ("fact, short", fact.short)):
        if language in texts:
            yield SheetLine(fact.id, place, what, texts.get("en", ""), texts[language])


def _of_posts(claim: FiledClaim, language: Language, files: ClaimFiles) -> Iterator[SheetLine]:
    """Yield a claim's gist and its wordings, each beside the English gist: wordings are no translations."""
    place, english = str(files.places[claim.id]), claim.gist.get("en", "")
    if language in claim.gist:
        yield SheetLine(claim.id, place, "claim", english, claim.gist[language])
    for wording in claim.wordings.get(language, ()):
        yield SheetLine(claim.id, place, "claim, as posts word it", english, wording)
