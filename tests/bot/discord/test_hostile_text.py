from __future__ import annotations

import re
from typing import Any

from bot.chat.defuse import defuse
from bot.discord.text import escaped, plain
from tests.bot.discord.look import field
from tests.bot.samples import UNSAFE_LINK, add_duelled, add_pending, post
from tests.factories import make_post

HOSTILE = (
    "@everyone @here <@123456789012345678> <@&123456789012345678> <#123456789012345678> || spoiler || **bold** "
    "https://evil.example/x [a link](https://evil.example) discord.gg/zorblax `code` ```block``` \n# head\n> quote "
    "\u202egnihtyreve niur snaixalbroZ " + "Zorblaxians ruin everything. " * 400
)


async def test_a_hostile_post_comes_out_inert_and_cut(house: Any, platform: Any, start: Any) -> None:
    await start()
    hostile = make_post("h" * 200, HOSTILE[:15_000], language="en")
    await add_pending(house.ledger, hostile, "@everyone See https://evil.example. **Now.**", evidence=(UNSAFE_LINK,))
    card = await platform.card()
    shown = card["embeds"][0]["description"]
    assert len(shown) <= 2_000
    assert shown.startswith("||")
    assert len(re.findall(r"(?<!\\)\|\|", shown)) == 2, "nothing in the post may end the spoiler"
    assert shown.endswith("…||")
    for live in ("@everyone", "@here", "<@1", "<#1", "https://", "discord.gg", "\u202e", "\n# ", "\n> "):
        assert live not in shown, live
    draft = field(card, "Draft")
    assert "@everyone" not in draft
    assert "https://" not in draft
    assert "**" not in draft.replace("\\*", "")
    assert "javascript:" not in str(card)
    assert all(len(item["custom_id"]) <= 100 for row in card["components"] for item in row["components"])


async def test_details_of_a_hostile_post_are_inert(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_duelled(house.ledger, post(1), HOSTILE)
    ana = platform.person("ana")
    exchange = await ana.press(await platform.card(), "Details")
    await platform.world.until(lambda: len(exchange.followups) == 2)
    for id in (exchange.original, *exchange.followups):
        shown = platform.world.messages[id]["embeds"][0]["description"]
        for live in ("@everyone", "@here", "<@1", "<#1", "https://", "discord.gg", "\u202e", "\n# ", "\n> "):
            assert live not in shown, live
        assert "**bold**" not in shown and not re.search(r"(?<!\\)(\|\||`)", shown)


async def test_a_hostile_name_pings_nobody(house: Any, platform: Any, start: Any) -> None:
    await start()
    platform.guild.members["ana"].name = "@everyone"
    await add_pending(house.ledger, post(1))
    card = await platform.card()
    await platform.person("ana").press(card, "Claim")
    await platform.world.until(lambda: "holds it" in field(card, "Standing"))
    assert "@everyone" not in field(card, "Standing")


def test_escaping_never_makes_a_text_too_long() -> None:
    for text in ("*" * 5_000, "_|`~>" * 1_000, "a" * 5_000, "[x](y)" * 900, "", "\\" * 3_000):
        assert len(escaped(text, 1_024)) <= 1_024
        assert len(plain(text)) <= 2_000
        assert len(defuse(text, 100)) <= 100
