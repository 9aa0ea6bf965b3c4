"""A moderator's visit to a desk, in one of the page's looks: light, dark, or on a phone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from playwright.async_api import Browser, BrowserContext, Page, expect

from bot.pipeline_cli import PipelineCli
from bot.surroundings import Surroundings
from core.domain import Evidence, StrategyName, TargetGroup, now
from core.settings import CareSettings, ChatWorkspace
from tests.bot.conftest import TOKENS, House, open_house
from tests.bot.live.conftest import DeskServer
from tests.bot.live.test_browser import Watch, press
from tests.bot.samples import HEARSAY, PLATFORM


@dataclass(frozen=True)
class Look:
    """One look of the page: its colours, its size, and whether it is on a phone."""

    scheme: Literal["light", "dark"]
    width: int
    height: int
    is_phone: bool = False


LOOKS = {
    "light": Look("light", 1200, 700),
    "dark": Look("dark", 1200, 700),
    "phone": Look("light", 390, 700, is_phone=True),
}
SURROUNDINGS = Surroundings(
    care=CareSettings(surge_cards=3),
    chats={"discord": {"s1": ChatWorkspace(channel="harbour")}},
    parts={"Kafka broker": "takes flagged posts, hands replies on.", "Worker": "finds evidence and drafts."},
    takes_flags=True,
)
RULES = "1. Nobody is attacked for what they are.\n2. Ask before you judge."


class Clock:
    """A clock for the ledger that can be set back, so that cases seem to have waited for some time."""

    back = timedelta()

    def __call__(self) -> datetime:
        return now() - self.back


class OneStatement(PipelineCli):
    """A knowledge base with one statement."""

    async def evidence(self, query: str, group: TargetGroup | None) -> list[Evidence]:
        return [HEARSAY] if "jobs" in query else []


@dataclass(frozen=True)
class Visit:
    """A moderator's page on a desk of its own, with a watch for things that the page must never do."""

    house: House
    clock: Clock
    server: DeskServer
    look: Look
    context: BrowserContext
    page: Page
    watch: Watch

    @property
    def base(self) -> str:
        """The address of the page."""
        return f"http://{self.server.host}:{self.server.port}/"

    async def log_in(self, case: str = "", name: str = "lea") -> None:
        """Log in, and wait for the case of a post if one is named."""
        await self.page.goto(address(self.base, name, case))
        await expect(self.page.locator("#connection")).to_have_attribute("data-state", "live")
        if case:
            await self.sees(case)

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, pausing before each: the page ignores keys that come too soon."""
        await press(self.page, *keys)

    async def sees(self, post: str) -> None:
        """Wait until the page shows the case of a post with all that belongs to it."""
        await expect(self.page.locator('[data-slot="post-id"]')).to_have_text(post)
        await expect(self.page.locator('[data-slot="rules"]')).not_to_be_empty()

    async def push(self, selector: str) -> None:
        """Activate an element: tap it on a phone, click it elsewhere."""
        button = self.page.locator(selector).first
        await (button.tap() if self.look.is_phone else button.click())

    async def to_list(self) -> None:
        """Go to the list; only a phone has to leave the case for it."""
        if self.look.is_phone and await self.page.locator("body").get_attribute("data-view") == "case":
            await self.push(".back")

    async def choose(self, cases: str, post: str) -> None:
        """Filter the list, and open the case of a post in it."""
        await self.to_list()
        row = f'#cases .row[data-key="{PLATFORM}/{post}"]'
        await self.page.locator("#state-filter").select_option(cases)
        await expect(self.page.locator(row)).to_be_visible()
        await expect(self.page.locator("#cases .row[aria-current]")).to_have_count(1)
        await self.page.locator(".case-inner").evaluate("(old) => old.remove()")  # so that only the new case is seen
        await self.push(row)
        await self.sees(post)
        await self.page.locator("#state-filter").evaluate("(field) => field.blur()")

    async def leave(self, dialog: str) -> None:
        """Close a dialog with the Escape key."""
        await self.page.keyboard.press("Escape")
        await expect(self.page.locator(dialog)).to_be_hidden()


def address(base: str, name: str, case: str = "") -> str:
    """Return an address that logs somebody in, and opens the case of a post if one is named."""
    return f"{base}#{f'case={PLATFORM}/{case}&' if case else ''}token={TOKENS[name].token.get_secret_value()}"


@asynccontextmanager
async def open_visit(browser: Browser, look: Look, language: str = "en") -> AsyncIterator[Visit]:
    """Open a desk without cases, and a page on which nobody is logged in yet."""
    clock = Clock()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        house = await stack.enter_async_context(
            open_house(Path(folder), clock, confirm_covered=True, platform_rules={PLATFORM: RULES})
        )
        house.desk.strategies = (StrategyName.COMPOSE, StrategyName.INTENT_FRAMES)
        server = DeskServer(house.app(SURROUNDINGS, OneStatement()))
        await stack.enter_async_context(server)
        context = await browser.new_context(
            viewport={"width": look.width, "height": look.height}, color_scheme=look.scheme, locale=language,
            is_mobile=look.is_phone, has_touch=look.is_phone, reduced_motion="reduce",
        )  # fmt: skip
        stack.push_async_callback(context.close)
        page = await context.new_page()
        # Playwright misses requests made while it starts to intercept, so it has to start before there are any.
        await page.route("**/nothing-asks-for-this", lambda route: route.abort())
        watch = Watch(page, f"http://{server.host}:{server.port}/")
        yield Visit(house, clock, server, look, context, page, watch)
