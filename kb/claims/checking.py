"""Report what is wrong with claims and facts on file: untranslated, unanswered, too long, or differing by language."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from core.domain import AttackKind, Intent
from kb.claims.loading import ClaimFiles, FilePlace
from kb.claims.records import LANGUAGES, FactKind, FiledClaim, FiledFact, Language, Speaker
from kb.paragraphs import sentences

log = logging.getLogger(__name__)

FEWEST_WORDINGS = 6
FEWEST_COUNTERS = 1
FEWEST_COUNTERS_IF_COMMON = 3
LONGEST_COUNTER = 160
LONGEST_FACT = 300
LONGEST_SHORT = 140
"""Most characters of each; a counter-claim, a fact's short form and the space between stay under 280 together."""

_NUMBERS = {
    "en": re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"),
    "other": re.compile(r"\d{1,3}(?:[.\u00a0\u202f]\d{3})+(?:,\d+)?|\d+(?:[.,]\d+)?"),
}

_YEAR = re.compile(r"(?<![\d.,])(?:1\d|20)\d\d(?!\d|[.,]\d)")
"""A year in English, where other numbers from 1,000 have a comma."""

_LABEL = re.compile(r"(?:\d[\d.,]* \w+|[A-Z]\w+(?: [A-Z]\w+)*(?:,? \(?\d{4}(?:[-/]\d+)?\)?)?): ")
_VERBLESS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(r"(?:No|Little|Very \w+) (?:\w+ )?(?:evidence|proof|risk) that (?!.*\b(?:is|are|was|were)\b)"),
    "es": re.compile(r"(?:Sin|Poc[oa]s|Ninguna) (?:indicios|pruebas?) (?:\w+ )?de que (?!.*(?:,|\b(?:hay|son|fue)\b))"),
    "it": re.compile(r"(?:Nessuna|Poch[ie]) (?:prov[ae]|indizi) (?:\w+ )?che (?!.*\b(?:è|sono|fu)\b)"),
}
"""Beginnings of notes: "Texas, 2012: …", "Little evidence that …". They miss some rather than refuse a sentence."""


@dataclass(frozen=True)
class ClaimProblem:
    """One thing to correct, and where."""

    place: FilePlace
    entry: str
    message: str
    usable: bool = False
    """Whether the entry can be used all the same."""

    def __str__(self) -> str:
        return f"{self.place}: {self.entry}: {self.message}"


def problems(files: ClaimFiles, under: str = "") -> list[ClaimProblem]:
    """Return everything that must be corrected in these files, in the order of the files.

    Only entries whose file begins with `under` are checked.
    """
    claims = [claim for claim in files.claims.values() if files.places[claim.id].file.startswith(under)]
    facts = [fact for fact in files.facts.values() if files.places[fact.id].file.startswith(under)]
    listed = [
        ClaimProblem(files.places[claim.id], claim.id, text) for claim in claims for text in _of_claim(claim, files)
    ]
    listed += [ClaimProblem(files.places[fact.id], fact.id, text) for fact in facts for text in _of_fact(fact, files)]
    listed += [
        ClaimProblem(files.places[fact.id], fact.id, text, usable=True) for fact in facts for text in _undated(fact)
    ]
    checked = {claim.id for claim in claims}
    listed += [ClaimProblem(files.places[claim], claim, text) for claim, text in _said_twice(files) if claim in checked]
    return sorted(listed, key=lambda problem: (problem.place.file, problem.place.line))


def without_faulty(files: ClaimFiles, own: Path) -> ClaimFiles:
    """Return the files without the faulty entries of a folder of one's own; log a warning for each.

    An entry that names a faulty one is faulty, too.
    """
    while listed := [problem for problem in problems(files, f"{own}/") if not problem.usable]:
        faulty = {problem.entry: problem for problem in reversed(listed)}
        for problem in faulty.values():
            log.warning("%s. The entry is not used: see `rejoinder kb claims check`.", problem)
        files = replace(
            files,
            claims={name: claim for name, claim in files.claims.items() if name not in faulty},
            facts={name: fact for name, fact in files.facts.items() if name not in faulty},
        )
    return files


