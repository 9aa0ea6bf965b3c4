"""The desk's words for cases, intents and lengths of time, the same on every surface."""

from __future__ import annotations

from datetime import timedelta

from bot.translation import N_, Wordings, _, ngettext, percent
from core.domain import Case, CaseState, Intent, StrategyName, TargetGroup, now

_STANDING = Wordings(
    {
        CaseState.RECEIVED: N_("it was received and waits for triage."),
        CaseState.TRIAGED: N_("it was triaged and waits for evidence."),
        CaseState.GROUNDED: N_("a new draft is being written."),
        CaseState.PENDING: N_("it waits for a decision."),
        CaseState.DISMISSED: N_("it was dismissed without a reply."),
        CaseState.ESCALATED: N_("it was escalated to people."),
        CaseState.FAILED: N_("it failed."),
    }
)
_DECIDED = Wordings(
    {
        CaseState.APPROVED: N_("{who} approved it."),
        CaseState.RELEASED: N_("{who} approved it, and the reply has left."),
        CaseState.REJECTED: N_("{who} rejected it."),
        CaseState.DISMISSED: N_("{who} dismissed it as not hateful."),
        CaseState.ESCALATED: N_("{who} handed it over."),
    }
)
IN_DOUBT = N_("Is this hateful at all?")
"""The question about a case in doubt."""
GROUP_WORDS = Wordings(
    {
        TargetGroup.WOMEN: N_("women"),
        TargetGroup.PEOPLE_OF_COLOUR: N_("people of colour"),
        TargetGroup.DISABLED: N_("people with disabilities"),
        TargetGroup.MIGRANTS: N_("migrants"),
        TargetGroup.MUSLIMS: N_("Muslims"),
        TargetGroup.JEWS: N_("Jews"),
        TargetGroup.LGBT: N_("LGBT people"),
        TargetGroup.OTHER: N_("another group"),
    }
)
"""The names of the groups; in English, each is the group's own label."""
INTENT_NAMES = Wordings(
    {
        Intent.INFORMATIVE: N_("informative"),
        Intent.QUESTIONING: N_("questioning"),
        Intent.DENOUNCING: N_("denouncing"),
        Intent.POSITIVE: N_("positive"),
    }
)
"""The names of the intents."""
INTENT_WORDS = Wordings(
    {
        Intent.INFORMATIVE: N_("give the facts"),
        Intent.QUESTIONING: N_("ask a question back"),
        Intent.DENOUNCING: N_("say clearly that it is wrong"),
        Intent.POSITIVE: N_("stand by those attacked"),
    }
)
"""What a reply of each intent aims to do."""
STRATEGY_WORDS = Wordings(
    {
        StrategyName.COMPOSE: N_("words on file"),
        StrategyName.LOCKED: N_("a sentence of the model and a fact on file"),
        StrategyName.FREE: N_("replies of the model on the evidence"),
        StrategyName.PLAIN: N_("the model on summaries of three paragraphs"),
        StrategyName.CLAIM_GUIDED: N_("a counter-claim chosen by vote, and its evidence"),
        StrategyName.INTENT_FRAMES: N_("the intent, after a reading of the post"),
        StrategyName.TOURNAMENT: N_("the best of all, by duels; slow"),
    }
)
"""How each strategy makes a draft."""
STATE_HEADINGS = Wordings(
    {
        CaseState.TRIAGED: N_("Search for evidence under way"),
        CaseState.GROUNDED: N_("New draft under way"),
        CaseState.APPROVED: N_("Approved"),
        CaseState.RELEASED: N_("Released"),
        CaseState.REJECTED: N_("Rejected"),
        CaseState.DISMISSED: N_("Dismissed"),
        CaseState.ESCALATED: N_("Escalated"),
        CaseState.FAILED: N_("Failed"),
    }
)
"""The word before a card's title; a case that waits for a decision has none."""


def intent_label(intent: Intent) -> str:
    """Return an intent's name with its aim, for menus."""
    return f"{INTENT_NAMES[intent]}: {INTENT_WORDS[intent]}"


def strategy_label(name: StrategyName) -> str:
    """Return a strategy's name with how it makes drafts, for menus."""
    return f"{name}: {STRATEGY_WORDS[name]}"


def standing(case: Case) -> str:
    """Return in one sentence the state of a case and who brought it there."""
    if case.state in _DECIDED and (case.decided_by or case.state not in _STANDING):
        return _DECIDED[case.state].format(who=case.decided_by or _("somebody"))
    if case.state is CaseState.PENDING and holder(case):
        return _("{who} holds it.", who=holder(case))
    return _STANDING[case.state]


def hate_probability(case: Case) -> str:
    """Return the probability that the post is hateful, for example `12 %`."""
    return percent(case.triage.hate) if case.triage else _("unknown")


def holder(case: Case) -> str | None:
    """Return who has claimed the case, or None if nobody has or the claim has expired."""
    if case.claimed_by is None or (case.claimed_until is not None and case.claimed_until <= now()):
        return None
    return case.claimed_by


def duration(length: timedelta) -> str:
    """Return a length of time in the largest suitable unit."""
    seconds = max(0, round(length.total_seconds()))
    if seconds >= 2 * 86_400:
        return ngettext("{n} day", "{n} days", seconds // 86_400)
    if seconds >= 2 * 3_600:
        return _("{n} h", n=seconds // 3_600)
    if seconds >= 2 * 60:
        return _("{n} min", n=seconds // 60)
    return _("{n} s", n=seconds)
