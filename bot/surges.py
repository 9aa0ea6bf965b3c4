"""When posts against a group arrive too fast: the page's measure, and the words shared with the chats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.translation import _, ngettext
from bot.wording import GROUP_WORDS
from core.domain import TargetGroup
from ledger.workloads import Arrival

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Surge:
    """A flood of posts against one group: how many arrived since when."""

    group: TargetGroup
    count: int
    since: datetime
    until: datetime

    @property
    def words(self) -> str:
        """Return how many posts arrived how fast, in words."""
        return surge_words(self.group, self.count, self.until - self.since)


def surges(arrivals: Iterable[Arrival], limit: int) -> list[Surge]:
    """Return the groups with more than `limit` posts within a minute, largest flood first.

    `arrivals` must be in order of time; a flood is counted from its first crowded minute on.
    """
    moments: dict[TargetGroup, list[datetime]] = defaultdict(list)
    for arrival in arrivals:
        for group in arrival.groups:
            moments[group].append(arrival.at)
    crowded = (_surge(group, times, limit) for group, times in moments.items())
    return sorted((surge for surge in crowded if surge), key=lambda surge: -surge.count)


def surge_words(group: TargetGroup, count: int, length: timedelta) -> str:
    """Return how many posts against a group arrived how fast, in words."""
    minutes = max(1, round(length.total_seconds() / 60))
    return _(
        "{posts} against {group} in {minutes}",
        posts=ngettext("{n} post", "{n} posts", count),
        group=GROUP_WORDS[group],
        minutes=ngettext("{n} minute", "{n} minutes", minutes),
    )


def _surge(group: TargetGroup, times: list[datetime], limit: int) -> Surge | None:
    for first, start in enumerate(times):
        if first + limit < len(times) and times[first + limit] - start <= MINUTE:
            return Surge(group, len(times) - first, start, times[-1])
    return None