def _of_claim(claim: FiledClaim, files: ClaimFiles) -> Iterator[str]:
    group = files.group_of(claim).value.replace("_", "-")
    if not claim.id.startswith(f"{group}-"):
        yield f"an id here begins with '{group}-'"
    if not claim.facts:
        yield "no fact answers it: name one, a norm at least"
    yield from (f"no fact is called '{fact}'" for fact in claim.facts if fact not in files.facts)
    yield from (
        f"fact '{fact}' is superseded by '{files.facts[fact].superseded_by}'"
        for fact in claim.facts
        if fact in files.facts and files.facts[fact].superseded_by
    )
    yield from _of_contempt(claim, [files.facts[fact].kind for fact in claim.facts if fact in files.facts])
    yield from _of_wider(claim, files)
    yield from (f"no gist in {language}" for language in LANGUAGES if language not in claim.gist)
    for language in LANGUAGES:
        if (count := len(claim.wordings.get(language, ()))) < FEWEST_WORDINGS:
            yield f"{count} wordings in {language}; {FEWEST_WORDINGS} are needed"
    fewest = FEWEST_COUNTERS_IF_COMMON if claim.common else FEWEST_COUNTERS
    for intent in Intent:
        for language in LANGUAGES:
            counters = claim.counter.get(intent, {}).get(language, ())
            if len(counters) < fewest:
                yield f"{len(counters)} {intent} counter-claims in {language}; {fewest} needed"
            for counter in counters:
                yield from problems_of_counter(counter, intent, language)


def _of_contempt(claim: FiledClaim, kinds: Sequence[FactKind]) -> Iterator[str]:
    """Yield what is wrong with the facts of a claim that asserts nothing to look up: no statistic answers contempt.

    A norm does, or what such words have led to.
    """
    finding_first = kinds[:1] == [FactKind.FINDING]
    if claim.finding_first and not finding_first:
        yield "`finding_first` gives a reason, but no finding comes first: remove it"
    if claim.kind is AttackKind.CLAIM or not kinds:
        return
    if FactKind.NORM not in kinds:
        yield f"no norm answers this {claim.kind}: name one"
    if finding_first and not claim.finding_first:
        yield f"a finding comes first, which answers no {claim.kind}: put a norm first, or say why in `finding_first`"


def _of_wider(claim: FiledClaim, files: ClaimFiles) -> Iterator[str]:
    if claim.instead_of is None:
        return
    wider = files.claims.get(claim.instead_of)
    if wider is None:
        yield f"it stands in for '{claim.instead_of}', and no claim is called that"
    elif files.group_of(wider) is not files.group_of(claim) or wider.instead_of is not None:
        yield f"it stands in for '{wider.id}', which is another group's or stands in for a claim itself"


def problems_of_counter(counter: str, intent: Intent, language: Language) -> Iterator[str]:
    """Yield the reasons why a counter-claim can't be said as it stands."""
    yield from _not_one_sentence(counter, language)
    if len(counter) > LONGEST_COUNTER:
        yield f"{len(counter)} characters, {LONGEST_COUNTER} at most: {counter!r}"
    if re.search(r"\d", counter):
        yield f"a counter-claim holds no figure, facts do: {counter!r}"
    if intent is Intent.QUESTIONING and not counter.rstrip('»”"').endswith("?"):
        yield f"a questioning counter-claim ends with a question mark: {counter!r}"


def _of_fact(fact: FiledFact, files: ClaimFiles) -> Iterator[str]:
    if not fact.superseded_by and not any(fact.id in claim.facts for claim in files.claims.values()):
        yield "no claim names it: put its id among the facts of a claim that it answers"
    if fact.superseded_by and fact.superseded_by not in files.facts:
        yield f"no fact is called '{fact.superseded_by}'"
    if fact.speaker not in files.speakers:
        yield f"no speaker is called '{fact.speaker}': add it to [speakers]"
    if fact.region not in files.regions:
        yield f"no region is called '{fact.region}': take one of those in facts/glossary.toml, or add it to `regions`"
    if fact.kind is not FactKind.NORM and str(fact.year) not in fact.text.get("en", ""):
        yield f"the sentence does not name the year {fact.year}"
    for form, texts, longest in (("text", fact.text, LONGEST_FACT), ("short", fact.short, LONGEST_SHORT)):
        for language in LANGUAGES:
            if language not in texts:
                yield f"no {form} in {language}"
                continue
            yield from (
                f"{form}, {problem}" for problem in _of_sentence(texts[language], language, longest, fact, files)
            )
        yield from (f"{form}, {problem}" for problem in _figures_that_differ(texts))
    yield from _figures_unlike_listed(fact, files)


