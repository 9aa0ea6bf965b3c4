"""Check that every proper name in a reply occurs in its evidence or in the post."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from core.domain import Evidence
from core.settings import GuardSettings
from pipeline.guard.borne_out import known_quantities
from pipeline.guard.figures import figures
from pipeline.guard.lexicon import table, words_pattern
from pipeline.guard.material import GuardContext, Material, Part, group_pattern, terms_pattern
from pipeline.guard.measurement import Measurement
from pipeline.guard.quantities import Kind, is_majority, quantities
from pipeline.guard.words import claim_stems, common_start, fold, function_words, stem, stems, word_spans, words
from pipeline.languages import DEFAULT, pack

SHORTEST_ROOT = 7
"""Letters that two words must begin with in common to be forms of one name; fewer would join Austria and Australia."""
LONGEST_ENDING = 5
_ACRONYM = re.compile(r"([A-Z]{2,})(?:['’]?[a-z]{1,5})?$")
"""An acronym, perhaps with an ending."""
_CAPITALISED = re.compile(r"\b[A-Z]")
_RUN = re.compile(r"\b[A-Z][\w'’-]*(?:,?\s(?:[A-Z][\w'’-]*|[a-z'’]{1,6}))*")
"""A name of several words, including short words between them."""
_ROW = re.compile(r"\b[A-Z]\w+(?:\s[A-Z]\w+){2,}")
"""A name of three words or more without any between them."""
SHORTEST_ACRONYM = 3
"""Fewest letters of an acronym that may stand for some words of a name; fewer must stand for a whole institution."""
_ELIDED = re.compile(r"^\w{1,6}['’](?=[A-Z])")
"""An article elided before a name: "l'UNICEF"."""
_FIGURE = re.compile(r"\d")
_ASIDE = re.compile(r"\([^()]*\)")
_WORD = re.compile(r"[^\W\d_]+\d*(?:['’.-][^\W\d_]+)*")


def names(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check names of people, places and bodies, and appeals to findings ("studies show").

    A capital inside a sentence makes a name. At a sentence's start only a known country or body, an acronym, an inner
    capital or a second capitalised word does; in a language that capitalises nouns, only the first three do, anywhere.
    Names may come from the evidence, its source or the post, or be a target group's. The evidence must bear out an
    appeal, unless the reply quotes a sentence with a figure. `value` counts the names and appeals without support.
    """
    known = known_names(reply)
    unknown = [
        name
        for part in reply.parts
        if not part.quoted
        for name in names_in(part, reply.language)
        if not _is_known(name, known, reply)
    ]
    if not any(part.quoted and _FIGURE.search(part.text) for part in reply.parts):
        unknown += [
            word
            for part in reply.parts
            if not part.quoted
            for word in _appeals_of(part, reply)
            if not _is_borne_out(word, known, reply, context)
        ]
    detail = f"Not in the evidence: {', '.join(f'“{name}”' for name in dict.fromkeys(unknown))}." if unknown else ""
    return Measurement(passed=not unknown, value=len(unknown), threshold=0, detail=detail)


def _appeals_of(part: Part, reply: Material) -> Iterator[str]:
    """Yield the words of a sentence that appeal to findings, except of a source that it names: "experts at WHO"."""
    sources = [_of_source(statement.evidence, reply.language) for statement in reply.statements]
    for word, (_, end) in zip(part.words, word_spans(part.folded), strict=True):
        if word in _appeals(reply.language) and not any(source.match(part.folded, end) for source in sources):
            yield word


def _is_borne_out(appeal: str, known: frozenset[str], reply: Material, context: GuardContext) -> bool:
    """Tell whether the evidence supports an appeal: by the word itself, by another study, or by more than a half."""
    research = words_pattern("research", reply.language)
    if stem(appeal, reply.language) in known:
        return True
    if research.fullmatch(appeal):
        studied = words_pattern("studied", reply.language)
        texts = [_folded(statement.evidence) for statement in reply.statements]
        return any(research.search(text) or studied.search(text) or _asked(text, reply.language) for text in texts)
    given = known_quantities(reply, context)
    return is_majority(appeal, reply.language) and (given.majority or max(given.of_kind(Kind.SHARE), default=0) > 50)


