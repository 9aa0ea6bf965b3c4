"""Check that a reply stands against the post, by cues in its words and without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from core.settings import GuardSettings
from pipeline.guard import cues
from pipeline.guard.echo import refutes
from pipeline.guard.lexicon import words_pattern
from pipeline.guard.material import GuardContext, Material, Part, Statement, group_pattern, group_stems
from pipeline.guard.measurement import Measurement
from pipeline.guard.support import covered
from pipeline.guard.words import claim_stems, content, function_words, words
from pipeline.languages import has_pack, pack
from pipeline.sentences import is_question

REACH = 6
"""Words from a group's name within which its predicate is looked for."""
BESIDE = 3
"""Words from a group's name, or from what is negated, within which a negation counts."""
CORRECTS_FROM = 0.6
"""Share of a sentence's content words that evidence must account for to make it a correction."""
FEWEST_SHARED = 3
"""Shared content words from which a sentence speaks of the same thing as a piece of evidence."""
FEWEST_DENIED = 2
"""Content words after "it is false" that show what is denied."""
_WORD = re.compile(r"[\w']+")
_SENTENCE_END = re.compile(r"(?<=[.!?…\n])")


def takes_stance(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that nothing endorses the post, and that something refutes, questions, corrects or speaks up for rights.

    `value` counts the phrases that speak for the post; a reply that takes no stand counts as one. In a language without
    stance patterns, only quotations, sentences taken from the evidence and questions take a stand.
    """
    faults = [fault for part in reply.parts if not part.quoted for fault in _faults(part, reply)]
    if not faults and not any(_opposes_post(part, reply) for part in reply.parts):
        faults = [_no_stand(reply)]
    detail = faults[0] if faults else "Refutes, questions, corrects or speaks up for equal rights."
    return Measurement(passed=not faults, value=len(faults), threshold=0, detail=detail)


def no_endorsement(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check as `takes_stance` does that nothing endorses the post; a judge or a person tells whether it opposes it."""
    faults = [fault for part in reply.parts if not part.quoted for fault in _faults(part, reply)]
    detail = faults[0] if faults else "Grants the post nothing."
    return Measurement(passed=not faults, value=len(faults), threshold=0, detail=detail)


def _no_stand(reply: Material) -> str:
    if not has_pack(reply.language):
        return f"Whether a reply in “{reply.language}” contradicts the post can't be told; please read it closely."
    return "Takes no stand: it neither refutes nor questions nor corrects the post, nor speaks up for equal rights."


def _opposes_post(part: Part, reply: Material) -> bool:
    if part.quoted or covered(part, reply) >= CORRECTS_FROM or is_question(part.text):
        return True
    if not has_pack(reply.language):
        return False
    affirms = cues.pattern(reply.language, "affirms").search(part.folded)
    return bool(affirms) or refutes(part, reply) or _rebuts(part.folded, reply.language)


def _faults(part: Part, reply: Material) -> Iterator[str]:
    for phrase in cues.agreements(part.folded, reply.language):
        if group_pattern().match(phrase):
            continue  # "Women are right to be angry."
        if _denies_the_posts_word(phrase, part, reply):
            continue
        yield f"Agrees with the post: “{phrase.strip()}”."
    for phrase in _generalisations(part.folded, reply.language):
        yield f"Says something derogatory of a whole group: “{phrase.strip()}”."
    for phrase in _denied_rights(part.folded, reply.language):
        yield f"Denies a group its rights: “{phrase.strip()}”."
    for phrase in (*_debunked_evidence(part, reply), *_discredited_sources(part, reply)):
        yield f"Calls the evidence or a right untrue: “{phrase.strip()}”."


def _denies_the_posts_word(phrase: str, part: Part, reply: Material) -> bool:
    """Tell whether a phrase denies what the post itself says, by the same word of the same thing: "it is no hoax".

    The post must call something untrue in its own name: "it's a hoax", not "they call it a hoax", "it's no hoax" or "is
    it a hoax?". The same thing is what both name; where the post says that something "is" a hoax, also "it" at the
    start of the reply.
    """
    language, post = reply.language, reply.post
    debunk = cues.pattern(language, "debunk")
    said = {match.group() for match in debunk.finditer(phrase)} if cues.negated(phrase, language) else set()
    called = [match for match in debunk.finditer(post) if match.group() in said]
    if not called or words_pattern("hearsay", language).search(post):
        return False
    if any(_is_open(post, match, language) for match in called):
        return False
    called_so = content(said, language)
    opening = content(words(part.folded[: part.folded.find(phrase) + len(phrase)]), language)
    if part is reply.parts[0] and opening <= called_so:
        is_called = words_pattern("is", language)
        return any(is_called.search(cues.before(post, match.start(), BESIDE, language)) for match in called)
    return bool((part.content & reply.post_content) - called_so)


def _is_open(text: str, called: re.Match[str], language: str) -> bool:
    """Tell whether folded `text` negates or asks what it seems to call something."""
    before, after = text[: called.start()], text[called.end() :]
    asks = _SENTENCE_END.split(after, maxsplit=1)[0].endswith("?")
    since_break = cues.BREAK.split(before)[-1]
    beside = cues.is_negated_nearby(text, *called.span(), BESIDE, language)
    return asks or beside or cues.negated(since_break, language)


def _groups(text: str, language: str) -> Iterator[re.Match[str]]:
    yield from group_pattern().finditer(text)
    yield from cues.word_pattern(language, "pronoun").finditer(text)


def _generalisations(text: str, language: str) -> Iterator[str]:
    """Yield phrases with a hostile predicate or adjective for a whole group, neither negated nor framed as untrue."""
    for group in _groups(text, language):
        if cues.framed(text, group.start(), language):
            continue
        for predicate, turned in _predicates(text, group, language):
            if not turned:
                yield _from_to(text, group, predicate)
        for adjective in _adjectives(text, group, language):
            yield _from_to(text, group, adjective)


def _rebuts(text: str, language: str) -> bool:
    """Tell whether a hostile predicate is denied of a group: "are not terrorists"."""
    return any(turned for group in _groups(text, language) for _, turned in _predicates(text, group, language))


def _predicates(text: str, group: re.Match[str], language: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield a group's hostile predicates, on the sides where the language has them, and whether each is negated."""
    order = pack(language).order
    if order.predicate != "before":
        following = _nearest(text, islice(_WORD.finditer(text, group.end()), REACH), language)
        if following:
            turned = cues.negated(text[group.end() : following.start()], language)
            late = order.negation != "before" and cues.negated(
                cues.after(text, following.end(), BESIDE, language), language
            )
            yield following, turned or late
    if order.predicate != "after":
        start = max(0, group.start() - REACH * cues.LONGEST_WORD)
        preceding = _nearest(text, reversed(list(_WORD.finditer(text, start, group.start()))[-REACH:]), language)
        if preceding:
            turned = cues.negated(text[preceding.end() : group.start()], language)
            yield preceding, turned or cues.is_negated_nearby(text, *preceding.span(), BESIDE, language)


def _nearest(text: str, candidates: Iterable[re.Match[str]], language: str) -> re.Match[str] | None:
    """Return the first hostile predicate among these words, if only function words and adverbs stand before it."""
    adverbs = pack(language).adverb_endings
    for word in candidates:
        predicate = cues.word_pattern(language, "hostile").match(text, word.start())
        if predicate:
            return predicate
        if word.group() not in function_words(language) and not word.group().endswith(adverbs):
            return None
    return None


def _adjectives(text: str, group: re.Match[str], language: str) -> Iterator[re.Match[str]]:
    """Yield the word right before a group's name if it is a hostile adjective."""
    start = max(0, group.start() - cues.LONGEST_WORD)
    preceding = list(_WORD.finditer(text, start, group.start()))[-1:] if pack(language).stance.adjective else []
    yield from (word for word in preceding if cues.word_pattern(language, "adjective").fullmatch(word.group()))


def _from_to(text: str, first: re.Match[str], second: re.Match[str]) -> str:
    return text[min(first.start(), second.start()) : max(first.end(), second.end())]


def _denied_rights(text: str, language: str) -> Iterator[str]:
    """Yield phrases that deny or belittle a right, unless a second negation ("are not denied") reverses them."""
    for group in _groups(text, language):
        if not cues.framed(text, group.start(), language):
            yield from _denied_to(text, group, language)
    for denial in cues.pattern(language, "denies").finditer(text):
        turned = cues.is_negated_nearby(text, *denial.span(), BESIDE, language)
        if not turned and not cues.framed(text, denial.start(), language):
            yield denial.group()


def _denied_to(text: str, group: re.Match[str], language: str) -> Iterator[str]:
    """Yield the first right that a negation denies to a group; the negation follows the group's name or the right."""
    tail = list(islice(_WORD.finditer(text, group.end()), REACH + BESIDE))
    refused = next((k for k, word in enumerate(tail[:BESIDE]) if cues.negated(word.group(), language)), len(tail))
    follows = pack(language).order.negation != "before"
    first = 0 if follows else refused + 1
    clause_end = cues.clause_of(text, group.start(), language)[1]
    for k, word in enumerate(tail[first:], first):
        kinds = ("negated_denials", "hostile")
        stop = any(cues.word_pattern(language, kind).match(text, word.start()) for kind in kinds)
        if stop or word.start() > clause_end:
            return
        right = cues.word_pattern(language, "rights").match(text, word.start())
        if right and (k > refused or (follows and cues.negated(cues.after(text, right.end(), 1, language), language))):
            yield text[group.start() : word.end()]
            return


def _discredited_sources(part: Part, reply: Material) -> Iterator[str]:
    """Yield phrases that name a source of the evidence and then call it untrue."""
    for phrase in words_pattern("discredits", reply.language).finditer(part.folded):
        before = content(words(part.folded[: phrase.start()]), reply.language)
        if any(len(before & statement.named) >= min(2, len(statement.named)) for statement in reply.statements):
            yield part.folded[: phrase.end()]


def _debunked_evidence(part: Part, reply: Material) -> Iterator[str]:
    """Yield clauses that call untrue what the evidence says rather than what the post says."""
    language, text = reply.language, part.folded
    for cue in cues.pattern(language, "debunk").finditer(text):
        start, end = cues.clause_of(text, cue.start(), language)
        rest = text[start : cue.start()] + " " + text[cue.end() : end]
        turned = cues.negated(rest, language) or cues.pattern(language, "negated_denials").search(rest)
        if turned or _says_so_too(part, cue, reply):
            continue
        claim = content(words(rest), language) - group_stems(text, language)
        of_post = claim & reply.post_content
        of_evidence = claim & (reply.supporting - reply.post_content - claim_stems(language))
        sources = cues.word_pattern(language, "sources").findall(rest)
        if len(of_evidence) + len(sources) > len(of_post):
            yield text[start:end]


def _says_so_too(part: Part, cue: re.Match[str], reply: Material) -> bool:
    """Tell whether a piece of evidence itself calls the same thing untrue: "the theory was debunked"."""
    called = content(words(cue.group()), reply.language)
    return any(
        called
        and called <= statement.content
        and len(part.content & statement.content) >= FEWEST_SHARED
        and _spares_source(part.folded, cue, statement, reply.language)
        for statement in reply.statements
    )


def _spares_source(text: str, cue: re.Match[str], statement: Statement, language: str) -> bool:
    """Tell whether something other than a source is called untrue: none is named, or the source itself calls it so.

    "A study found it false that ..." and "the UN called the tale a myth" spare their sources; "what the study found is
    false" does not.
    """
    before, after = text[: cue.start()], text[cue.end() : cues.clause_of(text, cue.start(), language)[1]]
    if _names_source(after, statement, language):
        return False
    denied = content(words(after), language) & statement.content
    if len(denied) >= FEWEST_DENIED and words_pattern("that", language).search(after):
        return True
    calls = words_pattern("calls", language).search(before)
    return not _names_source(before[calls.end() :] if calls else before, statement, language)


def _names_source(text: str, statement: Statement, language: str) -> bool:
    evidence = statement.evidence
    common = [word for word in evidence.text.split() if word.islower()]
    institution = content(words(evidence.source.institution), language) - content(words(" ".join(common)), language)
    return (
        words_pattern("research", language).search(text) is not None
        or cues.word_pattern(language, "sources").search(text) is not None
        or bool(content(words(text), language) & institution)
    )
