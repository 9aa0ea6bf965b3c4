"""Check that a reply stands against the post: by cues in its words, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from core.domain import Check
from core.settings import GuardSettings
from pipeline.guard import cues
from pipeline.guard.echo import refutes
from pipeline.guard.lexicon import has_stance
from pipeline.guard.material import Material, Part, group_pattern, group_stems
from pipeline.guard.support import covered
from pipeline.guard.words import claim_stems, content, function_words, words
from pipeline.sentences import is_question

REACH = 6
"""Words after a group's name in which its predicate is looked for."""
CORRECTS_FROM = 0.6
"""Share of a sentence's content that must be evidence for it to count as a correction."""
LONGEST_WORD = 30
_WORD = re.compile(r"[\w']+")


def against(reply: Material, settings: GuardSettings) -> Check:
    """Check that nothing endorses the post, and that something refutes, questions, corrects or speaks up for rights.

    `value` counts what speaks for the post; a reply that takes no stand counts as one. A reply in a language without
    stance patterns passes only as a quoted statement.
    """
    faults = [fault for part in reply.parts if not part.quoted for fault in _faults(part, reply)]
    if not faults and not any(_stands(part, reply) for part in reply.parts):
        faults = [_no_stand(reply)]
    detail = faults[0] if faults else "Refutes, questions, corrects or speaks up for equal rights."
    return Check(name="stance", passed=not faults, value=len(faults), threshold=0, detail=detail)


def _no_stand(reply: Material) -> str:
    if not has_stance(reply.language):
        return f"Whether a reply in “{reply.language}” contradicts the post can't be told; please read it closely."
    return "Takes no stand: it neither refutes nor questions nor corrects the post, nor speaks up for equal rights."


def _stands(part: Part, reply: Material) -> bool:
    if part.quoted or covered(part, reply) >= CORRECTS_FROM or is_question(part.text):
        return True
    if not has_stance(reply.language):
        return False
    affirms = cues.pattern(reply.language, "affirms").search(part.folded)
    return bool(affirms) or refutes(part, reply) or _rebuts(part.folded, reply.language)


def _faults(part: Part, reply: Material) -> Iterator[str]:
    for phrase in cues.agreements(part.folded, reply.language):
        yield f"Agrees with the post: “{phrase.strip()}”."
    for phrase in _generalisations(part.folded, reply.language):
        yield f"Says something derogatory of a whole group: “{phrase.strip()}”."
    for phrase in _denied_rights(part.folded, reply.language):
        yield f"Denies a group its rights: “{phrase.strip()}”."
    for phrase in _debunked_evidence(part, reply):
        yield f"Calls the evidence or a right untrue: “{phrase.strip()}”."


def _groups(text: str, language: str) -> Iterator[re.Match[str]]:
    yield from group_pattern().finditer(text)
    yield from cues.whole(language, "pronoun").finditer(text)


def _generalisations(text: str, language: str) -> Iterator[str]:
    """Yield what is said of a whole group with a hostile predicate and neither negated nor framed as untrue."""
    hostile, adjective = cues.whole(language, "hostile"), cues.whole(language, "adjective")
    for group in _groups(text, language):
        predicate, turned = _predicate(text, group.end(), hostile, language)
        if predicate and not turned and not cues.framed(text, group.start(), language):
            yield text[group.start() : predicate.end()]
        lead = list(_WORD.finditer(text, max(0, group.start() - LONGEST_WORD), group.start()))[-1:]
        if lead and adjective.fullmatch(lead[0].group()) and not cues.framed(text, group.start(), language):
            yield text[lead[0].start() : group.end()]


def _rebuts(text: str, language: str) -> bool:
    """Tell whether a hostile predicate is denied of a group: "are not terrorists"."""
    found = (
        _predicate(text, group.end(), cues.whole(language, "hostile"), language) for group in _groups(text, language)
    )
    return any(turned for _, turned in found)


def _predicate(text: str, start: int, hostile: re.Pattern[str], language: str) -> tuple[re.Match[str] | None, bool]:
    """Return the hostile predicate that follows, only function words and adverbs before it; and if it is negated."""
    for word in islice(_WORD.finditer(text, start), REACH):
        found = hostile.match(text, word.start())
        if found:
            return found, cues.negated(text[start : word.start()], language)
        if word.group() not in function_words() and not word.group().endswith(("ly", "mente", "ment")):
            break
    return None, False


def _denied_rights(text: str, language: str) -> Iterator[str]:
    """Yield "<group> … not … <right>", unless a second negation ("are not denied") turns it round."""
    for group in _groups(text, language):
        tail = list(islice(_WORD.finditer(text, group.end()), REACH + 3))
        refused = next((k for k, word in enumerate(tail[:3]) if cues.negated(word.group(), language)), None)
        if refused is None or cues.framed(text, group.start(), language):
            continue
        for word in tail[refused + 1 :]:
            stop = any(cues.whole(language, kind).match(text, word.start()) for kind in ("flip", "hostile"))
            if stop or word.start() > cues.clause_of(text, group.start())[1]:
                break
            if cues.whole(language, "rights").match(text, word.start()):
                yield text[group.start() : word.end()]
                break
    for denial in cues.pattern(language, "denies").finditer(text):
        turned = cues.negated(cues.before(text, denial.start(), 3), language)
        if not turned and not cues.framed(text, denial.start(), language):
            yield denial.group()


def _debunked_evidence(part: Part, reply: Material) -> Iterator[str]:
    """Yield clauses that call untrue what the evidence says, rather than what the post says."""
    language, text = reply.language, part.folded
    for cue in cues.pattern(language, "debunk").finditer(text):
        start, end = cues.clause_of(text, cue.start())
        rest = text[start : cue.start()] + " " + text[cue.end() : end]
        turned = cues.negated(rest, language) or cues.pattern(language, "flip").search(rest)
        if turned:
            continue
        about = content(words(rest)) - group_stems(text)
        theirs = about & reply.post_content
        ours = about & (reply.supporting - reply.post_content - claim_stems(language))
        sources = cues.whole(language, "sources").findall(rest)
        if len(ours) + len(sources) > len(theirs):
            yield text[start:end]
