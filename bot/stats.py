"""How the desk is doing: the figures of a period in words, as a chart, and as a table to export."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import TypeVar

from pydantic import TypeAdapter

from bot.translation import _, day, moment, percent
from bot.wording import GROUP_WORDS, INTENT_NAMES, duration
from core.domain import CaseState, Intent, TargetGroup, now
from core.errors import BadInput
from core.spreadsheets import without_formula
from ledger import Ledger
from ledger.statistics import CountedDecision, Period

_DECIDED = TypeAdapter(CountedDecision)
Key = TypeVar("Key", TargetGroup, Intent)

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_LONGEST = timedelta(days=366)


@dataclass(frozen=True)
class Share:
    """How many of a number of decisions were approvals, as drafted or edited."""

    approved: int
    decided: int

    @property
    def rate(self) -> float:
        """Return the share of approvals, 0 to 1."""
        return self.approved / self.decided if self.decided else 0.0

    @property
    def words(self) -> str:
        """Return the two numbers, for example `2 of 3`."""
        return _("{value} of {limit}", value=self.approved, limit=self.decided)


@dataclass(frozen=True)
class Figures:
    """The figures of a period; `median_age` is from receipt to decision, None without decisions.

    `dismissed` counts the posts that moderators found not hateful; the shares of accepted drafts exclude them.
    """

    since: datetime
    received: int
    pending: int
    approved: int
    edited: int
    rejected: int
    dismissed: int
    median_age: timedelta | None
    by_group: dict[TargetGroup, Share]
    by_intent: dict[Intent, Share]


def period(text: str) -> timedelta:
    """Return the length of a period such as `24h`, `7d` or `2w`. Raises BadInput."""
    match = re.fullmatch(r"(\d{1,4})\s*([hdw])", text.strip().lower())
    length = int(match[1]) * _UNITS[match[2]] if match else timedelta(0)
    if not timedelta(0) < length <= _LONGEST:
        raise BadInput(_("“{text}” is no period; write for example 24h, 7d or 2w, a year at most.", text=text[:20]))
    return length


async def figures(
    ledger: Ledger, length: timedelta, shown_on: tuple[str, str] | None = None, pending: int | None = None
) -> Figures:
    """Return the figures of the period that ends now.

    With `shown_on`, a surface and a server, only cases with a card there count, of which `pending` are pending.
    """
    decisions = await ledger.statistics.since(now() - length, shown_on)
    if pending is None:
        pending = (await ledger.cases.counts())[CaseState.PENDING]
    return _figures(decisions, pending)


def in_words(totals: Figures) -> str:
    """Return the figures as lines of text."""
    lines = [
        _(
            "Since {moment} UTC: {received} received, {approved} approved as drafted, {edited} edited, {rejected} "
            "rejected, {dismissed} dismissed as not hateful; {pending} are pending now.",
            moment=moment(totals.since), received=totals.received, approved=totals.approved, edited=totals.edited,
            rejected=totals.rejected, dismissed=totals.dismissed, pending=totals.pending,
        ),
        _("No decisions.")
        if totals.median_age is None
        else _("Median age at the decision: {length}.", length=duration(totals.median_age)),
    ]  # fmt: skip
    if totals.by_group:
        groups = ((GROUP_WORDS[group], share) for group, share in totals.by_group.items())
        intents = ((INTENT_NAMES[intent], share) for intent, share in totals.by_intent.items())
        lines.append(_("Accepted by group: {shares}", shares=_shares(groups)))
        lines.append(_("Accepted by intent: {shares}", shares=_shares(intents)))
    return "\n".join(lines)


def picture(totals: Figures) -> bytes:
    """Return a chart of acceptance by group and intent as PNG. Takes about a second; keep it off the event loop."""
    from matplotlib.figure import Figure

    bars = [(GROUP_WORDS[group], share) for group, share in totals.by_group.items()]
    bars += [(INTENT_NAMES[intent], share) for intent, share in totals.by_intent.items()]
    figure = Figure(figsize=(7, 1.4 + 0.4 * len(bars)), layout="constrained")
    axes = figure.subplots()
    names = [name for name, _share in bars]
    bar_shapes = axes.barh(names, [share.rate for _name, share in bars], color="#4878a8")
    axes.bar_label(bar_shapes, [share.words for _name, share in bars], padding=3)
    axes.set_xlim(0, 1.2)
    axes.set_xticks([0, 0.5, 1], [percent(0), percent(0.5), percent(1)])
    axes.invert_yaxis()
    axes.set_title(_("Drafts accepted since {day}", day=day(totals.since)))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return buffer.getvalue()


def table(decided: Iterable[CountedDecision]) -> bytes:
    """Return decisions as CSV, without texts of posts; cells that begin like a formula are made safe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["case", "groups", "intent", "state", "edited", "who", "why", "received_at", "decided_at"])
    for item in decided:
        row = [item.key, " ".join(item.groups), item.intent, item.state, item.edited, item.who, item.why,
               item.received_at.isoformat(), item.decided_at.isoformat()]  # fmt: skip
        writer.writerow([without_formula(str(cell)) for cell in row])
    return buffer.getvalue().encode()


def lines(decided: Iterable[CountedDecision]) -> bytes:
    """Return decisions as JSON, one per line, without texts of posts."""
    return b"".join(_DECIDED.dump_json(item) + b"\n" for item in decided)


def _figures(decisions: Period, pending: int) -> Figures:
    ages = [(item.decided_at - item.received_at).total_seconds() for item in decisions.decided]
    judged = [item for item in decisions.decided if item.state is not CaseState.DISMISSED]
    approved = [item for item in judged if item.state is CaseState.APPROVED]
    edited = sum(item.edited for item in approved)
    return Figures(
        since=decisions.since,
        received=decisions.received,
        pending=pending,
        approved=len(approved) - edited,
        edited=edited,
        rejected=len(judged) - len(approved),
        dismissed=len(decisions.decided) - len(judged),
        median_age=timedelta(seconds=median(ages)) if ages else None,
        by_group=_by((group, item) for item in judged for group in item.groups),
        by_intent=_by((item.intent, item) for item in judged),
    )


def _by(pairs: Iterable[tuple[Key, CountedDecision]]) -> dict[Key, Share]:
    decided: Counter[Key] = Counter()
    approved: Counter[Key] = Counter()
    for key, item in pairs:
        decided[key] += 1
        approved[key] += item.state is CaseState.APPROVED
    return {key: Share(approved[key], number) for key, number in decided.most_common()}


def _shares(pairs: Iterable[tuple[str, Share]]) -> str:
    return ", ".join(
        _("{name} {share} of {n}", name=name, share=percent(share.rate), n=share.decided) for name, share in pairs
    )
