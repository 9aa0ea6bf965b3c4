"""Report from the ledger how moderators decided on drafts: acceptance, edits, reasons, time taken, and drift."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, median

from nltk.metrics.distance import edit_distance
from scipy.stats import chi2_contingency, fisher_exact

from core.domain import Case, CaseState
from core.settings import NO_MODEL
from evaluation.metrics.tokens import words
from ledger import Ledger
from ledger.statistics import CountedDecision

FEWEST = 5
"""Decisions needed in each half of a period before the halves are compared."""
MOST_READ = 200
"""Words of a text that are compared: the time for an edit distance grows with the product of both lengths."""


@dataclass(frozen=True)
class LiveDecision:
    """One decision on a draft.

    `edited` is the share of words changed before approval; None if the draft was not approved. `seconds` is the time
    from the draft to the decision, or from the post's receipt if the case has no draft.
    """

    at: datetime
    accepted: bool
    edited: float | None
    reason: str
    seconds: float
    traits: dict[str, tuple[str, ...]]
    """The values to count the decision under, by trait; a post may attack several groups."""


@dataclass(frozen=True)
class LiveReport:
    """The decisions on drafts since a given time, and the number of posts dismissed as needing no answer."""

    since: datetime
    decisions: tuple[LiveDecision, ...]
    dismissed: int

    def lines(self) -> Iterator[str]:
        """Yield the report as Markdown."""
        yield f"# Decisions since {self.since:%Y-%m-%d %H:%M} UTC\n"
        yield f"{len(self.decisions)} decisions on drafts; {self.dismissed} posts dismissed as needing no answer.\n"
        if not self.decisions:
            return
        yield from _table("all", {"all": self.decisions})
        for trait in ("group", "language", "strategy", "model", "intent", "week"):
            by_value: dict[str, list[LiveDecision]] = defaultdict(list)
            for decision in self.decisions:
                for value in decision.traits[trait]:
                    by_value[value].append(decision)
            yield from _table(trait, dict(sorted(by_value.items())))
        yield from _reasons(self.decisions)
        yield from _drift(self.decisions)


async def live(ledger: Ledger, since: datetime) -> LiveReport:
    """Return the decisions since a given time. Cases are read from the ledger one at a time, to save memory."""
    period = await ledger.statistics.since(since)
    decisions: list[LiveDecision] = []
    dismissed = 0
    for decided in period.decided:
        if decided.state is CaseState.DISMISSED:
            dismissed += 1
        else:
            decisions.append(_decision(decided, await ledger.cases.get(decided.key)))
    return LiveReport(since, tuple(sorted(decisions, key=lambda decision: decision.at)), dismissed)


def _decision(decided: CountedDecision, case: Case) -> LiveDecision:
    draft = case.draft
    accepted = decided.state is CaseState.APPROVED
    year, week, _ = decided.decided_at.isocalendar()
    return LiveDecision(
        at=decided.decided_at,
        accepted=accepted,
        edited=changed_share(draft.text, case.final_text) if accepted and draft and case.final_text else None,
        reason="" if accepted else decided.why.partition(":")[0],
        seconds=(decided.decided_at - (draft.created_at if draft else decided.received_at)).total_seconds(),
        traits={
            "group": tuple(group.label for group in decided.groups) or ("nobody in particular",),
            "language": (draft.language if draft else "unknown",),
            "strategy": (_strategy(case),),
            "model": ((draft.model if draft else "") or NO_MODEL,),
            "intent": (decided.intent.value,),
            "week": (f"{year}-W{week:02}",),
        },
    )


def _strategy(case: Case) -> str:
    """Return the strategy that wrote the newest draft, or the draft's origin if its candidates don't say."""
    draft = case.draft
    if draft is None or not draft.text:
        return "no draft"
    shown = next((candidate for candidate in draft.candidates if candidate.text == draft.text), None)
    return (shown.strategy if shown else "") or draft.origin.value


def changed_share(draft: str, final: str) -> float:
    """Return how much two texts differ: words to insert, delete or replace, as a share of the longer text, 0 to 1."""
    before, after = words(draft)[:MOST_READ], words(final)[:MOST_READ]
    longest = max(len(before), len(after))
    return edit_distance(before, after) / longest if longest else 0.0


def _table(trait: str, groups: Mapping[str, Sequence[LiveDecision]]) -> Iterator[str]:
    yield f"| {trait} | decisions | accepted | of these edited | words changed in edits | median time to decide |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, decisions in groups.items():
        accepted = [decision for decision in decisions if decision.accepted]
        edits = [decision.edited for decision in accepted if decision.edited]
        yield (
            f"| {name} | {len(decisions)} | {_percent(len(accepted), len(decisions))} "
            f"| {_percent(len(edits), len(accepted))} | {f'{fmean(edits):.0%}' if edits else '–'} "
            f"| {_minutes(median(decision.seconds for decision in decisions))} |"
        )
    yield ""


def _reasons(decisions: Sequence[LiveDecision]) -> Iterator[str]:
    reasons = Counter(decision.reason for decision in decisions if not decision.accepted)
    if not reasons:
        return
    yield "| reason of rejection | times |"
    yield "|---|---:|"
    yield from (f"| {reason} | {count} |" for reason, count in reasons.most_common())
    yield ""


def _drift(decisions: Sequence[LiveDecision]) -> Iterator[str]:
    """Yield tests of whether the first half of the decisions differs from the second."""
    middle = len(decisions) // 2
    first, second = decisions[:middle], decisions[middle:]
    yield "## Drift\n"
    if len(first) < FEWEST:
        yield f"Too few decisions: each half of the period needs {FEWEST}."
        return
    accepted = [sum(decision.accepted for decision in half) for half in (first, second)]
    table = [[count, len(half) - count] for count, half in zip(accepted, (first, second), strict=True)]
    p = float(fisher_exact(table).pvalue)
    yield (
        f"Accepted: {_percent(accepted[0], len(first))} of the first half, {_percent(accepted[1], len(second))} of the "
        f"second (Fisher's exact test: p = {p:.3f}{_verdict(p)})."
    )
    yield from (_mix(trait, first, second) for trait in ("group", "language"))


def _mix(trait: str, first: Sequence[LiveDecision], second: Sequence[LiveDecision]) -> str:
    counts = [Counter(value for decision in half for value in decision.traits[trait]) for half in (first, second)]
    values = sorted(set(counts[0]) | set(counts[1]))
    if len(values) < 2:
        return f"Mix by {trait}: all the same."
    p = float(chi2_contingency([[count[name] for name in values] for count in counts]).pvalue)
    return f"Mix by {trait}: chi-squared test, p = {p:.3f}{_verdict(p)}."


def _verdict(p: float) -> str:
    return ", it drifts" if p < 0.05 else ", may be chance"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%} ({part} of {whole})" if whole else "–"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min"
