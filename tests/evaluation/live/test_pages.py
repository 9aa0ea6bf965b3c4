"""The report and the raters' form as a browser shows them, from the disk and without a network."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from playwright.async_api import Browser

from evaluation.people.collecting import read_ratings
from evaluation.people.forms import read_key, write_forms
from evaluation.people.questions import QUESTIONS
from evaluation.report.page import write
from tests.bot.live.conftest import browser, chromium
from tests.evaluation.runs import make_run, scored_run

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["browser", "chromium"]
DRAFTS = {"compose": [f"Kind reply {n}." for n in range(4)], "free": [f"Other reply {n}." for n in range(4)]}


async def test_the_report_shows_tables_and_drawings_and_covers_posts(browser: Browser, tmp_path: Path) -> None:
    html, _ = write(await scored_run(tmp_path, DRAFTS))
    page = await (await browser.new_context(offline=True)).new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    await page.goto(html.as_uri())
    assert await page.locator("table").count() >= 8
    drawing = await page.locator("figure svg").first.bounding_box()
    assert drawing is not None and drawing["width"] > 300
    case = page.locator("article").first
    assert not await case.locator("details p").is_visible()
    await case.locator("summary").click()
    assert await case.locator("details p").is_visible()
    assert errors == []


async def test_a_rater_fills_the_form_offline_and_saves_what_can_be_collected(browser: Browser, tmp_path: Path) -> None:
    run = make_run(tmp_path, DRAFTS)
    html, _ = write_forms(run, 2)
    page = await (await browser.new_context(offline=True, accept_downloads=True)).new_page()
    await page.goto(html.as_uri())
    await page.get_by_label("Your name or code").fill("ana")
    await page.get_by_role("button", name="Begin").click()
    assert not await page.locator("#post").is_visible()
    await page.get_by_role("button", name="Next").click()
    assert "answer every question" in await page.locator("#said").inner_text()
    items = len(read_key(run))
    for _ in range(items):
        for question in QUESTIONS:
            await page.locator(f'input[name="{question.name}"][value="{question.highest}"]').check()
        await page.get_by_role("button", name="Next").click()
    assert "That was the last one" in await page.locator("#said").inner_text()
    await page.reload()
    await page.get_by_label("Your name or code").fill("ana")
    await page.get_by_role("button", name="Begin").click()
    assert await page.locator("input:checked").count() == len(QUESTIONS)
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Save").click()
    saved = tmp_path / "ratings.csv"
    await (await download.value).save_as(saved)
    assert len(list(csv.reader(io.StringIO(saved.read_text())))) == items + 1
    returned = read_ratings([saved], read_key(run))
    assert len(returned.ratings) == items * len(QUESTIONS) and returned.complaints == []
