from __future__ import annotations

import asyncio
import time

import pytest

from bot.slack.socket_mode import SocketModeConnection
from core.domain import CaseState
from core.errors import BadSettings
from tests.bot.samples import add_pending, post
from tests.bot.slack.conftest import ANA, Floor, until
from tests.bot.slack.server import APP_TOKEN, PATIENCE_S
from tests.bot.slack.socket_mode import ACK_S, Envelope


async def test_a_cut_line_is_opened_again_and_presses_arrive(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    await working.card()
    working.slack.socket.cut()
    await until(lambda: not working.slack.socket.connected.is_set())
    await working.press("approve")
    await working.card("ana approved it")
    assert (await working.house.desk.case(key)).state is CaseState.APPROVED


async def test_a_failed_connection_is_tried_again_with_a_new_ticket(working: Floor) -> None:
    working.slack.socket.refuse = True
    working.slack.socket.cut()
    opened = len(working.slack.at.called("apps.connections.open"))
    await until(lambda: len(working.slack.at.called("apps.connections.open")) > opened + 2)
    working.slack.socket.refuse = False
    await asyncio.wait_for(working.slack.socket.connected.wait(), PATIENCE_S)


async def test_when_slack_asks_to_come_back_the_bot_does(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    await working.card()
    old = working.slack.socket.connections()
    await working.slack.socket.disconnect()
    # What is sent over a connection that is being left may be lost; Slack would send it again.
    await until(lambda: bool(now := working.slack.socket.connections()) and not now & old)
    await working.press("approve")
    await working.card("ana approved it")


async def test_what_is_delivered_twice_is_done_once(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    card = await working.card()
    sent: list[Envelope] = []
    send = working.slack.socket.send

    async def twice(envelope: Envelope) -> None:
        sent.append(envelope)
        await send(envelope)
        await send(envelope)

    working.slack.socket.send = twice  # type: ignore[method-assign]
    await working.slack.people.press(ANA, "C0DESK", card["ts"], "card:claim")
    await working.card("ana holds it")
    assert [change.why.split(" ")[0] for change in await working.house.desk.history(key)].count("claimed") == 1
    assert working.ephemerals() == [] and sent[0].sends == 2


@pytest.mark.parametrize(("at_once", "in_time_s"), [(20, PATIENCE_S), pytest.param(200, ACK_S, marks=pytest.mark.slow)])
async def test_many_interactions_at_once_are_acknowledged_in_time(
    working: Floor, capsys: pytest.CaptureFixture[str], at_once: int, in_time_s: float
) -> None:
    """Half of them ask for the post, which Slack lets us show only within 3 s; half try to decide."""
    working.slack.wait_up_to(in_time_s)
    await add_pending(working.house.ledger, post(1))
    card = await working.card()
    actions = [("show", "approve")[n % 2] for n in range(at_once)]
    presses = [
        working.slack.people.press(f"U{n:04d}", "C0DESK", card["ts"], f"card:{action}")
        for n, action in enumerate(actions)
    ]
    began = time.monotonic()
    answers = await asyncio.gather(*presses)
    await until(lambda: len(working.ephemerals()) + len(working.modals()) == at_once)
    acks = sorted(answer.ack_s for answer in answers if answer.ack_s is not None)
    with capsys.disabled():
        print(  # noqa: T201 - the benchmark's line
            f"\n{at_once} Slack interactions at once: ack median {acks[at_once // 2]:.2f} s, slowest {acks[-1]:.2f} s; "
            f"all answered in {time.monotonic() - began:.2f} s; "
            f"{len(working.modals())} of {at_once // 2} modals in time"
        )
    assert len(acks) == at_once and acks[-1] < in_time_s and all(answer.sends == 1 for answer in answers)
    assert len(working.modals()) == at_once // 2, "the others came too late for Slack"


async def test_a_revoked_app_token_ends_the_line_in_plain_words(floor: Floor, caplog: pytest.LogCaptureFixture) -> None:
    floor.slack.at.tokens[APP_TOKEN].refused = "token_revoked"
    floor.open()
    line = SocketModeConnection(APP_TOKEN, floor.slack.base_url, ping_s=0.05)
    with pytest.raises(BadSettings, match="was revoked"):
        await line.check()
    floor.slack.at.tokens[APP_TOKEN].refused = None
    running = asyncio.create_task(line.run(floor.bot.app))
    await asyncio.wait_for(floor.slack.socket.connected.wait(), PATIENCE_S)
    floor.slack.at.tokens[APP_TOKEN].refused = "token_revoked"
    floor.slack.socket.cut()
    with pytest.raises(BadSettings, match="the app-level token: it was revoked"):
        await asyncio.wait_for(running, PATIENCE_S)
    assert APP_TOKEN not in caplog.text and "Traceback" not in caplog.text
