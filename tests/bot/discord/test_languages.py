from __future__ import annotations

from typing import Any

from bot.discord.client import DeskClient
from tests.bot.discord.look import field, labels
from tests.bot.samples import add_pending, post


async def ask(person: Any, channel: str, path: str, **options: Any) -> str:
    answer = await person.told(await person.command(channel, f"rejoinder {path}", **options))
    return str(answer["content"])


async def test_a_moderator_is_answered_in_their_clients_language_until_they_choose_one(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    ana, here = platform.person("ana"), platform.general.id
    ana.locale = "es-ES"
    assert "migrantes 93" in await ask(ana, here, "queue")
    form = (await ana.press(await platform.card(), "Reject")).modal
    assert form["title"] == "Rechazar el borrador"
    assert "Solo un responsable o un administrador" in await ask(ana, here, "pause")
    assert "Italiano" in await ask(ana, here, "language", language="it")
    assert "migranti 93" in await ask(ana, here, "queue")
    ben = platform.person("ben")
    ben.locale = "de"
    assert "migrants 93 %" in await ask(ben, here, "queue")


async def test_a_card_follows_its_servers_language_and_not_who_presses(house: Any, platform: Any, start: Any) -> None:
    await start(language="eu")
    await add_pending(house.ledger, post(1))
    card = await platform.card()
    assert "Onartu" in labels(card) and field(card, "Egoera") == "Erabaki baten zain dago."
    ana = platform.person("ana")
    ana.locale = "es-ES"
    await ana.press(card, "Hartu")
    await platform.world.until(lambda: "Askatu" in labels(card))


async def test_what_was_chosen_elsewhere_is_learnt(house: Any, platform: Any, start: Any) -> None:
    client: DeskClient = await start(people={platform.person("ana").member.id: "ana"})
    await house.ledger.moderator_settings.choose_language("ana", "eu")
    await client.languages.refresh()
    assert "hutsik" in await ask(platform.person("ana"), platform.general.id, "queue")


async def test_discord_is_given_the_descriptions_in_the_languages_that_it_knows(platform: Any, start: Any) -> None:
    await start()
    (command,) = platform.guild.commands
    assert not command.get("name_localizations")
    assert command["description_localizations"]["es-ES"] == "Responder con pruebas al odio señalado"
    assert sorted(command["description_localizations"]) == ["es-419", "es-ES", "it"]
    hide = next(option for option in command["options"] if option["name"] == "hide")
    women = next(choice for choice in hide["options"][0]["choices"] if choice["value"] == "women")
    assert women["name_localizations"]["it"] == "donne"
    assert most_text(command) <= 8_000, "Discord takes no more of one command, in its longest language"


def most_text(item: dict[str, Any]) -> int:
    """Return how many characters Discord counts: names, descriptions and values, each in its longest language."""
    own = sum(
        max(map(len, (item[name], *(item.get(f"{name}_localizations") or {}).values())))
        for name in ("name", "description")
        if isinstance(item.get(name), str)
    )
    values = len(item["value"]) if isinstance(item.get("value"), str) else 0
    return own + values + sum(most_text(part) for name in ("options", "choices") for part in item.get(name) or ())
