"""Check that a reply's statements of fact are in its evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.settings import GuardSettings
from pipeline.guard.cues import clauses, negated, pattern, refutations
from pipeline.guard.lexicon import words_pattern
from pipeline.guard.material import GuardContext, Material, Part, Statement, group_stems
from pipeline.guard.measurement import Measurement
from pipeline.guard.names import names_in
from pipeline.guard.words import claim_stems, content, fold, words
from pipeline.sentences import is_question

ENOUGH = 0.65
"""Share of a sentence's content words that must be accounted for."""
ENOUGH_OF_FACTS = 0.3
"""The same share where others check figures, names, negations and swaps, and a judge or a person reads the reply."""
SAME_STATEMENT = 0.7
"""Share of a sentence's content words in one statement from which the two say the same thing, or opposite things."""
_FACTUAL = re.compile(r"\d|%")


def supported(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that its evidence, or plain talk of rights, accounts for enough of each sentence's content words.

    A sentence with a figure or a new name must find its words in the evidence, unless it refutes something. Any other
    sentence may also use the post's words and the vocabulary of rights and fairness. A question without figures and
    names states nothing. A sentence that turns an evidence statement into its opposite has the share 0. `value` is the
    lowest share.
    """
    return _measured(reply, [part for part in reply.parts if not part.quoted], ENOUGH)


def facts_supported(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check as `supported` does, but only statements of fact: the other sentences are for a judge or a person.

    A sentence that turns an evidence statement into its opposite is a statement of fact, too.
    """
    stated = [part for part in reply.parts if not part.quoted and is_statement(part, reply)]
    return _measured(reply, stated, ENOUGH_OF_FACTS)


def is_statement(part: Part, reply: Material) -> bool:
    """Tell whether a sentence states what evidence must bear out; values, appeals and questions don't."""
    turned = any(_opposes(part, statement, reply.language) for statement in reply.statements)
    reports = words_pattern("reports", reply.language).search(part.folded) is not None
    return _is_factual(part, reply) or reports or turned


def _measured(reply: Material, parts: Sequence[Part], enough: float) -> Measurement:
    shares = [(_share(part, reply), part.text) for part in parts]
    lowest, text = min(shares, default=(1.0, ""))
    passed = lowest >= enough
    detail = f"{lowest:.0%} of the words are accounted for; {enough:.0%} are needed."
    if not passed and lowest == 0 and reply.statements:
        detail = f"Says the opposite of its evidence, or nothing of it: “{text[:80]}”.{_foreign(reply)}"
    elif not passed:
        detail = f"Says more than its evidence: “{text[:80]}” ({detail[:-1]}).{_foreign(reply)}"
    return Measurement(passed=passed, value=round(lowest, 3), threshold=enough, detail=detail)


def uses_evidence(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Measure, as advice only, how much of a reply's best sentence comes from the evidence."""
    best = max((covered(part, reply) for part in reply.parts), default=0.0)
    passed = best >= ENOUGH
    detail = f"{best:.0%} of the best sentence comes from the evidence."
    return Measurement(passed=passed, value=round(best, 3), threshold=ENOUGH, detail=detail)


def covered(part: Part, reply: Material) -> float:
    """Return the share of the sentence's content that one evidence statement with its source accounts for, 0 to 1."""
    if part.quoted:
        return 1.0
    if len(part.content) < 3:
        return 0.0
    accounted = (part.content & (statement.content | statement.named) for statement in reply.statements)
    return max((len(shared) / len(part.content) for shared in accounted), default=0.0)


def _share(part: Part, reply: Material) -> float:
    if not part.content or any(_opposes(part, statement, reply.language) for statement in reply.statements):
        return 0.0 if part.content else 1.0
    if is_question(part.text) and not _is_factual(part, reply):
        return 1.0
    known = reply.supporting | group_stems(part.text, reply.language)
    if not _is_factual(part, reply) or refutations(part.folded, reply.language):
        known |= claim_stems(reply.language) | reply.post_content
    return len(part.content & known) / len(part.content)


def _is_factual(part: Part, reply: Material) -> bool:
    """Tell whether the sentence gives a figure or a name, other than those of target groups and those in the post."""
    if _FACTUAL.search(part.text):
        return True
    return any(not set(words(name)) <= set(reply.post_words) for name in names_in(part, reply.language))


def _opposes(part: Part, statement: Statement, language: str) -> bool:
    """Tell whether the sentence repeats the statement with a negation added or removed."""
    shared = (part.content & statement.content) - group_stems(part.text, language)
    if len(shared) < 3 or len(shared) < SAME_STATEMENT * len(part.content):
        return False
    if pattern(language, "debunk").search(part.folded) or is_question(part.text):
        return False
    spans = (part.folded[start:end] for start, end in clauses(part.folded, language))
    about = " ".join(clause for clause in spans if len(content(words(clause), language) & statement.content) > 1)
    evidence = fold(statement.evidence.text)
    return _denies(about, evidence, language) != _denies(_about(statement, part, language), part.folded, language)


def _denies(text: str, other: str, language: str) -> bool:
    """Tell whether folded text has either a negation or a word that amounts to one ("zero risk"), but not both.

    Negations of what is merely left aside reverse nothing: "without distinction", "rather than".
    """
    text = without_asides(text, other, language)
    return negated(text, language) != (words_pattern("nothing", language).search(text) is not None)


def without_asides(text: str, other: str, language: str) -> str:
    """Drop the negations of what is left aside from folded text, except of what `other` states without an aside."""
    aside = words_pattern("aside", language)
    said = frozenset[str]() if aside.search(other) else content(words(other), language)

    def passed_over(match: re.Match[str]) -> str:
        beside = words(text[: match.start()])[-1:] if language == "eu" else words(text[match.end() :])
        first = next((word for word in beside if content([word], language)), "")
        return match.group() if content([first], language) & said else " "

    return aside.sub(passed_over, text)


def _about(statement: Statement, part: Part, language: str) -> str:
    """Return the clauses of a statement that share most with a sentence; the others may be negated on their own."""
    folded = fold(statement.evidence.text)
    spans = [folded[start:end] for start, end in clauses(folded, language)]
    shared = [len(content(words(clause), language) & part.content) for clause in spans]
    return " ".join(clause for clause, count in zip(spans, shared, strict=True) if 2 * count > max(shared))


def _foreign(reply: Material) -> str:
    others = {statement.evidence.language for statement in reply.statements} - {reply.language}
    if not others:
        return ""
    return (
        f" The evidence is in “{', '.join(sorted(others))}”, which a “{reply.language}” reply can't be compared with."
    )
