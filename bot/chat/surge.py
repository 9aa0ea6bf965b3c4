"""Spare a channel a flood of cards: what comes too fast is counted in one message instead."""

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
    """The limit on new cards, and the notices, one a channel and group, that count the posts beyond it."""

    def __init__(self, cards: Cards, board: CardBoard, care: CareSettings) -> None:
        self._cards = cards
        self._board = board
        self._care = care

    async def remaining_cards(self, place: Place) -> int:
        """Return how many more cards a channel may get now."""
        recent = await self._cards.recent(place.surface, place.server, place.channel, now() - MINUTE)
        return max(0, self._care.surge_cards - recent)

    async def count(self, place: Place, cases: Sequence[Case]) -> None:
        """Count cases into the notice of their group; they get no card and wait in the queue."""
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
        known = await self._cards.notice(*where, topic)
        if known is not None and moment - known.at > timedelta(seconds=self._care.surge_window_s):
            known = None
        since = known.since if known else min(case.received_at for case in new)
        count = len(new) + (known.count if known else 0)
        text = surge_text(group, count, moment - since)
        message = await self._board.announce(place.server, place.channel, text, known.message if known else None)
        await self._cards.note(Notice(*where, topic, message, count, since, moment))


def surge_text(group: TargetGroup, count: int, length: timedelta) -> str:
    """Say how many posts came how fast, and where they are."""
    return _(
        "Surge: {flood}. They get no cards of their own and wait in the queue: {command}",
        flood=surge_words(group, count, length), command=f"/rejoinder queue group:{group}",
    )  # fmt: skip


def _by_group(cases: Sequence[Case]) -> dict[TargetGroup, list[Case]]:
    groups: dict[TargetGroup, list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.triage.groups[0].group if case.triage and case.triage.groups else TargetGroup.OTHER].append(case)
    return groups
