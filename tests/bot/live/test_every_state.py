"""Every state of the page is reached, is shown in the moderator's guide, and passes axe in every look."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.bot.live.axe import AXE, findings, too_wide
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.visit import LOOKS
from tests.bot.live.walks import STATES, visit_states

DOCS = Path(__file__).parents[3] / "docs"
IMAGE_BYTES, ALL_BYTES = 60_000, 2_500_000


def test_the_guide_shows_every_state_in_words_too() -> None:
    shown = re.findall(r"!\[([^\]]+)\]\(images/desk/([a-z-]+)\.webp\)", (DOCS / "moderators.md").read_text())
    assert sorted(name for _, name in shown) == sorted(STATES)
    assert all(len(words) > 20 for words, _ in shown)


def test_the_pictures_stay_small() -> None:
    sizes = {file.stem: file.stat().st_size for file in (DOCS / "images" / "desk").iterdir()}
    assert sizes.keys() == set(STATES), "run: make pictures"
    assert max(sizes.values()) <= IMAGE_BYTES
    assert sum(sizes.values()) <= ALL_BYTES


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium")
@pytest.mark.skipif(AXE is None, reason="no axe-core; pip install axe-playwright-python")
@pytest.mark.parametrize("look", LOOKS)
async def test_axe_finds_nothing_in_any_state(browser: Browser, look: str) -> None:
    found = {}
    async for name, visit in visit_states(browser, LOOKS[look]):
        found[name] = [*await findings(visit.page), *await too_wide(visit.page)]
    assert tuple(found) == STATES
    assert {state: faults for state, faults in found.items() if faults} == {}
