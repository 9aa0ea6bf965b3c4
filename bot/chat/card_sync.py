"""Keep one chat platform's cards in step with the ledger: post missing cards and update outdated ones.

The ledger knows which cards should exist and which do, so the cause of a difference does not matter: a new draft, a
decision in the browser or another chat, a restart, a network failure. Each channel is processed independently, so that
one which the platform throttles delays no other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from weakref import WeakValueDictionary

from bot.changes import Changes
from bot.chat.card_board import CardBoard
from bot.chat.cards import Card, build_card
from bot.chat.languages import Languages
from bot.chat.place import Place
from bot.chat.routing import channel_for
from bot.chat.surge import SurgeLimiter
from bot.translation import speaking
from core.domain import Case, now
from core.errors import CardGone, CardRefused, CaseNotFound, ChannelLost, Unavailable
from core.lifecycle import ENDED, TURNED_DOWN
from core.settings import CareSettings, ChatWorkspace
from ledger import Ledger
from ledger.cards import PostedCard, UncardedCase
from ledger.moderator_settings import SwitchKind

log = logging.getLogger(__name__)

Edit = Callable[[Card, int], Awaitable[None]]

ORPHAN_S = 30.0
"""Age in seconds from which a reservation counts as left behind by a crash."""
RETRY_LOST_S = 60.0
PAGE = 200


@dataclass
class _ChannelWork:
    """The work in one channel: reservations left behind by a crash, outdated cards, cases without a card."""

    orphans: list[PostedCard] = field(default_factory=list)
    outdated: list[PostedCard] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Case keys."""


@dataclass(frozen=True)
class _Routed:
    """The channel that the settings give a case, as of its version `version`."""

    version: int
    channel: str | None


