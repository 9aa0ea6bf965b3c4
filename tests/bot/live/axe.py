"""Check a page with axe-core's rules, and whether it is wider than its screen."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from playwright.async_api import Page

AXE = find_spec("axe_playwright_python")
FINDINGS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map(
    (found) => `${found.id}: ${found.nodes.map((node) => node.target.join(" ")).slice(0, 4).join(", ")}`)"""
TOO_WIDE = """() => [...document.querySelectorAll("html, #case, #cases, .queue, dialog[open]")].filter(
    (box) => box.scrollWidth > box.clientWidth).map((box) => `wider than it shows: ${box.id || box.tagName}`)"""


async def findings(page: Page) -> list[str]:
    assert AXE and AXE.origin
    if not await page.evaluate("'axe' in window"):
        await page.evaluate((Path(AXE.origin).parent / "axe.min.js").read_text())
    found: list[str] = await page.evaluate(FINDINGS)
    return found


async def too_wide(page: Page) -> list[str]:
    boxes: list[str] = await page.evaluate(TOO_WIDE)
    return boxes