def _asked(text: str, language: str) -> bool:
    """Tell whether folded evidence gives a share of those who were asked."""
    return words_pattern("asked", language).search(text) is not None and (
        any(figure.percent for figure in figures(text, language))
        or any(quantity.kind is Kind.SHARE for quantity in quantities(text, language))
    )


def names_in(part: Part, language: str) -> Iterator[str]:
    """Yield the words of a sentence that look like proper names, except those of target groups."""
    entry = pack(language)
    matches = list(_WORD.finditer(part.text))
    for position, match in enumerate(matches):
        word = _ELIDED.sub("", match.group())
        if not word[0].isupper() or word in entry.never_names or group_pattern().fullmatch(fold(word)):
            continue
        begins = position == 0 or part.text[: match.start()].rstrip().endswith((":", "“", '"', "«", "¿", "¡"))
        plain = begins or entry.capitalised_nouns
        if not plain or _is_plainly_a_name(
            word, matches[position + 1].group() if position + 1 < len(matches) else "", language
        ):
            yield word


def _is_plainly_a_name(word: str, following: str, language: str) -> bool:
    if _listed(language).fullmatch(fold(word)):
        return True
    if any(char.isupper() for char in word[1:]) and len(word) > 1:
        return True
    if pack(language).capitalised_nouns:
        return False
    common = fold(word) in function_words(language) or stem(fold(word), language) in claim_stems(language)
    return not common and following[:1].isupper() and following not in pack(language).never_names


def _is_of_a_named_country(word: str, reply: Material) -> bool:
    """Tell whether a word is a name of a country that post or evidence name, or a word derived from it."""
    named = " ".join((*reply.post_words, *(_folded(statement.evidence) for statement in reply.statements)))
    return any(country.fullmatch(word) and country.search(named) for country in _countries())


def _is_known(name: str, known: frozenset[str], reply: Material) -> bool:
    """Tell whether post or evidence have a name; an acronym must occur as one: "the WHO" is not found in "who"."""
    if name.isupper() and len(name) > 1 and fold(name) in function_words(reply.language):
        sources = [_with_source(statement.evidence) for statement in reply.statements]
        return any(name in _WORD.findall(text) or name in _other_names(text) for text in sources)
    acronym = _ACRONYM.match(name)
    if acronym and (stem(fold(acronym[1]), reply.language) in known or _abbreviates(acronym[1], reply)):
        return True
    empty = function_words(reply.language)
    return all(
        stem(word, reply.language) in known
        or any(_same_root(word, other) for other in known)
        or _is_of_a_named_country(word, reply)
        for word in words(name)
        if word not in empty
    )


def _abbreviates(acronym: str, reply: Material) -> bool:
    """Tell whether the letters are initials, in order, in a name of the evidence or its source: "ONS", "NHGRI"."""
    evidence = [statement.evidence for statement in reply.statements]
    if len(acronym) < SHORTEST_ACRONYM:
        return any(acronym == "".join(_CAPITALISED.findall(each.source.institution)) for each in evidence)
    names = (name for each in evidence for name in (each.source.institution, each.source.title))
    runs = (run for name in names for run in _RUN.findall(name))
    initials = ("".join(_CAPITALISED.findall(run)) for run in runs)
    in_text = ("".join(_CAPITALISED.findall(run)) for each in evidence for run in _ROW.findall(each.text))
    return acronym in in_text or any(_is_in_order(acronym, letters) for letters in initials)


def _is_in_order(acronym: str, initials: str) -> bool:
    """Tell whether the letters occur in a row among the initials, with at most one initial skipped."""
    return any(
        acronym in (window, *(window[:left_out] + window[left_out + 1 :] for left_out in range(1, len(window))))
        for start in range(len(initials))
        for window in (initials[start : start + len(acronym)], initials[start : start + len(acronym) + 1])
    )


def _with_source(evidence: Evidence) -> str:
    source = evidence.source
    aliases: list[str] = table("names")["aliases"].get(source.institution, [])
    return f"{evidence.text} {source.institution} {source.title} {' '.join(aliases)}"


