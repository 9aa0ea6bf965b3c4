"""Revive failed cases from the ledger, for dead letters that are gone or whose signature is no longer accepted."""

from __future__ import annotations

from collections.abc import AsyncIterator

from core.domain import CaseState
from core.errors import MessageTooLarge, NotAllowed
from core.lifecycle import REPLAY, STAGES
from ledger import Ledger
from stream.in_hand import DEADLY
from stream.messages import MAX_MESSAGE, encode
from stream.producer import Producer
from stream.sweeper import due_message
from stream.topics import Topics

PAGE = 100


async def failed_cases(ledger: Ledger) -> AsyncIterator[str]:
    """Yield the keys of all failed cases, oldest first."""
    cursor: str | None = None
    while True:
        page = await ledger.cases.page(states=[CaseState.FAILED], limit=PAGE, cursor=cursor)
        for case in page.cases:
            yield case.key
        if (cursor := page.next_cursor) is None:
            return


async def revive(
    ledger: Ledger, producer: Producer, topics: Topics, key: str, *, though_deadly: bool = True
) -> CaseState:
    """Return a failed case to the state it failed in, send its message, and return that state.

    If the broker fails meanwhile, the sweeper sends the message later; if the broker's size limit is lower than usual,
    the sweeper fails the case again. Raises CaseNotFound, MessageTooLarge and the producer's errors; NotAllowed for a
    case that has not failed and, unless `though_deadly`, for one that took workers down.
    """
    case = await ledger.cases.get(key)
    if case.state not in REPLAY.takes:
        raise NotAllowed(f"case {key} is {case.state}, not failed; there is nothing to revive")
    if DEADLY in (case.error or "") and not though_deadly:
        raise NotAllowed(f"case {key} took workers down; mend what its error says, then name it to revive it")
    history = await ledger.history.of(key)
    failed_from = next(step.from_state for step in reversed(history) if step.from_state in REPLAY.leads_to)
    assert failed_from is not None, "no case begins as a failed one"
    stage, record = due_message(case.model_copy(update={"state": failed_from}))
    message = encode(record)
    if len(message) > MAX_MESSAGE:
        raise MessageTooLarge(f"case {key} needs a message of {len(message):,} bytes; {MAX_MESSAGE:,} is the most")
    await ledger.stages.revive(key, failed_from)
    await producer.send(topics.named(STAGES[stage].reads), key, message)
    return failed_from
