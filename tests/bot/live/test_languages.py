"""The page in other languages: nothing of it stays untranslated, and a moderator can choose one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog
from playwright.async_api import Browser, Page, expect

from bot import translation
from bot.desk import CaseQuery
from ledger.transition import MACHINE
from tests.bot.catalogues import messages_in_source
from tests.bot.conftest import TOKENS, House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.samples import CLAIM, CRC, HEARSAY, PLATFORM, UDHR, add_answered, add_doubtful, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

PSEUDO = "eu"
"""The language whose catalogue is replaced by one that puts every message into brackets."""
OWN_WORDS = "A text of my own is forbidden."
SMALL_WORDS = (
    "repeats: school, children", "a word", "it blames a group", "flagged", "sample-model", "tour", "made-up", "CSV",
    "HeadlessChrome",
)  # fmt: skip
"""What sample checks and decisions say, names of a model, of the tour's post, of formats and programs."""
SAID = """() => {
  for (const fold of document.querySelectorAll("#case details")) fold.open = true;
  const said = [];
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement: parent } = texts.currentNode;
    if (isShown(parent.closest("select") ?? parent) && !parent.closest("kbd, code, h1")) said.push(data);
  }
  for (const name of ["aria-label", "title", "placeholder", "alt"]) {
    const named = [...document.querySelectorAll(`[${name}]`)].filter(isShown);
    said.push(...named.map((element) => element.getAttribute(name)));
  }
  return [document.title, ...said].map((text) => text.trim()).filter(Boolean);
}"""
_PLACE = re.compile(r"(\{\w+\})")


def bracketed(message: str) -> str:
    return "".join(part if _PLACE.fullmatch(part) else f"⟦{part}⟧" for part in _PLACE.split(message) if part)


def own_words(drafts: list[str]) -> list[str]:
    """Return what the cases, their people and the settings say themselves, the longest first."""
    evidence = [CRC, UDHR, HEARSAY]
    sources = [piece.source for piece in evidence]
    words = [
        *drafts,
        OWN_WORDS, CLAIM.gist, CLAIM.counter_claims[0].text, PLATFORM, MACHINE, *TOKENS,
        *translation.LANGUAGES.values(), post(1).text, post(1).reason or "", *SMALL_WORDS,
        *(word for piece in evidence for word in (piece.text, piece.region, piece.language)),
        *(word for source in sources for word in (source.institution, source.title, source.symbol, source.locator)),
    ]  # fmt: skip
    return sorted(filter(None, words), key=len, reverse=True)


def untranslated(said: list[str], drafts: list[str]) -> list[str]:
    """Return the texts in which words are left that neither the catalogue nor a case says."""
    known = re.compile(
        "|".join([r"⟦[^⟦⟧]*⟧?", r"\b(?:post|zorblax|udhr|crc)-[\w-]+", *map(re.escape, own_words(drafts))])
    )
    return sorted({text for text in said if re.search(r"[^\W\d_]{2,}", known.sub(" ", text))})


