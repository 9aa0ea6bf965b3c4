from __future__ import annotations

from tests.bot.conftest import House
from tests.bot.samples import add_pending, post
from tests.bot.slack.conftest import ANA, CHANNEL, SERVER, Floor, buttons, seen
from tests.bot.slack.server import TEAM, Slack


async def typed(floor: Floor, text: str, says: str) -> str:
    floor.ephemerals().clear()
    await floor.slack.people.command(ANA, CHANNEL, text)
    return seen(await floor.ephemeral(says))


async def test_a_moderator_who_chose_spanish_is_answered_in_spanish(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    card = seen(await working.card("It waits for a decision"))
    await typed(working, "language es", "Tu idioma aquí y en la página es ahora: Español.")
    assert "migrantes 93" in await typed(working, "queue", "hace")
    await typed(working, "nonsense", "No hay ninguna orden «nonsense»")
    await working.press("reject")
    modal = await working.modal("reject")
    assert "¿Por qué?" in seen(modal.content)
    await working.slack.people.submit(ANA, modal.id, {"chosen": "other"})
    assert "Un rechazo necesita un motivo" in seen(modal.content)
    assert seen(await working.card()) == card, "everybody reads the card"
    await typed(working, "language none", "Ya sin idioma propio")


async def test_cards_and_answers_follow_the_workspaces_language(slack: Slack, house: House) -> None:
    floor = Floor(slack, house, servers={TEAM: SERVER.model_copy(update={"language": "eu"})})
    async with floor.working():
        await add_pending(house.ledger, post(1))
        card = await floor.card("Erabaki baten zain dago.")
        assert "Onartu" in seen(card) and "approve" in buttons(card)
        assert "txartel berririk" not in await typed(floor, "case 99", "99 zenbakidun kasurik")
