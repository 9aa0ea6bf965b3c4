"""Send failed cases on from what the ledger has: where a dead letter is gone, or its signature no longer counts."""

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
    """Yield the keys of all failed cases, the oldest first."""
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
    """Put a failed case back to where it failed, send its message, and return that state.

    Should the broker fail meanwhile, the sweeper sends the message later; should it take less than usual, the sweeper
    lets the case fail again. Raises CaseNotFound, NotAllowed for a case that has not failed or, unless `though_deadly`,
    that workers ended on, MessageTooLarge, and what the producer raises.
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