@pytest.fixture
def pseudo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replace a catalogue by one in which every message of the source stands in brackets."""
    catalogue = Catalog(PSEUDO)
    for message, files in messages_in_source().items():
        locations = [(file, 1) for file in sorted(files)]
        if isinstance(message, str):
            catalogue.add(message, bracketed(message), locations=locations)
        else:
            catalogue.add(message, tuple(map(bracketed, message)), locations=locations)
    caches = (translation.translations, translation.script_messages)
    monkeypatch.setattr(translation, "catalogue", lambda _name: catalogue)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


async def opened(browser: Browser, base: str, language: str) -> Page:
    page = await browser.new_page(locale=language, viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    await log_in(page, base)
    return page


async def test_every_word_of_the_page_comes_from_the_catalogue(
    browser: Browser, base: str, house: House, pseudo: None
) -> None:
    await add_answered(house.ledger, post(7), hate=0.34)
    await add_doubtful(house.ledger, post(8))
    drafts = [case.draft.text for case in (await house.desk.queue(CaseQuery())).cases if case.draft]
    page = await opened(browser, base, PSEUDO)
    left: dict[str, list[str]] = {}

    async def look(state: str) -> None:
        left[state] = untranslated(await page.evaluate(SAID), drafts)

    await expect(page.locator("#case .case-inner")).to_be_visible()
    await look("case")
    await press(page, "b")
    await look("uncovered")
    await press(page, "e")
    await page.locator("#reply-text").fill(OWN_WORDS)
    await expect(page.locator('[data-slot="findings"] li')).to_have_count(1)
    await look("editor")
    await page.keyboard.press("Escape")
    await expect(page.locator('[data-slot="offer"]')).to_be_visible()
    await look("offer")
    for key, dialog in (("r", "#reject"), ("d", "#redraft"), ("s", "#assign"), ("?", "#help"), ("f", "#find-evidence")):
        await press(page, key)
        await expect(page.locator(dialog)).to_be_visible()
        await look(dialog)
        await page.keyboard.press("Escape")
    await press(page, "v")
    await expect(page.locator("#same-cases li").first).to_be_visible()
    await look("same text")
    await page.keyboard.press("Escape")
    await press(page, "x")
    await expect(page.locator("#selection")).to_be_visible()
    await look("selection")
    await press(page, "Escape", "n")
    await expect(page.locator(".toast.undo")).to_be_visible()
    await look("undo bar")
    for choice in await page.locator("#state-filter option").evaluate_all("options => options.map((one) => one.value)"):
        await page.locator("#state-filter").select_option(choice)
        await expect(page.locator("#queue-count")).not_to_be_empty()
        await expect(page.locator("#case-body > *").first).to_be_visible()
        await look(f"list {choice}")
    await press(page, "y")
    await expect(page.locator('[data-slot="figures"] p').first).to_be_visible()
    await look("today")
    await page.locator("#settings-open").click()
    await look("settings")
    await page.keyboard.press("Escape")
    await page.locator("#sessions-open").click()
    await expect(page.locator(".sessions li")).to_have_count(1)
    await look("sessions")
    await page.keyboard.press("Escape")
    await press(page, "p")
    await look("break")
    await page.keyboard.press("Enter")
    await press(page, "?")
    await page.locator("#tour-open").click()
    for step in range(6):
        await look(f"tour {step}")
        await page.keyboard.press("ArrowRight")
    await page.locator("#log-out").click()
    await expect(page.locator("#token")).to_be_focused()
    await look("login")
    assert sorted({text for words in left.values() for text in words}) == []


async def test_a_moderator_chooses_spanish_and_works_in_it(browser: Browser, base: str, house: House) -> None:
    page = await opened(browser, base, "en-GB")
    await page.locator("#settings-open").click()
    async with page.expect_navigation():
        await page.locator("#own-language").select_option("es")
    assert await page.locator("html").get_attribute("lang") == "es"
    await expect(page.locator("#case .case-inner")).to_be_visible()
    await press(page, "r")
    await expect(page.get_by_role("heading", name="¿Por qué se rechaza?")).to_be_visible()
    await press(page, "5")
    await expect(page.locator(".toast.undo")).to_contain_text("Rechazado: publicación contra migrantes")
    await press(page, "y")
    await expect(page.locator('[data-slot="figures"]')).to_contain_text("recibidas")
    # In another browser the same person finds their language, whatever that browser says.
    other = await opened(browser, base, "it")
    await expect(other.locator("html")).to_have_attribute("lang", "es")
    await expect(other.locator('[data-do="approve"]')).to_contain_text("Aprobar")


@pytest.mark.parametrize("language", ["es", "it", "eu"])
async def test_longer_words_fit_a_phone(browser: Browser, base: str, language: str) -> None:
    page = await browser.new_page(locale=language, viewport={"width": 390, "height": 844})
    await page.goto(f"{base}#token={TOKENS['ana'].token.get_secret_value()}")
    await page.locator("#cases .row").first.click()
    await expect(page.locator("#case .case-inner")).to_be_visible()
    too_wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await page.evaluate(too_wide) <= 0
    await page.locator("#today-open").click()
    await expect(page.locator('[data-slot="figures"] p').first).to_be_visible()
    assert await page.evaluate(too_wide) <= 0
