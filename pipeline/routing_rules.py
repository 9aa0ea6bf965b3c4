"""Decide what happens to a post: draft a reply, dismiss it, ask whether it is hateful, or leave it to people.

The rules are simple, so that moderators can be told why. People's safety comes first: what looks like a threat,
self-harm or child abuse is escalated whatever the heads say, even if the post is a repetition.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources

from core.domain import Route
from core.settings import TriageSettings
from pipeline.heads import Scores
from pipeline.languages import packs
from pipeline.normalise import fold_disguised

VIOLENCE, SELF_HARM = "violence", "self-harm"
"""The rule that the threat head decides, and the one for which a head finds what the patterns don't."""
HINT_AT_SELF_HARM = "It may hint at suicide or self-harm: a person has to look, so nothing is drafted."
COUNTERSPEECH_FROM = 0.97
"""Probability from which a post counts as counterspeech itself."""


@dataclass(frozen=True)
class RoutingDecision:
    """What to do with a post, and why, in a sentence for the moderator."""

    route: Route
    reason: str


@dataclass(frozen=True)
class Rule:
    """One kind of post that must go to people: how it is recognised, and what they are told."""

    name: str
    reason: str
    pattern: re.Pattern[str]


def escalation(text: str, threat: float, threat_from: float, *, hints_at_self_harm: bool = False) -> Rule | None:
    """Return the first rule by which people must see `text` (in any spelling), or None.

    `hints_at_self_harm` is what `pipeline.self_harm` says; it decides where no rule does.

    Violence is decided by the threat head: `threat` is its probability, `threat_from` the limit, and the patterns are
    only one of its signs (see `pipeline.threats`). The other rules are patterns.
    """
    plain = condemned_quotes().sub(" … ", folded(text))
    for known in rules():
        if threat >= threat_from if known.name == VIOLENCE else known.pattern.search(plain):
            return known
    return replace(rule(SELF_HARM), reason=HINT_AT_SELF_HARM) if hints_at_self_harm else None


def folded(text: str) -> str:
    """Return `text` as the rules read it: disguises resolved, idioms taken out."""
    return _idioms().sub(" … ", fold_disguised(text))


def rule(name: str) -> Rule:
    """Return the rule called `name`; raises KeyError when there is none."""
    return {known.name: known for known in rules()}[name]


def decide(
    rule: Rule | None, scores: Scores, settings: TriageSettings, duplicate_of: str | None = None
) -> RoutingDecision:
    """Return what to do with a post, from the escalation `rule` it meets and the heads' `scores`.

    `duplicate_of` is the key of an earlier case. The reason is empty for a post that gets a draft.
    """
    if rule is not None:
        return RoutingDecision(Route.ESCALATE, rule.reason)
    if duplicate_of is not None:
        return RoutingDecision(Route.DISMISS, f"It repeats a post that is already a case: {duplicate_of}.")
    if scores.hate < settings.dismiss_below:
        limit = f"the limit is {settings.dismiss_below:.0%}"
        return RoutingDecision(Route.DISMISS, f"It does not read as hateful ({scores.hate:.0%}; {limit}).")
    if scores.hate >= settings.doubt_below:
        return RoutingDecision(Route.DRAFT, "")
    # Only posts in doubt get here: a plainly hateful post does not become counterspeech by talking back to somebody.
    if scores.counter >= COUNTERSPEECH_FROM:
        return RoutingDecision(Route.DISMISS, f"It reads as counterspeech itself ({scores.counter:.0%} sure).")
    limit = f"a draft is made from {settings.doubt_below:.0%}"
    return RoutingDecision(Route.DOUBT, f"It may not be hateful at all ({scores.hate:.0%}; {limit}).")


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Return the escalation rules in the order they are tried; each covers all languages, since posts mix them."""
    listed = tomllib.loads(resources.files("pipeline").joinpath("data/escalate.toml").read_text("utf-8"))["rules"]
    return tuple(Rule(rule["name"], rule["reason"], re.compile("|".join(_patterns(rule["name"])))) for rule in listed)


def _patterns(rule: str) -> list[str]:
    return [pattern for pack in packs().values() for pattern in pack.escalation.expanded(rule)]


@lru_cache(maxsize=1)
def condemned_quotes() -> re.Pattern[str]:
    """Return the pattern of a quotation that the writer condemns in the same sentence."""
    condemning = "|".join(word for pack in packs().values() for word in pack.escalation.words.get("condemning", ()))
    return re.compile(
        rf"""(?:["“”«»][^"“”«»]{{1,150}}["“”«»]|(?<!\w)'[^']{{1,150}}'(?!\w))[^.!?"']{{0,40}}\b(?:{condemning})\b"""
    )


@lru_cache(maxsize=1)
def _idioms() -> re.Pattern[str]:
    return re.compile("|".join(idiom for pack in packs().values() for idiom in pack.escalation.idioms))
