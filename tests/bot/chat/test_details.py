"""What a card shows on request, and how both platforms show it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from bot.chat.cards import ButtonAction, build_card
from bot.chat.details import MAX_NAME, MAX_TEXT, DetailSection, details
from bot.discord.render import detail_embed
from bot.slack.blocks import detail_blocks
from bot.slack.modals import info_modal
from bot.translation import LANGUAGES, speaking
from core.domain import Case
from ledger import Ledger
from tests.bot.chat.pseudo import speaking_pseudo, untranslated
from tests.bot.discord import rules
from tests.bot.samples import DRAFT, add_answered, add_duelled, post
from tests.bot.slack.block_kit import complaints_about_modal, texts

Sections = Sequence[DetailSection]
NOTES = (
    "Written by a language model, read by nobody; it may be wrong.",
    "Only the draft is known to have passed the checks; don't send the others.",
    "A language model gave each reply 0 to 10 points; it may be wrong.",
)


def on_discord(sections: Sections) -> list[str]:
    """Return what Discord shows, once its rules are kept: each section is a message of its own."""
    embeds = [detail_embed(section).to_dict() for section in sections]
    for embed in embeds:
        rules.check_message({"embeds": [embed]})
    return [text for embed in embeds for text in (embed["title"], embed["description"])]


def on_slack(sections: Sections) -> list[str]:
    """Return what Slack shows, once its rules are kept."""
    view = info_modal("Details", detail_blocks(sections)).to_dict()
    assert complaints_about_modal(view) == []
    return texts(view["blocks"])


@pytest.fixture(params=[on_discord, on_slack])
def shown(request: pytest.FixtureRequest) -> Callable[[Sections], list[str]]:
    show: Callable[[Sections], list[str]] = request.param
    return show


async def duelled(ledger: Ledger, words: str = "") -> Case:
    return await ledger.cases.get(await add_duelled(ledger, post(1), words))


async def test_the_reading_the_replies_and_the_duels_are_told_each_with_how_far_to_trust_it(ledger: Ledger) -> None:
    reading, replies, duels = details(await duelled(ledger))
    assert reading.lines == (("implication", "It paints children as a danger."),)
    assert replies.lines == (("1, the draft", DRAFT), ("2", "Nobody has to leave."), ("3", "Why?"))
    assert duels.lines == (
        ("1 – 2", "7 to 5.5, in the other order 6 to 6: 1 wins"),
        ("1 – 3", "8 to 2, in the other order 2 to 8: a tie"),
    )
    assert (reading.note, replies.note, duels.note) == NOTES


async def test_details_are_offered_only_where_there_are_any(ledger: Ledger) -> None:
    actions = [button.action for button in build_card(await duelled(ledger)).buttons]
    assert actions[actions.index(ButtonAction.EVIDENCE) + 1] is ButtonAction.DETAILS
    plain = await ledger.cases.get(await add_answered(ledger, post(2)))
    assert details(plain) == ()
    assert ButtonAction.DETAILS not in [button.action for button in build_card(plain).buttons]


async def test_details_are_inert_and_cut(ledger: Ledger) -> None:
    sections = details(await duelled(ledger, "@everyone https://evil.example \u202e" * 60))
    for name, text in (line for section in sections for line in section.lines):
        assert "@everyone" not in text and "://" not in text and "\u202e" not in text
        assert len(name) <= MAX_NAME and len(text) <= MAX_TEXT
    assert all(name for section in details(await duelled(ledger, "\u200b")) for name, _ in section.lines)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_platform_shows_all_of_it_in_every_language(
    ledger: Ledger, shown: Callable[[Sections], list[str]], language: str
) -> None:
    case = await duelled(ledger)
    with speaking(language):
        sections = details(case)
        whole = "\n".join(shown(sections)).replace("\\", "")
    for section in sections:
        assert all(part in whole for part in (section.heading, section.note, *sum(section.lines, ())))


async def test_nothing_is_said_that_is_not_in_the_catalogue(
    ledger: Ledger, shown: Callable[[Sections], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = await duelled(ledger)
    with speaking_pseudo(monkeypatch):
        said = shown(details(case))
    assert untranslated(said, DRAFT, "It paints children as a danger.", "Nobody has to leave.", "Why?") == []


@pytest.mark.parametrize("letters", ["a", "*a"])
def test_more_than_a_platform_takes_is_counted_not_refused(
    shown: Callable[[Sections], list[str]], letters: str
) -> None:
    line = ((letters * MAX_NAME)[:MAX_NAME], (letters * MAX_TEXT)[:MAX_TEXT])
    whole = "\n".join(shown((DetailSection("Duels", "A note.", (line,) * 16),)))
    left_out = re.findall(r"and (\d+) more", whole)
    assert whole.replace("\\", "").count(line[1]) + sum(map(int, left_out)) == 16
