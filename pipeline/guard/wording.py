"""Check that a statement of fact neither exceeds its evidence nor says something else in nearly the same words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from core.domain import Evidence
from core.settings import GuardSettings
from pipeline.guard.borne_out import IsExplained, explained, given_by, known_quantities
from pipeline.guard.cues import negated, refutations
from pipeline.guard.figures import Figure, figures, word_value
from pipeline.guard.lexicon import table, words_pattern
from pipeline.guard.material import GuardContext, Material, Part, Statement, with_citation
from pipeline.guard.measurement import Measurement
from pipeline.guard.names import known_names
from pipeline.guard.numbers import SYMBOL
from pipeline.guard.quantities import marker_before, names_first_article
from pipeline.guard.support import is_statement, without_asides
from pipeline.guard.words import claim_stems, common_start, content, fold, stem, word_spans, words
from pipeline.languages import pack

NEAR_COPY = 0.75
"""Share of a sentence's content words in one statement from which an unknown word is a swap, not a paraphrase."""
COPY = 0.85
"""Share of content words from which every unknown word is a swap, wherever it stands."""
FEWEST_SHARED = 4
LONGEST_SWAP = 3
"""Most words in whose place an unknown word is a swap; where more differ, the sentence is a retelling."""
LONGEST_ENDING = 4
"""Most letters by which two forms of one word may differ at the end."""
_ASIDE = re.compile(r"\([^()]*\)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BREAK = re.compile(r"[,;:.()](?!\d)")
BREAK = 10
"""How many words a break counts for in the distance between two figures."""


def no_overclaim(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that a statement of fact says "proved", "never" or "all" only if its evidence does.

    `value` counts the words that claim more.
    """
    evidence = " ".join(fold(statement.evidence.text) for statement in reply.statements)
    pattern, universal = words_pattern("absolute", reply.language), words_pattern("universal", reply.language)
    known = {stem(match.group(), reply.language) for match in pattern.finditer(evidence)}
    speaks_of_all = universal.search(evidence) is not None
    strong = [
        match.group()
        for part in _statements(reply)
        for match in pattern.finditer(part.folded)
        if stem(match.group(), reply.language) not in known
        and not (speaks_of_all and universal.fullmatch(match.group()))
        and marker_before(part.folded, match.start(), reply.language) != "under"
    ]
    detail = f"Claims more than its evidence: {', '.join(f'“{word}”' for word in dict.fromkeys(strong))}."
    return Measurement(not strong, len(strong), 0, detail if strong else "")


def no_swap(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that a sentence which nearly copies a statement of evidence puts no unknown word into it.

    Such a word exchanges a subject or a verb: "many tourists see a phone as critical" for "many refugees". Nor may two
    words change places, or a figure come from elsewhere. A sentence with less in common must still not turn a word into
    its opposite: "fell" for "rose". `value` counts the words at fault.
    """
    quantities = known_quantities(reply, context)
    strange = [
        word
        for part in _statements(reply)
        for statement in reply.statements
        if _nearly_copies(part, statement)
        for word in (
            *_strange(part, statement, reply, explained(part.folded, reply.language, quantities), context.year),
            *_changed_places(part, statement, reply.language),
            *_changed_sides(part, statement, reply.language),
            *_changed_figures(part, statement, reply.language),
        )
    ]
    strange += [
        word
        for part in reply.parts
        if not part.quoted
        for statement in reply.statements
        if len(part.content & statement.content) >= FEWEST_SHARED
        for word in _turned_round(part, statement, reply.language)
    ]
    detail = f"Unlike the evidence that it nearly copies: {', '.join(f'“{word}”' for word in dict.fromkeys(strange))}."
    return Measurement(not strange, len(strange), 0, detail if strange else "")


def _turned_round(part: Part, statement: Statement, language: str) -> list[str]:
    """Return the words of a sentence for which the statement has the opposite."""
    evidence = fold(statement.evidence.text)
    turned = []
    opposites = [] if negated(part.folded, language) else table("speech")["opposites"].get(language, [])
    for pair in (*opposites, *table("speech")["people"].get(language, [])):
        patterns = [re.compile(rf"(?<!\w)(?:{side})(?!\w)") for side in pair]
        for own, other in (patterns, patterns[::-1]):
            word = own.search(part.folded)
            if word and not other.search(part.folded) and other.search(evidence) and not own.search(evidence):
                turned.append(word.group())
    return turned


def _statements(reply: Material) -> list[Part]:
    return [
        part
        for part in reply.parts
        if not part.quoted and is_statement(part, reply) and not refutations(part.folded, reply.language)
    ]


def _nearly_copies(part: Part, statement: Statement) -> bool:
    shared = part.content & statement.content
    known = part.content & (statement.content | statement.named)
    return len(shared) >= FEWEST_SHARED and len(known) >= NEAR_COPY * len(part.content)


def _strange(part: Part, statement: Statement, reply: Material, is_explained: IsExplained, this_year: int) -> list[str]:
    """Return the words of a near copy that nothing accounts for, and its figures that the statement does not give."""
    known = reply.supporting | known_names(reply) | claim_stems(reply.language)
    saying = words_pattern("saying", reply.language)
    copied = len(part.content & (statement.content | statement.named)) >= COPY * len(part.content)
    replaced = part.content if copied else _replaced(part, statement, reply.language)
    end = _end_of_copy(part, statement, reply.language)
    strange = [
        word
        for word, span in list(zip(part.words, word_spans(part.folded), strict=True))[:end]
        if stem(word, reply.language) in replaced
        and not word.isdigit()
        and stem(word, reply.language) in part.content - known
        and not saying.fullmatch(word)
        and not _has_synonym(word, statement, reply.language)
        and not is_explained(*span)
        and not word_value(word, reply.language)
        and not any(_alike(word, other) for other in known)
    ]
    own, told = part.folded, fold(statement.evidence.text)
    if _is_negated(own, told, reply.language) == _is_negated(told, own, reply.language):
        turned = _stands_for_a_turn(part, statement, reply.language)
        strange = [word for word in strange if _turns(word, reply.language) or stem(word, reply.language) in turned]
    strange += _strange_figures(part, statement, reply.language, this_year)
    exchanged = len(statement.content - part.content) >= len(strange)
    return strange if exchanged else []


def _is_negated(text: str, other: str, language: str) -> bool:
    return negated(without_asides(text, other, language), language)


def _stands_for_a_turn(part: Part, statement: Statement, language: str) -> frozenset[str]:
    """Return the stems that replace words of the statement which have an opposite."""
    return frozenset(
        stem(word, language)
        for words_there, words_told in _replacements(part, statement, language)
        if any(_has_opposite(word, language) for word in words_told)
        for word in words_there
    )


def _turns(word: str, language: str) -> bool:
    """Tell whether a word changes a statement it is put into: it means people or bodies, or it has an opposite."""
    return words_pattern("somebody", language).fullmatch(word) is not None or _has_opposite(word, language)


def _has_opposite(word: str, language: str) -> bool:
    return any(side.fullmatch(word) for side in _opposite_sides(language))


@lru_cache(maxsize=16)
def _opposite_sides(language: str) -> tuple[re.Pattern[str], ...]:
    pairs: list[list[str]] = table("speech")["opposites"].get(language, [])
    return tuple(re.compile(side) for pair in pairs for side in pair)


def _has_synonym(word: str, statement: Statement, language: str) -> bool:
    """Tell whether the statement has a synonym of the word."""
    evidence = fold(statement.evidence.text)
    return any(each.fullmatch(word) and each.search(evidence) for each in _synonyms(language))


@lru_cache(maxsize=16)
def _synonyms(language: str) -> tuple[re.Pattern[str], ...]:
    listed: list[str] = table("speech")["synonyms"].get(language, [])
    return tuple(re.compile(rf"(?<!\w)(?:{either})(?!\w)") for either in listed)


def _replaced(part: Part, statement: Statement, language: str) -> frozenset[str]:
    """Return the stems that replace a few words of the statement, between words that both texts have."""
    there = (words_there for words_there, _ in _replacements(part, statement, language))
    return frozenset(stem(word, language) for words_there in there for word in words_there)


def _replacements(part: Part, statement: Statement, language: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield a few words of a sentence, and the few words of the statement that they replace."""
    own, others = (
        [(word, root) for word, root in ((word, stem(word, language)) for word in sequence) if root in known]
        for sequence, known in ((part.words, part.content), (statement.words, statement.content))
    )
    roots = [root for _, root in own], [root for _, root in others]
    for kind, start, end, first, last in SequenceMatcher(None, *roots, autojunk=False).get_opcodes():
        if kind == "replace" and max(end - start, last - first) <= LONGEST_SWAP:
            yield [word for word, _ in own[start:end]], [word for word, _ in others[first:last]]


def _strange_figures(part: Part, statement: Statement, language: str, this_year: int) -> list[str]:
    """Return the figures in digits that neither the statement nor its source gives, except rounded ones."""
    evidence = statement.evidence
    known = {*figures(f"{evidence.text} | {evidence.source.title} | {evidence.source.year}", evidence.language)}
    values = {figure.value for figure in known}
    if names_first_article(fold(evidence.text), evidence.language):
        values.add(1.0)
    is_explained = explained(part.folded, language, given_by(evidence, this_year))
    cited = _cited(part.folded, evidence, language)
    return [
        figure.text
        for figure in figures(part.text, language)
        if figure.text[:1].isdigit() and figure.value not in values and not is_explained(figure.start, figure.end)
        if not any(start <= figure.start and figure.end <= end for start, end in cited)
    ]


def _cited(text: str, evidence: Evidence, language: str) -> list[tuple[int, int]]:
    """Return the spans of folded `text` that repeat the evidence's symbol, or its locator: "A/76/254", "article 14"."""
    citation = fold(with_citation(evidence))
    locator = re.compile(rf"\b(?:{'|'.join(map(fold, pack(language).locators)) or '(?!)'})\s(?P<place>\d+)")
    places = {figure.value for figure in figures(evidence.source.locator, language)}
    return [
        *(match.span() for match in SYMBOL.finditer(text) if match.group().rstrip(".") in citation),
        *(match.span() for match in locator.finditer(text) if float(match["place"]) in places),
    ]


def _end_of_copy(part: Part, statement: Statement, language: str) -> int:
    """Return the position after the last copied word; what follows it is an addition, for `supported` to weigh."""
    copied = [place for place, word in enumerate(part.words) if stem(word, language) in statement.content]
    return copied[-1] + 1 if copied else 0


def _alike(word: str, known: str) -> bool:
    """Tell whether two words may be forms of one that a stemmer leaves apart, as in languages with many endings."""
    shared = common_start(word, known)
    return shared >= max(4, len(word) - LONGEST_ENDING) or (len(word) >= 6 and known.endswith(word))


def _changed_sides(part: Part, statement: Statement, language: str) -> list[str]:
    """Return words that stand on the other side of "than" than in the statement, if words of both sides do."""
    than = words_pattern("than", language)
    sides = [than.split(text) for text in (part.folded, fold(statement.evidence.text))]
    if any(len(side) != 2 for side in sides):
        return []
    (before, after), (known_before, known_after) = ([content(words(text), language) for text in side] for side in sides)
    over = before & (known_after - known_before), after & (known_before - known_after)
    return sorted(over[0] | over[1]) if all(over) else []


def _changed_figures(part: Part, statement: Statement, language: str) -> list[str]:
    """Return the figures that stand in another order than in the statement, if its words are in order.

    The only figure in brackets may stand anywhere: "half of those asked (53.5%)" is also "53.5% of those asked".
    """
    text = statement.evidence.text
    told = figures(text, statement.evidence.language)
    known = [figure.value for figure in told]
    inserted = [
        figure.value for aside in _ASIDE.findall(text) for figure in figures(aside, statement.evidence.language)
    ]
    own = figures(part.text, language)
    written = [figure for figure in own if known.count(figure.value) == 1]
    if len(inserted) == 1:
        written = [figure for figure in written if figure.value not in inserted]
    places = [known.index(figure.value) for figure in written]
    if len(set(places)) < len(places) or places == sorted(places):
        return []
    if _only_moves_years(written, places) and _keeps_years(written, own, part.folded, told, fold(text)):
        return []
    order = [place for root, place in _shared(part, statement, language).items() if not root.isdigit()]
    return [figure.text for figure in written] if order == sorted(order) else []


def _only_moves_years(written: list[Figure], places: list[int]) -> bool:
    """Tell whether years are in order, and so is the rest: "in 2022 it was 9 %" and "9 % in 2022"."""
    years, others = (
        [place for figure, place in zip(written, places, strict=True) if _is_a_year(figure) is year]
        for year in (True, False)
    )
    return years == sorted(years) and others == sorted(others)


def _keeps_years(
    written: list[Figure], own: Sequence[Figure], text: str, told: Sequence[Figure], evidence: str
) -> bool:
    """Tell whether each year stands nearest to the figure to which it does in the evidence, if that has several."""
    if sum(map(_is_a_year, told)) < 2:
        return True
    years = [figure for figure in written if _is_a_year(figure)]
    in_evidence = {figure.value: figure for figure in told}
    pairs = ((_nearest(year, own, text), _nearest(in_evidence[year.value], told, evidence)) for year in years)
    return all(not here or here & there for here, there in pairs)


def _nearest(year: Figure, among: Sequence[Figure], text: str) -> set[float]:
    """Return the figures, except years, that stand nearest to a year, by the words and breaks between."""
    distances = {
        figure.value: _distance(text[min(year.end, figure.end) : max(year.start, figure.start)])
        for figure in among
        if not _is_a_year(figure)
    }
    return {value for value, distance in distances.items() if distance == min(distances.values())}


def _distance(between: str) -> int:
    return len(words(between)) + BREAK * len(_BREAK.findall(between))


def _is_a_year(figure: Figure) -> bool:
    return _YEAR.fullmatch(figure.text) is not None


def _changed_places(part: Part, statement: Statement, language: str) -> list[str]:
    """Return the two words that stand in each other's place, if the others are in order; else nothing."""
    shared = _shared(part, statement, language)
    in_order = sorted(shared, key=shared.__getitem__)
    moved = [place for place, (word, other) in enumerate(zip(shared, in_order, strict=True)) if word != other]
    return [in_order[place] for place in moved] if len(moved) == 2 and moved[1] - moved[0] > 1 else []


def _shared(part: Part, statement: Statement, language: str) -> dict[str, int]:
    """Return the stems that part and statement share, in the part's order, with their first places in the statement.

    Years are left out: `_changed_figures` looks at them.
    """
    places = {stem(word, language): place for place, word in reversed(list(enumerate(statement.words)))}
    roots = dict.fromkeys(stem(word, language) for word in part.words)
    common = part.content & statement.content
    return {root: places[root] for root in roots if root in common and not _YEAR.fullmatch(root)}