class CardSync:
    """The task that keeps one platform's cards in step with their cases, each in its server's language."""

    def __init__(
        self,
        ledger: Ledger,
        board: CardBoard,
        servers: Mapping[str, ChatWorkspace],
        care: CareSettings,
        changes: Changes,
        languages: Languages,
        every_s: float = 2.0,
    ) -> None:
        self._ledger = ledger
        self._board = board
        self._servers = servers
        self._changes = changes
        self._languages = languages
        self._every_s = every_s
        self._surge = SurgeLimiter(ledger.cards, board, care)
        self._busy: dict[Place, asyncio.Task[None]] = {}
        self._lost: dict[Place, datetime] = {}
        self._routed: dict[str, dict[str, _Routed]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self) -> None:
        """Keep the cards up to date until cancelled, waiting out outages of ledger and platform."""
        away = False
        with self._changes.subscribe() as changes:
            try:
                while True:
                    try:
                        await self.sync_once()
                        away = False
                    except Unavailable as error:
                        if not away:
                            log.warning("The %s cards wait: %s", self._board.surface, error)
                        away = True
                    await self._pause(changes.next())
                    changes.forget()
            finally:
                for task in self._busy.values():
                    task.cancel()
                await asyncio.gather(*self._busy.values(), return_exceptions=True)

    async def sync_once(self) -> None:
        """Find what has to be done and start doing it, one task per channel."""
        for place, work in (await self._work()).items():
            if place not in self._busy:
                self._busy[place] = asyncio.create_task(
                    self._sync_channel(place, work), name=f"cards of {place.channel}"
                )

    async def wait_until_idle(self) -> None:
        """Wait until all started work is done."""
        while self._busy:
            await asyncio.gather(*self._busy.values())

    async def refresh(self, posted: PostedCard, edit: Edit | None = None) -> None:
        """Update a posted card to its case's current state, by `edit` if given, otherwise through the board."""
        if posted.message is None:
            return
        lock = self._locks.setdefault(posted.message, asyncio.Lock())
        async with lock:
            case = await self._ledger.cases.get(posted.case_key)
            number = await self._ledger.cards.number_of(case.key)
            with speaking(self._languages.of_server(posted.server)):
                card = build_card(case)
                if edit is not None:
                    await edit(card, number)
                else:
                    await self._board.update(posted.server, posted.channel, posted.message, card, number)
            await self._record(posted.server, posted.message, case, card)

    def is_lost(self, place: Place) -> bool:
        """Tell whether a channel was recently found unusable."""
        since = self._lost.get(place)
        return since is not None and now() < since + timedelta(seconds=RETRY_LOST_S)

    async def _work(self) -> dict[Place, _ChannelWork]:
        surface, servers = self._board.surface, list(self._servers)
        work: dict[Place, _ChannelWork] = defaultdict(_ChannelWork)
        before = now() - timedelta(seconds=ORPHAN_S)
        for orphan in await self._ledger.cards.unfinished(surface, servers, before):
            work[_place_of(orphan)].orphans.append(orphan)
        for posted in await self._ledger.cards.outdated(surface, servers):
            if not self.is_lost(_place_of(posted)):
                work[_place_of(posted)].outdated.append(posted)
        for server in servers:
            await self._find_missing(server, work)
        return work

    async def _find_missing(self, server: str, work: dict[Place, _ChannelWork]) -> None:
        switched = await self._ledger.moderator_settings.switched(self._board.surface, server)
        paused = {item.scope for item in switched if item.kind is SwitchKind.PAUSED}
        muted = {item.scope for item in switched if item.kind is SwitchKind.MUTED}
        earlier, routed = self._routed.get(server, {}), dict[str, _Routed]()
        last: UncardedCase | None = None
        while page := await self._ledger.cards.missing(self._board.surface, server, PAGE, last):
            routed |= await self._route(server, page, earlier)
            for case in page:
                place = self._usable_place(server, routed[case.key].channel) if case.key in routed else None
                if place is not None and place.channel not in paused and case.platform not in muted:
                    work[place].missing.append(case.key)
            last = page[-1]
            if len(page) < PAGE:
                break
        self._routed[server] = routed

    async def _route(
        self, server: str, page: Sequence[UncardedCase], earlier: Mapping[str, _Routed]
    ) -> Mapping[str, _Routed]:
        """Return key -> where the case goes; complete cases are read only if new or changed."""
        versions = {case.key: case.version for case in page}
        same = {
            key: earlier[key] for key, version in versions.items() if key in earlier and earlier[key].version == version
        }
        return same | {
            case.key: _Routed(case.version, channel_for(self._servers[server], case.post, case.triage))
            for case in await self._ledger.cases.named([key for key in versions if key not in same])
        }

    def _usable_place(self, server: str, channel: str | None) -> Place | None:
        """Return where a case goes: its channel, or if that is unusable the server's default channel."""
        for candidate in (channel, self._servers[server].channel):
            if candidate is not None and not self.is_lost(place := Place(self._board.surface, server, candidate)):
                return place
        return None

    async def _sync_channel(self, place: Place, work: _ChannelWork) -> None:
        try:
            for orphan in work.orphans:
                await self._resolve_orphan(orphan)
            for posted in work.outdated:
                await self._update(posted)
            if work.missing:
                with speaking(self._languages.of_server(place.server)):
                    await self._post_missing(place, work.missing)
            self._mark_usable(place)
        except ChannelLost as error:
            self._mark_lost(place, error)
        except Unavailable as error:
            log.warning("The cards of %s channel %s wait: %s", place.surface, place.channel, error)
        except Exception:
            # A card that can't be rendered must not stop the others; the next pass tries it again.
            log.exception("The cards of %s channel %s could not be kept", place.surface, place.channel)
        finally:
            self._busy.pop(place, None)

    async def _resolve_orphan(self, orphan: PostedCard) -> None:
        number = await self._ledger.cards.number_of(orphan.case_key)
        since = orphan.at - timedelta(seconds=ORPHAN_S)
        try:
            message = await self._board.find(orphan.server, orphan.channel, number, since)
        except ChannelLost:
            message = None
        if message is None:
            await self._ledger.cards.forget(orphan.surface, orphan.server, orphan.case_key)
        else:
            await self._ledger.cards.record_message(orphan.surface, orphan.server, orphan.case_key, message, 0)

    async def _update(self, posted: PostedCard) -> None:
        try:
            await self.refresh(posted)
        except (CardGone, CaseNotFound):
            await self._ledger.cards.forget(posted.surface, posted.server, posted.case_key)
        except CardRefused as error:
            log.error("The card of case %s can't be updated: %s", posted.case_key, error)
        except ChannelLost as error:
            if error.gone:
                await self._ledger.cards.forget(posted.surface, posted.server, posted.case_key)
            raise

    async def _post_missing(self, place: Place, keys: Sequence[str]) -> None:
        remaining = await self._surge.remaining_cards(place)
        for key in keys[:remaining]:
            try:
                # Cases read as a list lack the candidates, which tell what the draft rests on.
                await self._post_one(place, await self._ledger.cases.get(key))
            except CaseNotFound:
                log.info("Case %s was removed before it got a card.", key)
            except CardRefused as error:
                # The reservation prevents a new try at every pass; `_resolve_orphan` drops it after a while.
                log.error("Case %s gets no card: %s", key, error)
        if keys[remaining:]:
            await self._surge.count(place, await self._cases(keys[remaining:]))

    async def _cases(self, keys: Sequence[str]) -> list[Case]:
        batches = [keys[start : start + PAGE] for start in range(0, len(keys), PAGE)]
        return [case for batch in batches for case in await self._ledger.cases.named(batch)]

    async def _post_one(self, place: Place, case: Case) -> None:
        if not await self._ledger.cards.reserve(place.surface, place.server, case.key, place.channel):
            return
        number = await self._ledger.cards.number_of(case.key)
        card = build_card(case)
        try:
            message = await self._board.post(place.server, place.channel, card, number)
        except ChannelLost:
            await self._ledger.cards.forget(place.surface, place.server, case.key)
            raise
        await self._record(place.server, message, case, card)

    async def _record(self, server: str, message: str, case: Case, card: Card) -> None:
        final = case.state in ENDED and not (case.state in TURNED_DOWN and card.undo_until)
        await self._ledger.cards.record_message(
            self._board.surface, server, case.key, message, case.version, card.stale_at, unsettled=not final
        )

    def _mark_lost(self, place: Place, error: ChannelLost) -> None:
        if place not in self._lost:
            log.error("%s Its cases go to the server's default channel meanwhile.", error)
        self._lost[place] = now()
        self._changes.nudge()

    def _mark_usable(self, place: Place) -> None:
        if self._lost.pop(place, None) is not None:
            log.info("The %s channel %s can be used again.", place.surface, place.channel)

    async def _pause(self, change: Awaitable[object]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._every_s):
                await change


def _place_of(card: PostedCard) -> Place:
    return Place(card.surface, card.server, card.channel)
