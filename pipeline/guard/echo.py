"""Check that a reply doesn't repeat the hateful claim."""

from __future__ import annotations

from core.settings import GuardSettings
from pipeline.guard.cues import BREAK, clauses, negated, refutations
from pipeline.guard.lexicon import words_pattern
from pipeline.guard.material import GuardContext, Material, Part, group_stems
from pipeline.guard.measurement import Measurement
from pipeline.guard.words import claim_stems, content, stem, words
from pipeline.sentences import is_question

SHORTEST_COPY = 4
"""Fewest words in a row that make a copied clause."""
LONGEST_QUOTE = 8
"""Most words in a row that a sentence refuting them may repeat."""
REACH = 3
"""Words of the post on either side of a shared one within which a negation counts."""
MOST_SHARED = 0.99
"""Highest share of common content words, so that 1 is a copied clause only."""
FEWEST_SHARED = 2
"""Least number of shared content words that says anything about copying."""


Run = tuple[str, ...]


def no_echo(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check how much of a sentence is the post's: 1 for a copied clause, else the share of common content words.

    The share is taken of the shorter of sentence and post (overlap coefficient), so that neither padding nor a long
    post hides a copy. Names of target groups, words of the evidence and quoted statements don't count. Nor do single
    words in a sentence that refutes them, or in a question to the author that copies no clause.
    """
    shares = [(_share(part, reply), part.text) for part in reply.parts if not part.quoted]
    worst, text = max(shares, default=(0.0, ""))
    limit = settings.max_echo
    passed = worst <= limit
    detail = f"{worst:.0%} repeats the post; {limit:.0%} is the limit."
    if not passed:
        detail = f"Repeats the post's claim: “{text[:80]}” ({detail[:-1]})."
    return Measurement(passed=passed, value=round(worst, 3), threshold=limit, detail=detail)


def copied(part: Part, reply: Material) -> Run:
    """Return the longest run of words that the sentence took from the post; empty if shorter than a clause."""
    grams = _grams(reply.post_words)
    folded = part.words
    best: Run = ()
    start = 0
    while start + SHORTEST_COPY <= len(folded):
        end = start
        while folded[end : end + SHORTEST_COPY] in grams and end + SHORTEST_COPY <= len(folded):
            end += 1
        if end > start and end - start + SHORTEST_COPY - 1 > len(best):
            best = folded[start : end + SHORTEST_COPY - 1]
        start = max(end, start + 1)
    return best if len(content(best, reply.language)) >= FEWEST_SHARED and not _in_evidence(best, reply) else ()


def refutes(part: Part, reply: Material) -> bool:
    """Tell whether the sentence refutes or doubts something in its own words rather than in the post's."""
    run = copied(part, reply)
    if not run:
        return bool(refutations(part.folded, reply.language))
    own = " ".join(part.words).replace(" ".join(run), " … ")
    return bool(refutations(own, reply.language))


def _share(part: Part, reply: Material) -> float:
    run = copied(part, reply)
    refuting = refutes(part, reply) or _negates(part, reply) or (not run and _asks_back(part, reply))
    if run and (not refuting or len(run) > LONGEST_QUOTE):
        return 1.0
    if refuting:
        return 0.0
    ignored = group_stems(reply.text, reply.language) | reply.supporting | claim_stems(reply.language)
    of_post, of_sentence = reply.post_content - ignored, part.content - ignored
    share = len(of_post & of_sentence) / max(FEWEST_SHARED, min(len(of_post), len(of_sentence)))
    return min(share, MOST_SHARED)


def _negates(part: Part, reply: Material) -> bool:
    """Tell whether each clause that shares words with the post is negated, and the post is not: "are not dangerous".

    A negation in the post counts within REACH words of a shared one, and before several up to the next stop or comma.
    """
    spans = [part.folded[start:end] for start, end in clauses(part.folded, reply.language)]
    about = [clause for clause in spans if content(words(clause), reply.language) & reply.post_content]
    return bool(about) and all(negated(clause, reply.language) for clause in about) and not _negates_too(part, reply)


def _negates_too(part: Part, reply: Material) -> bool:
    language, shared = reply.language, part.content & reply.post_content
    return any(
        negated(" ".join(reply.post_words[max(0, place - REACH) : place + 1 + REACH]), language)
        for place, word in enumerate(reply.post_words)
        if stem(word, language) in shared
    ) or any(_begins_negated(stretch, shared, language) for stretch in BREAK.split(reply.post))


def _begins_negated(stretch: str, shared: frozenset[str], language: str) -> bool:
    """Tell whether a negation precedes at least FEWEST_SHARED of the words: "nobody can say that they are"."""
    own = words(stretch)
    places = [place for place, word in enumerate(own) if stem(word, language) in shared]
    return len(places) >= FEWEST_SHARED and negated(" ".join(own[: places[-FEWEST_SHARED]]), language)


def _asks_back(part: Part, reply: Material) -> bool:
    """Tell whether the sentence is a question to the post's author: "Would you like to be locked up?"."""
    return is_question(part.text) and words_pattern("you", reply.language).search(part.folded) is not None


def _grams(folded: tuple[str, ...]) -> frozenset[Run]:
    return frozenset(folded[start : start + SHORTEST_COPY] for start in range(len(folded) - SHORTEST_COPY + 1))


def _in_evidence(run: Run, reply: Material) -> bool:
    needle = f" {' '.join(run)} "
    return any(needle in f" {' '.join(statement.words)} " for statement in reply.statements)
