"""Protect a channel from a flood of cards: cases beyond the limit are counted in one message instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from bot.chat.card_board import CardBoard
from bot.chat.place import Place
from bot.surges import MINUTE, surge_words
from bot.translation import _
from core.domain import Case, TargetGroup, now
from core.settings import CareSettings
from ledger.cards import Cards, Notice


class SurgeLimiter:
    """The limit on new cards, and the notices, one per channel and group, that count the posts beyond it."""

    def __init__(self, cards: Cards, board: CardBoard, care: CareSettings) -> None:
        self._cards = cards
        self._board = board
        self._care = care

    async def remaining_cards(self, place: Place) -> int:
        """Return how many more cards a channel may get now."""
        recent = await self._cards.count_recent(place.surface, place.server, place.channel, now() - MINUTE)
        return max(0, self._care.surge_cards - recent)

    async def count(self, place: Place, cases: Sequence[Case]) -> None:
        """Add cases to the notice of their group; they get no card and wait in the queue."""
        for group, members in _by_group(cases).items():
            new = [
                case
                for case in members
                if await self._cards.reserve(place.surface, place.server, case.key, place.channel, counted_only=True)
            ]
            if new:
                await self._tell(place, group, new)

    async def _tell(self, place: Place, group: TargetGroup, new: Sequence[Case]) -> None:
        moment, where = now(), (place.surface, place.server, place.channel)
        topic = f"surge:{group}"
        open_notice = await self._cards.find_notice(*where, topic)
        if open_notice is not None and moment - open_notice.at > timedelta(seconds=self._care.surge_window_s):
            open_notice = None
        since = open_notice.since if open_notice else min(case.received_at for case in new)
        count = len(new) + (open_notice.count if open_notice else 0)
        text = surge_text(group, count, moment - since)
        message = await self._board.announce(
            place.server, place.channel, text, open_notice.message if open_notice else None
        )
        await self._cards.record_notice(Notice(*where, topic, message, count, since, moment))


def surge_text(group: TargetGroup, count: int, length: timedelta) -> str:
    """Return how many posts arrived how fast, and where they are."""
    return _(
        "Surge: {flood}. They get no cards of their own and wait in the queue: {command}",
        flood=surge_words(group, count, length), command=f"/rejoinder queue group:{group}",
    )  # fmt: skip


def _by_group(cases: Sequence[Case]) -> dict[TargetGroup, list[Case]]:
    groups: dict[TargetGroup, list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.triage.groups[0].group if case.triage and case.triage.groups else TargetGroup.OTHER].append(case)
    return groups
