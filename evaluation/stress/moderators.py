"""Scripted moderators, who decide, edit, undo, redraft and collide over the desk's HTTP API, during faults too.

Each decision is logged before it is sent, so that the outcome can be compared with it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from evaluation.stress.family import Family, token
from evaluation.stress.plan import StressPlan

LOOK_EVERY_S = 1.0
AGAIN_S = 0.5
PATIENCE = aiohttp.ClientTimeout(45)
PENDING = {"state": "pending", "limit": "200", "doubtful": "false"}
ROUNDS = 3
"""Most rounds of decisions on one case: after an undo, the moderator decides again."""
COLLIDING_ACTIONS = (("approve", "edit"), ("edit", "edit"), ("edit", "reject"), ("approve", "dismiss"))
"""Pairs of actions for two moderators who decide on the same case at once."""
ACTION_WEIGHTS = {"approve": 40, "edit": 20, "reject": 8, "dismiss": 4, "redraft": 8, "undo": 20}


@dataclass
class SentDecision:
    """A decision as a moderator sent it.

    `text` is the reply that must be published if the decision stands, None if there is none. `status` is the last
    answer's HTTP status, None if no desk answered; `sent` counts the attempts.
    """

    key: str
    version: int
    who: str
    action: str
    text: str | None
    status: int | None = None
    sent: int = 0


@dataclass
class DecisionLog:
    """Every decision that the moderators sent, in order."""

    decisions: list[SentDecision] = field(default_factory=list)
    collisions: int = 0

    @property
    def answered(self) -> int:
        """Return how many decisions were answered with 200."""
        return sum(decision.status == 200 for decision in self.decisions)


class Moderators:
    """The scripted moderators at the desks."""

    def __init__(self, plan: StressPlan, family: Family, http: aiohttp.ClientSession, log: DecisionLog) -> None:
        self._plan = plan
        self._family = family
        self._http = http
        self._log = log
        self._chance = random.Random(plan.seed + 1)
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        self._taken: set[str] = set()

    async def work(self) -> None:
        """Decide on cases until the planned number is reached, or until cancelled."""
        looking = asyncio.create_task(self._look())
        colliding = set(self._chance.sample(range(self._plan.decisions), self._plan.collisions))
        turns = iter(range(self._plan.decisions))
        try:
            await asyncio.gather(*(self._moderate(who, turns, colliding) for who in self._family.moderators))
        finally:
            looking.cancel()

    async def _look(self) -> None:
        """Queue pending cases with a draft, until cancelled; any desk may answer."""
        while True:
            cursor: str | None = None
            while True:
                query = PENDING | ({"cursor": cursor} if cursor else {})
                status, page = await self._call("GET", "/v1/cases", self._family.moderators[0], params=query)
                if status != 200:
                    break
                for case in page["cases"]:
                    if case["draft"] and case["key"] not in self._taken:
                        self._taken.add(case["key"])
                        self._waiting.put_nowait(case["key"])
                cursor = page["next_cursor"]
                if cursor is None:
                    break
            await asyncio.sleep(LOOK_EVERY_S)

    async def _moderate(self, who: str, turns: Any, colliding: set[int]) -> None:
        for turn in turns:
            key = await self._waiting.get()
            if turn in colliding:
                await self._collide(key, who)
            else:
                await self._settle(key, who)

    async def _settle(self, key: str, who: str) -> None:
        """Decide on a case with randomly drawn actions, until it needs no further decision from here."""
        for round_number in range(ROUNDS):
            case = await self._case(key, who)
            if case["state"] != "pending":
                return
            last = round_number == ROUNDS - 1
            weights = {
                action: n for action, n in ACTION_WEIGHTS.items() if not last or action not in ("undo", "redraft")
            }
            [action] = self._chance.choices(list(weights), list(weights.values()))
            first = self._chance.choice(["approve", "edit"]) if action == "undo" else action
            decision = self._decision(case, who, first)
            await self._decide(decision)
            if action == "redraft":
                self._taken.discard(key)
                return
            if action != "undo" or decision.status != 200:
                return
            # Some undos come too late, and some just as the reply is sent.
            await asyncio.sleep(self._chance.uniform(0, 1.3) * self._plan.undo_s)
            await self._decide(SentDecision(key, case["version"] + 1, who, "undo", None))

    async def _collide(self, key: str, who: str) -> None:
        """Let two moderators decide at once on the same version of a case."""
        case = await self._case(key, who)
        opponent = self._chance.choice([name for name in self._family.moderators if name != who])
        actions = self._chance.choice(COLLIDING_ACTIONS)
        pair = [self._decision(case, name, action) for name, action in zip((who, opponent), actions, strict=True)]
        self._log.collisions += 1
        await asyncio.gather(*map(self._decide, pair))

    def _decision(self, case: Mapping[str, Any], who: str, action: str) -> SentDecision:
        draft = case["drafts"][-1]["text"] if case["drafts"] else ""
        edited = f"{draft} «¡Sí!» wrote {who}, version {case['version']} 🌻 – “né”"
        text = {"approve": draft, "edit": edited}.get(action)
        return SentDecision(case["key"], case["version"], who, action, text)

    async def _decide(self, decision: SentDecision) -> None:
        """Log and send a decision; repeat it while desks fail to answer and the case's version has not changed."""
        self._log.decisions.append(decision)
        body = {"action": decision.action, "version": decision.version}
        if decision.action == "edit":
            # Leads may override the guard, whose verdict on the script's texts is not under test here.
            body |= {"text": decision.text, "override": True}
        if decision.action in ("reject", "dismiss"):
            body["reason"] = "off topic"
        while True:
            decision.sent += 1
            status, _ = await self._call("POST", f"/v1/cases/{decision.key}/decision", decision.who, json=body)
            decision.status = status
            if status is not None and status < 500:
                return
            await asyncio.sleep(AGAIN_S)
            if (await self._case(decision.key, decision.who))["version"] != decision.version:
                return

    async def _case(self, key: str, who: str) -> dict[str, Any]:
        while True:
            status, case = await self._call("GET", f"/v1/cases/{key}", who)
            if status == 200:
                return dict(case)
            await asyncio.sleep(AGAIN_S)

    async def _call(self, method: str, path: str, who: str, **options: Any) -> tuple[int | None, Any]:
        """Send a request to a random desk, and return status and body; (None, None) if it did not answer."""
        url = self._chance.choice(self._family.desk_urls) + path
        headers = {"Authorization": f"Bearer {token(who)}"}
        try:
            async with self._http.request(method, url, headers=headers, timeout=PATIENCE, **options) as answer:
                return answer.status, await answer.json()
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return None, None
