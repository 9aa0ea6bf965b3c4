"""Look starter statements and facts up in the source texts, where they lie beside the checkout (../shared/kb)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.domain import TargetGroup
from kb.claims.loading import load_claims
from kb.claims.records import FiledFact
from kb.starter import StarterStatement, load_starter

STATEMENTS = load_starter()
FACTS = load_claims().facts
RESEARCHED = [fact for fact in FACTS.values() if fact.research]
RESEARCH = Path(__file__).parents[2] / "../shared/kb/facts"
HOSTS = {
    "United Nations": r"https://(docs\.un\.org|www\.ohchr\.org|treaties\.un\.org)/",
    "European Union": r"https://eur-lex\.europa\.eu/",
    "EU Agency for Fundamental Rights": r"https://fra\.europa\.eu/",
    "Council of Europe": r"https://www\.coe\.int/",
}
OHCHR = "https://www.ohchr.org/en/instruments-mechanisms/instruments/"
# The United Nations Treaty Series numbers treaties; the sites that show them go by other names.
UNTS = {
    "2545": (
        f"{OHCHR}convention-relating-status-refugees",
        "https://treaties.un.org/Pages/ViewDetailsII.aspx?src=TREATY&mtdsg_no=V-2&chapter=5&Temp=mtdsg2&clang=_en",
    ),
    "6193": (f"{OHCHR}convention-against-discrimination-education",),
    "8791": (f"{OHCHR}protocol-relating-status-refugees",),
}


def _shows(url: str, symbol: str) -> bool:
    """Say whether a link leads to the document with this symbol, CELEX number, treaty number or page name."""
    if symbol.startswith("A/RES/"):
        return url == f"https://docs.un.org/en/{symbol}"
    if series := re.fullmatch(r"UNTS No\. (\d+)", symbol):
        return url in UNTS[series[1]]
    if treaty := re.fullmatch(r"C?ETS No\. (\d+)", symbol):
        return url.endswith(f"/conventions/full-list?module=treaty-detail&treatynum={int(treaty[1]):03}")
    if act := re.fullmatch(r"3(\d{4})([LR])(\d{4})", symbol):
        kind = {"L": "dir", "R": "reg"}[act[2]]
        return url.endswith(f"/eli/{kind}/{act[1]}/{int(act[3])}/oj")
    if re.match(r"\d{5}", symbol):
        return url.endswith(f"?uri=CELEX:{symbol}")
    return re.fullmatch(rf"\S+/en/(publication|news)/\d{{4}}/{re.escape(symbol)}", url) is not None


def _of(group: TargetGroup) -> list[StarterStatement]:
    return [statement for statement in STATEMENTS if statement.id.split("-")[0] == group.value.split("_")[0]]


def _problems(
    statement: StarterStatement | FiledFact, read_source: Callable[[str], Any], documents: Any
) -> Iterator[str]:
    document = read_source(statement.document)
    if document is None:
        yield f"no document {statement.document}"
        return
    text = document.at(statement.locator, statement.url.rstrip("/").rsplit("/", 1)[-1].casefold())
    if text is None:
        yield f"{statement.document} has no {statement.locator}"
        return
    normal = documents.normalise(text)
    yield from (
        f"'{term}' is not at {statement.locator} of {statement.document}"
        for term in statement.terms
        if documents.normalise(term) not in normal
    )
    known = documents.numbers(f"{text} {statement.title} {statement.symbol} {statement.year}")
    known |= set(re.findall(r"\d+", f"{statement.locator} {statement.symbol}"))
    yield from (
        f"the figure {number} is not at {statement.locator} of {statement.document}"
        for number in sorted(documents.numbers(_english(statement)) - known)
    )
    yield from _disagreements(statement, document.facts, documents)


def _english(statement: StarterStatement | FiledFact) -> str:
    return statement.text["en"] if isinstance(statement, FiledFact) else statement.text


def _disagreements(statement: StarterStatement | FiledFact, facts: dict[str, str], documents: Any) -> Iterator[str]:
    for field in ("symbol", "year"):
        if facts.get(field) and facts[field] != str(getattr(statement, field)):
            yield f"{field} is {getattr(statement, field)}, the document says {facts[field]}"
    if facts.get("title") and documents.normalise(facts["title"]) != documents.normalise(statement.title):
        yield f"title is '{statement.title}', the document says '{facts['title']}'"
    if celex := facts.get("celex"):
        if statement.symbol != celex and statement.symbol != f"0{celex}":
            yield f"symbol is {statement.symbol}, the document's CELEX number is {celex}"
        if celex[1:5] != str(statement.year):
            yield f"year is {statement.year}, the CELEX number says {celex[1:5]}"


def _check_all(faults_of: Callable[[StarterStatement], Iterator[str]]) -> None:
    """Look at every statement, and fail with a list of all faults."""
    faults = [f"{statement.id}: {fault}" for statement in STATEMENTS for fault in faults_of(statement)]
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults)


def test_every_statement_is_found_in_its_document(read_source: Callable[[str], Any], documents: Any) -> None:
    _check_all(lambda statement: _problems(statement, read_source, documents))


def test_a_changed_figure_or_term_would_be_noticed(read_source: Callable[[str], Any], documents: Any) -> None:
    with_figures = [s for s in STATEMENTS if re.search(r"\d%|\d{2,}", s.text)]
    assert with_figures
    for s in with_figures:
        changed = s.model_copy(update={"text": re.sub(r"\d+", "987", s.text), "terms": ("no such words",)})
        assert len(list(_problems(changed, read_source, documents))) >= 2, s.id


def test_every_fact_with_a_document_is_found_in_it(read_source: Callable[[str], Any], documents: Any) -> None:
    quoted = [fact for fact in FACTS.values() if fact.document]
    assert all(fact.terms for fact in quoted)
    faults = [f"{fact.id}: {fault}" for fact in quoted for fault in _problems(fact, read_source, documents)]
    assert not faults, "\n".join(faults)


def test_a_changed_fact_would_be_noticed(read_source: Callable[[str], Any], documents: Any) -> None:
    for fact in [fact for fact in FACTS.values() if fact.document][::10]:
        changed = {"text": {**fact.text, "en": "It was 987 per cent."}, "terms": ("no such words",)}
        assert len(list(_problems(fact.model_copy(update=changed), read_source, documents))) >= 2, fact.id


@pytest.fixture(scope="module")
def research() -> dict[str, Any]:
    """Return the research records by id."""
    if not RESEARCH.is_dir():
        pytest.skip("the research (../shared/kb/facts) is not beside this checkout")
    lines = (line for path in sorted(RESEARCH.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines())
    return {record["id"]: record for record in map(json.loads, lines)}


def test_every_figure_of_a_researched_fact_stands_in_the_words_that_were_found(research: dict[str, Any]) -> None:
    assert RESEARCHED
    faults = [
        f"{fact.id}: {figure!r} is not in the quote of {fact.research}"
        for fact in RESEARCHED
        for figure in fact.figures
        if not _numerals(figure) <= _numerals(research[fact.research]["quote"])
    ]
    assert not faults, "\n".join(faults)


def test_no_fact_is_surer_or_nearer_to_its_source_than_its_research(research: dict[str, Any]) -> None:
    assert not [
        fact.id
        for fact in RESEARCHED
        if (research[fact.research]["secondhand"] and not fact.secondhand)
        or (research[fact.research]["strength"] == "fair" and fact.strength != "fair")
    ]


def _numerals(text: str) -> set[str]:
    """Return the numbers of a quote in any language, a point or comma within one being the same."""
    numerals = re.findall(r"\d+(?:[.,]\d+|[ \u00a0\u202f]\d{3}(?!\d))*", text)
    return {re.sub(r"[ \u00a0\u202f,.](?=\d{3}(?!\d))", "", numeral).replace(",", ".") for numeral in numerals}


def _faults_of_wording(statement: StarterStatement) -> Iterator[str]:
    text, words = statement.text, len(statement.text.split())
    faults = {
        f"{words} words": not 12 <= words <= 45,
        "no full stop at its end": text[-1] not in ".!",
        "no capital at its start": not (text[0].isupper() or text[0].isdigit()),
        "more than two sentences": len(re.findall(r"(?<!No)[.!?](?=\s+[A-Z])", text)) > 1,
        "it says `shall`": re.search(r"\bshall\b", text),
        "a conclusion that the document does not draw": re.search(r", so (?!that\b)", text),
        "answers nothing": not statement.answers,
        f"terms of one word, or of many: {statement.terms}": any(
            not 1 < len(term.split()) <= 8 for term in statement.terms
        ),
    }
    yield from (fault for fault, there in faults.items() if there)


def test_every_statement_is_ready_to_quote() -> None:
    _check_all(_faults_of_wording)


def _faults_of_link(statement: StarterStatement) -> Iterator[str]:
    if not re.match(HOSTS[statement.institution], statement.url):
        yield f"{statement.url} is not of {statement.institution}"
    if not _shows(statement.url, statement.symbol):
        yield f"{statement.url} does not show {statement.symbol}"


def test_every_link_leads_to_the_institution_and_to_the_document() -> None:
    _check_all(_faults_of_link)


def test_faults_of_wording_and_link_would_be_noticed() -> None:
    good = STATEMENTS[0]
    broken = good.model_copy(
        update={"text": "it shall, so be", "terms": ("word",), "answers": (), "url": "https://x.org"}
    )
    assert len(list(_faults_of_wording(broken))) == 7
    assert len(list(_faults_of_link(broken))) == 2
    assert not [*_faults_of_wording(good), *_faults_of_link(good)]


def test_a_link_to_another_document_would_be_noticed() -> None:
    symbols = {s.symbol for s in STATEMENTS}
    assert not [s.id for s in STATEMENTS for other in symbols - {s.symbol} if _shows(s.url, other)]


def test_every_statement_has_the_group_of_its_file_first() -> None:
    assert sorted(s.id for group in TargetGroup for s in _of(group)) == sorted(s.id for s in STATEMENTS)
    assert not [s.id for group in TargetGroup for s in _of(group) if group not in s.groups]


def test_no_two_statements_say_nearly_the_same() -> None:
    words = [(s.id, set(re.findall(r"\w+", s.text.casefold()))) for s in STATEMENTS]
    alike = [(a, b) for i, (a, x) in enumerate(words) for b, y in words[i + 1 :] if len(x & y) >= 0.8 * len(x | y)]
    assert not alike


def test_statements_of_one_document_agree_on_its_title_symbol_and_year() -> None:
    seen: dict[str, set[tuple[str, str, int, str]]] = {}
    for s in STATEMENTS:
        if s.locator != "Page text":
            seen.setdefault(s.document, set()).add((s.title, s.symbol, s.year, s.institution))
    assert not {document: cites for document, cites in seen.items() if len(cites) > 1}
