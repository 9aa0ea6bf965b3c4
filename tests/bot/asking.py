"""Helpers by which a moderator asks a desk for an action, for tests of what the desk then does."""

from __future__ import annotations

from bot.desk import Desk
from bot.permissions import Moderator
from core.domain import Action, Case, Decision
from ledger import Ledger
from tests.bot.samples import add_pending, post

ANA = Moderator("ana", "reviewer")
BEN = Moderator("ben", "reviewer")
LEA = Moderator("lea", "lead")
ADA = Moderator("ada", "admin")


async def pending(ledger: Ledger, number: int = 1) -> str:
    return await add_pending(ledger, post(number))


async def ask(desk: Desk, key: str, action: Action, who: Moderator = ANA, /, **more: object) -> Case:
    case = await desk.case(key)
    return await desk.decide(key, Decision.model_validate({"action": action, "version": case.version} | more), who)
