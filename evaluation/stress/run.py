"""One run: start the processes; send flags, decide and cause faults at once; wait until all is at rest; judge."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from core.domain import CaseState, Transition
from core.errors import Unavailable
from core.lifecycle import UNFINISHED
from evaluation.stress.family import AUTHOR_KEY, Family, family, token
from evaluation.stress.faults import Faults, Striker
from evaluation.stress.flagging import PLATFORM, Flagging, flag
from evaluation.stress.moderators import DecisionLog, Moderators
from evaluation.stress.plan import StressPlan
from evaluation.stress.replies import dead_letters, replies_by_case
from evaluation.stress.report import Report
from evaluation.stress.stages import timings
from evaluation.stress.verdict import judge
from ledger import Ledger

LOOK_EVERY_S = 1.0
AT_REST_S = 5.0
"""Seconds (besides a lease) with nothing left to do after which a run counts as over: a doubled reply may come late."""
PAGE = 200


async def run(plan: StressPlan) -> Report:
    """Carry out a plan; raises Unavailable if its processes do not come up."""
    if plan.folder is not None:
        plan.folder.mkdir(parents=True, exist_ok=True)
        return await _run(plan, plan.folder.resolve())
    with TemporaryDirectory(prefix="rejoinder-stress-", ignore_cleanup_errors=True) as folder:
        return await _run(plan, Path(folder))


async def _run(plan: StressPlan, folder: Path) -> Report:
    flagging, log = Flagging(), DecisionLog()
    async with family(plan, folder) as running, aiohttp.ClientSession() as http:
        faults, began = Faults(), time.monotonic()
        headers = {"Authorization": f"Bearer {token(PLATFORM)}"}
        moderators = asyncio.create_task(Moderators(plan, running, http, log).work())
        async with aiohttp.ClientSession(headers=headers) as platform:
            await asyncio.gather(
                flag(platform, running.gateway_url, plan, flagging), Striker(plan, running, faults).strike()
            )
        ledger = await Ledger.open(running.settings.ledger_url, AUTHOR_KEY.encode())
        try:
            await _at_rest(plan, ledger, flagging, moderators)
            seconds = time.monotonic() - began
            history = await _history(ledger)
        finally:
            moderators.cancel()
            await ledger.close()
        states = await _visible_states(running, http)
        replies = await replies_by_case(running.settings.kafka)
        letters = await dead_letters(running.settings.kafka)
        verdict = judge(flagging.accepted, flagging.refused, states, log.decisions, history, replies)
        return Report(
            plan, seconds, flagging, log, sum(map(len, replies.values())), faults.struck, letters,
            {member.name: member.starts for member in running.members},
            timings(flagging.answers_s, flagging.first_sent, history, plan.undo_s), verdict,
        )  # fmt: skip


async def _at_rest(plan: StressPlan, ledger: Ledger, flagging: Flagging, moderators: asyncio.Task[None]) -> None:
    """Wait until moderators are done and no case, reply or flag is outstanding, at most `settle_s` seconds."""
    deadline = time.monotonic() + plan.settle_s
    quiet_since: float | None = None
    while time.monotonic() < deadline:
        await asyncio.sleep(LOOK_EVERY_S)
        if moderators.done():
            moderators.result()
        if await _owes_something(ledger, len(flagging.accepted)) or not moderators.done():
            quiet_since = None
        elif quiet_since is None:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > AT_REST_S + plan.lease_s:
            return


async def _owes_something(ledger: Ledger, flags: int) -> bool:
    with suppress(Unavailable):
        counts = await ledger.cases.counts()
        owed = sum(counts[state] for state in (*UNFINISHED, CaseState.APPROVED))
        return bool(owed or sum(counts.values()) < flags or (await ledger.outbox.backlog()).rows)
    return True


async def _history(ledger: Ledger) -> list[Transition]:
    rows: list[Transition] = []
    while batch := await ledger.history.since(rows[-1].id if rows else 0, 5_000):
        rows += batch
    return rows


async def _visible_states(running: Family, http: aiohttp.ClientSession) -> dict[str, CaseState]:
    """Return the states of all cases as a moderator sees them, by case key, read page by page from a desk."""
    states: dict[str, CaseState] = {}
    headers = {"Authorization": f"Bearer {token(running.moderators[0])}"}
    query = {"limit": str(PAGE)}
    while True:
        async with http.get(f"{running.desk_urls[0]}/v1/cases", headers=headers, params=query) as answer:
            answer.raise_for_status()
            page = await answer.json()
        states |= {case["key"]: CaseState(case["state"]) for case in page["cases"]}
        if page["next_cursor"] is None:
            return states
        query["cursor"] = page["next_cursor"]