def _same_root(word: str, known: str) -> bool:
    """Tell whether two words may be forms of one name, where a language hangs its endings on names."""
    shared = common_start(word, known)
    whole = shared == len(known) >= SHORTEST_ROOT - 1
    return (whole or shared >= SHORTEST_ROOT) and shared >= len(word) - LONGEST_ENDING


@lru_cache(maxsize=32)
def _listed(language: str) -> re.Pattern[str]:
    # English names are written in every language.
    countries = (*pack(DEFAULT).countries, *pack(language).countries)
    return re.compile(terms_pattern([*countries, *table("names")["bodies"]]))


@lru_cache(maxsize=32)
def _appeals(language: str) -> frozenset[str]:
    return frozenset(fold(word) for word in pack(language).appeals)


def known_names(reply: Material) -> frozenset[str]:
    """Return the stems of all words of post and evidence, and of other names for the evidence's places and bodies."""
    evidence = (_of_evidence(statement.evidence, reply.language) for statement in reply.statements)
    return stems(reply.post_words, reply.language).union(*evidence)


def _other_names(text: str) -> list[str]:
    """Return all names of the places and bodies that `text` names, and the names that these imply."""
    return [name for pattern, names in (*_same_names(), *_implied_names()) if pattern.search(text) for name in names]


@lru_cache(maxsize=1)
def _countries() -> tuple[re.Pattern[str], ...]:
    """Return a pattern for each country, over folded text; it matches its names and words derived from them."""
    listed: list[list[str]] = table("names")["countries"]
    endings = "|".join(table("names")["endings"])
    forms = ([name[:-1] if name.endswith(".") else f"{name}(?:{endings})" for name in names] for names in listed)
    return tuple(re.compile(rf"\b(?:{'|'.join(either)})\b") for either in forms)


@lru_cache(maxsize=2048)
def _folded(evidence: Evidence) -> str:
    return fold(_with_source(evidence))


@lru_cache(maxsize=1)
def _same_names() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    groups: list[list[str]] = table("names")["same"]
    return tuple((_any_of(names), tuple(names)) for names in groups)


@lru_cache(maxsize=1)
def _implied_names() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    return tuple((_any_of(entry["by"]), tuple(entry["names"])) for entry in table("names")["implied"])


def _any_of(names: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(_as_written, names))})\b", re.IGNORECASE)


def _as_written(name: str) -> str:
    """Return a pattern for a name; it matches acronyms in capitals only, so that "us" and "who" are none."""
    return rf"(?-i:{re.escape(name)})" if name.isupper() else re.escape(name)


@lru_cache(maxsize=2048)
def _of_source(evidence: Evidence, language: str) -> re.Pattern[str]:
    """Return a pattern, over folded text, for what names a source after its findings: "of the United Nations".

    Its name must be whole, without what is in brackets, or be an acronym: "of the world" is no World Health
    Organization. Other single words, such as "European", may name others, too.
    """
    name = evidence.source.institution
    known = [*table("names")["aliases"].get(name, []), *_WORD.findall(name)]
    for pattern, names in _same_names():
        named = pattern.search(name)
        known += names if named and _is_distinct(named.group()) else []
    whole = (name, _ASIDE.sub("", name).strip(), *filter(_is_distinct, known))
    forms = "|".join(re.escape(fold(each)) for each in whole if each) or "(?!)"
    return re.compile(rf"\s(?:{words_pattern('whose', language).pattern})['\s]\s?(?:{forms})(?!\w)")


def _is_distinct(name: str) -> bool:
    """Tell whether a name is an acronym or has several words."""
    return name.isupper() or " " in name


@lru_cache(maxsize=2048)
def _of_evidence(evidence: Evidence, language: str) -> frozenset[str]:
    source = evidence.source
    also: list[str] = [*table("names")["aliases"].get(source.institution, []), *pack(language).locators]
    also += _other_names(f"{evidence.text} | {source.institution} | {source.title}")
    folded = words(f"{evidence.text} {source.institution} {source.title} {source.symbol} {' '.join(also)}")
    # A stemmer may cut off too much of a name ("Lanbide" becomes "lan"), so the unstemmed words count as well.
    return stems(folded, language).union(folded)
