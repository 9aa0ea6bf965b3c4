"""Keep the cards of one chat platform true: post those that are missing, update those that are outdated.

The ledger says what should hang and what does, so it makes no difference why they differ: a new draft, a decision made
in the browser or in another chat, a restart, a network cut. Each channel is worked on by itself: one that the platform
slows down holds up no other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Protocol
from weakref import WeakValueDictionary

from bot.cards import Card, build_card
from bot.changes import Changes
from bot.routing import channel_for
from bot.surge import Surge
from core.domain import Case, CaseState, now
from core.errors import CardGone, CardRefused, CaseNotFound, ChannelLost, Unavailable
from core.lifecycle import FINAL
from core.settings import CareSettings, ChatServer
from ledger import Ledger
from ledger.cards import HungCard
from ledger.moderator_settings import SwitchKind

log = logging.getLogger(__name__)

Edit = Callable[[Card, int], Awaitable[None]]
Place = tuple[str, str]
"""Server id, channel id."""

ORPHAN_S = 30.0
"""Age from which a reservation counts as left behind by a crash."""
RETRY_LOST_S = 60.0
PAGE = 200


class Board(Protocol):
    """Be a chat platform on which cards hang.

    Every method may wait as long as the platform asks for, and raises ChannelLost, CardGone for a deleted message,
    CardRefused for a card the platform does not take, or Unavailable, after which it is tried again. `number` is the
    case's short number: buttons carry it.
    """

    surface: str

    async def post(self, server: str, channel: str, card: Card, number: int) -> str:
        """Post a card and return its message id; the same number twice within minutes should give one message."""

    async def update(self, server: str, channel: str, message: str, card: Card, number: int) -> None:
        """Show a card anew; a normal return means that the platform has taken it."""

    async def find(self, server: str, channel: str, number: int, since: datetime) -> str | None:
        """Return the id of a message of ours since a moment that is the card with this number, or None."""

    async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
        """Post a text, or change the message `message`, and return the message id; a deleted one is posted anew."""


class CardKeeper:
    """Keep one platform's cards true until cancelled."""

    def __init__(
        self,
        ledger: Ledger,
        board: Board,
        servers: Mapping[str, ChatServer],
        care: CareSettings,
        changes: Changes,
        every_s: float = 2.0,
    ) -> None:
        self._ledger = ledger
        self._board = board
        self._servers = servers
        self._changes = changes
        self._every_s = every_s
        self._surge = Surge(ledger.cards, board, care)
        self._busy: dict[Place, asyncio.Task[None]] = {}
        self._lost: dict[Place, datetime] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self) -> None:
        """Keep the cards true until cancelled; while ledger or platform is away, keep trying."""
        away = False
        with self._changes.subscribe() as changes:
            try:
                while True:
                    try:
                        await self.look()
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

    async def look(self) -> None:
        """Find out what is to be done and start doing it, channel by channel."""
        for place, work in (await self._work()).items():
            if place not in self._busy:
                self._busy[place] = asyncio.create_task(self._do(place, *work), name=f"cards of {place[1]}")

    async def settled(self) -> None:
        """Wait until what was started is done."""
        while self._busy:
            await asyncio.gather(*self._busy.values())

    async def refresh(self, hung: HungCard, edit: Edit | None = None) -> None:
        """Show a hung card as its case stands now; `edit` changes the message another way than the board does."""
        if hung.message is None:
            return
        turn = self._turns.setdefault(hung.message, asyncio.Lock())
        async with turn:
            case = await self._ledger.cases.get(hung.case_key)
            number = await self._ledger.cards.number(case.key)
            card = build_card(case)
            if edit is not None:
                await edit(card, number)
            else:
                await self._board.update(hung.server, hung.channel, hung.message, card, number)
            await self._note(hung.server, hung.message, case, card)

    def is_lost(self, place: Place) -> bool:
        """Tell whether a channel could not be used lately."""
        since = self._lost.get(place)
        return since is not None and now() < since + timedelta(seconds=RETRY_LOST_S)

    async def _work(self) -> dict[Place, tuple[list[HungCard], list[HungCard], list[Case]]]:
        surface, servers = self._board.surface, list(self._servers)
        work: dict[Place, tuple[list[HungCard], list[HungCard], list[Case]]] = defaultdict(lambda: ([], [], []))
        before = now() - timedelta(seconds=ORPHAN_S)
        for orphan in await self._ledger.cards.unfinished(surface, servers, before):
            work[orphan.server, orphan.channel][0].append(orphan)
        for hung in await self._ledger.cards.outdated(surface, servers):
            if not self.is_lost((hung.server, hung.channel)):
                work[hung.server, hung.channel][1].append(hung)
        for server in servers:
            await self._find_missing(server, work)
        return work

    async def _find_missing(
        self, server: str, work: dict[Place, tuple[list[HungCard], list[HungCard], list[Case]]]
    ) -> None:
        switched = await self._ledger.moderator_settings.switched(self._board.surface, server)
        paused = {item.scope for item in switched if item.kind is SwitchKind.PAUSED}
        muted = {item.scope for item in switched if item.kind is SwitchKind.MUTED}
        last: Case | None = None
        while page := await self._ledger.cards.missing(self._board.surface, server, PAGE, last):
            for case in page:
                channel = self._channel(server, case)
                if channel is not None and channel not in paused and case.post.platform not in muted:
                    work[server, channel][2].append(case)
            last = page[-1]
            if len(page) < PAGE:
                break

    def _channel(self, server: str, case: Case) -> str | None:
        """Return where a case goes; while its channel can't be used, that is the server's default channel."""
        wanted = channel_for(self._servers[server], case.post, case.triage)
        if wanted is not None and self.is_lost((server, wanted)):
            wanted = self._servers[server].channel
        return None if wanted is None or self.is_lost((server, wanted)) else wanted

    async def _do(self, place: Place, orphans: list[HungCard], outdated: list[HungCard], missing: list[Case]) -> None:
        try:
            for orphan in orphans:
                await self._settle(orphan)
            for hung in outdated:
                await self._update(hung)
            if missing:
                await self._post(place, missing)
            self._found(place)
        except ChannelLost as error:
            self._lose(place, error)
        except Unavailable as error:
            log.warning("The cards of %s channel %s wait: %s", self._board.surface, place[1], error)
        except Exception:
            # One card that nobody can render must not end the others; the next look tries it again.
            log.exception("The cards of %s channel %s could not be kept", self._board.surface, place[1])
        finally:
            self._busy.pop(place, None)

    async def _settle(self, orphan: HungCard) -> None:
        number = await self._ledger.cards.number(orphan.case_key)
        since = orphan.at - timedelta(seconds=ORPHAN_S)
        try:
            message = await self._board.find(orphan.server, orphan.channel, number, since)
        except ChannelLost:
            message = None
        if message is None:
            await self._ledger.cards.take_down(orphan.surface, orphan.server, orphan.case_key)
        else:
            await self._ledger.cards.hang(orphan.surface, orphan.server, orphan.case_key, message, 0)

    async def _update(self, hung: HungCard) -> None:
        try:
            await self.refresh(hung)
        except (CardGone, CaseNotFound):
            await self._ledger.cards.take_down(hung.surface, hung.server, hung.case_key)
        except CardRefused as error:
            log.error("The card of case %s can't be updated: %s", hung.case_key, error)
        except ChannelLost as error:
            if error.gone:
                await self._ledger.cards.take_down(hung.surface, hung.server, hung.case_key)
            raise

    async def _post(self, place: Place, cases: list[Case]) -> None:
        room = await self._surge.room(place)
        for case in cases[:room]:
            try:
                await self._post_one(place, case)
            except CardRefused as error:
                # Its reservation keeps it from being tried at every look; `_settle` lets go of it after a while.
                log.error("Case %s gets no card: %s", case.key, error)
        if cases[room:]:
            await self._surge.count(place, cases[room:])

    async def _post_one(self, place: Place, case: Case) -> None:
        surface, (server, channel) = self._board.surface, place
        if not await self._ledger.cards.reserve(surface, server, case.key, channel):
            return
        number = await self._ledger.cards.number(case.key)
        card = build_card(case)
        try:
            message = await self._board.post(server, channel, card, number)
        except ChannelLost:
            await self._ledger.cards.take_down(surface, server, case.key)
            raise
        await self._note(server, message, case, card)

    async def _note(self, server: str, message: str, case: Case, card: Card) -> None:
        final = case.state in FINAL or (case.state is CaseState.REJECTED and card.undo_until is None)
        await self._ledger.cards.hang(
            self._board.surface, server, case.key, message, case.version, card.stale_at, unsettled=not final
        )

    def _lose(self, place: Place, error: ChannelLost) -> None:
        if place not in self._lost:
            log.error("%s Its cases go to the server's default channel meanwhile.", error)
        self._lost[place] = now()
        self._changes.nudge()

    def _found(self, place: Place) -> None:
        if self._lost.pop(place, None) is not None:
            log.info("The %s channel %s can be used again.", self._board.surface, place[1])

    async def _pause(self, change: Awaitable[object]) -> None:
        try:
            await asyncio.wait_for(change, self._every_s)
        except TimeoutError:
            return
