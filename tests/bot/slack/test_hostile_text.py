"""Whatever a hostile post, draft or document holds, Slack shows it as it stands: no call, no link."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.chat.defuse import JOINER
from tests.bot.samples import add_duelled, add_pending
from tests.bot.slack.conftest import ANA, Floor, seen
from tests.factories import make_evidence, make_post, make_source

HOSTILE = (
    "<!channel> <!everyone> <!here> @channel @everyone <@U0ANA> <#C0DESK> <!subteam^S0LEADS> "
    "<https://evil.example/|your bank> https://evil.example www.evil.example mailto:a@evil.example "
    "*bold* _it_ ~no~ `code` ```block``` :rage: > quote & &lt;!channel&gt; \u202eesrever\u202c "
)
# What Slack's clients would turn into something: https://docs.slack.dev/messaging/formatting-message-text
LIVE = re.compile(r"<[!@#a-z]|@(?:channel|everyone|here)\b|\w+://\w|www\.\w|mailto:\w|\u202e")


def live(value: Any) -> list[str]:
    """Return what of a message would take effect: links and mentions made on purpose are elements of their own."""
    effects: list[str] = []
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            effects.append(f"mrkdwn: {value['text']}")
        if value.get("type") in ("user", "usergroup", "broadcast", "channel", "emoji"):
            effects.append(str(value))
        for name, item in value.items():
            if name in ("text", "alt_text") and isinstance(item, str):
                effects += LIVE.findall(item)
            elif name != "value":
                effects += live(item)
    elif isinstance(value, list):
        effects += [effect for item in value for effect in live(item)]
    return effects


@pytest.mark.parametrize("length", [len(HOSTILE), 5_000])
async def test_a_hostile_case_comes_out_inert_and_cut(working: Floor, length: int) -> None:
    text = (HOSTILE * 40)[:length]
    flagged = make_post(
        "<!channel>*https://evil.example", text, language="en", reason=text[:400],
        url="https://evil.example/|<!here>",
    )  # fmt: skip
    source = make_source(institution=text, title=text, symbol=text, locator=text, url="javascript:alert(1)")
    evidence = make_evidence("e", text, source=source)
    await add_pending(working.house.ledger, flagged, text, evidence=(evidence,), note=text)
    card = await working.card()
    assert not live(card), live(card)
    assert len(seen(card)) < 6_000
    for action in ("show", "evidence"):
        await working.press(action)
        view = await working.modal()
        assert not live(view.content), live(view.content)
        assert JOINER in seen(view.content)
        view.open = False


async def test_details_of_a_hostile_post_are_inert(working: Floor) -> None:
    await add_duelled(working.house.ledger, make_post("1", "They ruin it.", language="en"), HOSTILE)
    await working.press("details")
    view = await working.modal()
    assert not live(view.content), live(view.content)
    assert JOINER in seen(view.content)


async def test_a_command_that_is_hostile_is_answered_inertly(working: Floor) -> None:
    await working.slack.people.command(ANA, "C0DESK", "<!channel> https://evil.example")
    ephemeral = await working.ephemeral("There is no command")
    assert not live(ephemeral)
    assert "<" not in ephemeral["text"]