def _undated(fact: FiledFact) -> Iterator[str]:
    """Yield that the short form has room for a year of the text and has none; a law holds whatever its year."""
    years = {year for year in _YEAR.findall(fact.text.get("en", "")) if int(year) <= fact.year}
    has_room = all(len(f"{short} ({fact.year})") <= LONGEST_SHORT for short in fact.short.values())
    if fact.kind is not FactKind.NORM and has_room and years.isdisjoint(_YEAR.findall(fact.short.get("en", ""))):
        yield f"short names no year, though each language has room for it: add '({fact.year})'"


def _of_sentence(text: str, language: Language, longest: int, fact: FiledFact, files: ClaimFiles) -> Iterator[str]:
    yield from _not_one_sentence(text, language)
    if _LABEL.match(text) or (language in _VERBLESS and _VERBLESS[language].match(text)):
        yield f"{language}: begins like a note and not like a sentence: {text!r}"
    if len(text) > longest:
        yield f"{language}: {len(text)} characters, {longest} at most"
    if fact.speaker in files.speakers and not any(
        name in text for name in files.speakers[fact.speaker].names(language)
    ):
        yield f"{language}: does not name its speaker ({' / '.join(files.speakers[fact.speaker].names(language))})"


def _not_one_sentence(text: str, language: Language) -> Iterator[str]:
    if len(sentences(text, language)) != 1 or text[-1] not in ".?!":
        yield f"{language}: not one whole sentence: {text!r}"


def _figures_that_differ(texts: dict[Language, str]) -> Iterator[str]:
    english = figures(texts.get("en", ""), "en")
    for language, text in texts.items():
        if (own := figures(text, language)) != english:
            yield f"{language}: figures {_listed(own)} differ from English {_listed(english)}"


def _figures_unlike_listed(fact: FiledFact, files: ClaimFiles) -> Iterator[str]:
    """Yield listed figures that the text or the quote lacks, and unlisted figures, which nobody checks."""
    read = figures(fact.text.get("en", ""), "en")
    yield from (
        f"the figure {figure} is not in the text" for figure in fact.figures if not figures(figure, "en") <= read
    )
    if fact.quote:
        # A quote is in the source's language, which is not on file.
        quoted = figures(fact.quote, "en") | figures(fact.quote, "es")
        yield from (
            f"the figure {figure} is not in the quote: say what the source says, or quote more of it"
            for figure in fact.figures
            if not figures(figure, "en") <= quoted
        )
    speaker = files.speakers.get(fact.speaker)
    for form, texts in (("text", fact.text), ("short", fact.short)):
        if unlisted := unlisted_figures(fact, speaker, texts):
            yield f"{form}: {_listed(unlisted)} not among its figures: list what the source says, or leave it out"


def unlisted_figures(fact: FiledFact, speaker: Speaker | None, texts: Mapping[Language, str]) -> frozenset[Decimal]:
    """Return the numbers that a form's English sentence states beside the fact's figures.

    Numbers by which the source is named are none of them.
    """
    names = (fact.title, fact.symbol, fact.locator, str(fact.year), *(speaker.en if speaker else ()))
    return figures(texts.get("en", ""), "en") - figures(" ".join((*fact.figures, *names)), "en")


def figures(text: str, language: Language) -> frozenset[Decimal]:
    """Return the numbers written in digits; English groups them by commas, the other languages by points or spaces."""
    english = language == "en"
    values: set[Decimal] = set()
    for written in _NUMBERS["en" if english else "other"].findall(text):
        if english:
            digits = written.replace(",", "")
        elif re.fullmatch(r"\d{1,3}([.\u00a0\u202f]\d{3})+(,\d+)?", written):
            digits = re.sub(r"[.\u00a0\u202f]", "", written).replace(",", ".")
        else:
            digits = written.replace(",", ".")
        values.add(Decimal(digits))
    return frozenset(values)


def _listed(values: Iterable[Decimal]) -> str:
    return "{" + ", ".join(map(str, sorted(values))) + "}"


def _said_twice(files: ClaimFiles) -> Iterator[tuple[str, str]]:
    """Yield claims that share a wording with another claim about the same group: a post could not tell them apart."""
    first: dict[tuple[str, str, str], str] = {}
    for claim in files.claims.values():
        for language, wordings in claim.wordings.items():
            for wording in wordings:
                other = first.setdefault((files.group_of(claim), language, wording.casefold()), claim.id)
                if other != claim.id:
                    yield claim.id, f"{language}: {wording!r} is a wording of '{other}' too"
