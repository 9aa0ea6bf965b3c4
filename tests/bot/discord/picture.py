"""Draw what Discord shows of a card in its states: `python -m tests.bot.discord.picture docs/images/discord-card.png`.

The cards are the real ones; the drawing is ours, close to Discord's own. Needs Chromium.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import discord

from bot.chat.cards import Card, build_card
from bot.discord.render import card_embed, card_view
from tests.bot.slack.picture import FLAGS, cards

NUMBER = 12
COLOURS = {3: "#248046", 4: "#da373c", 2: "#4e5058"}
STYLE = """
body{font:15px/1.4 'gg sans','Noto Sans',sans-serif;color:#dbdee1;margin:0;padding:24px;background:#313338;
 display:grid;grid-template-columns:repeat(2,540px);gap:24px 36px;align-items:start}
.message{display:grid;grid-template-columns:44px 1fr;gap:10px}.face{width:40px;height:40px;border-radius:50%;
 background:#5865f2;color:#fff;font-weight:900;display:grid;place-items:center}
.who{font-weight:600;color:#f2f3f5}.app{background:#5865f2;color:#fff;font-size:10px;padding:1px 4px;
 border-radius:3px;margin-left:6px}
.embed{background:#2b2d31;border-left:4px solid;border-radius:4px;padding:10px 14px;margin:6px 0;font-size:14px}
.title{font-weight:600;font-size:16px;color:#f2f3f5;margin-bottom:6px}
.spoiler{background:#1e1f22;color:transparent;border-radius:4px}.shown{background:#41434a;border-radius:4px}
.fields{display:grid;grid-template-columns:repeat(3,1fr);gap:8px;margin-top:8px}.wide{grid-column:1/-1}
.name{font-weight:600;color:#f2f3f5}a{color:#00a8fc;text-decoration:none}
.row{display:flex;flex-wrap:wrap;gap:8px;margin-top:6px}.row span{color:#fff;border-radius:3px;padding:6px 14px;
 font-size:14px;font-weight:500}
"""


def page() -> str:
    """Return the page to draw: each state, and the first one also with its spoiler opened."""
    shown = [build_card(case) for _, case in cards()]
    messages = [_message(card) for card in shown]
    opened = _message(shown[0]).replace("spoiler", "shown")
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{messages[0]}{opened}{''.join(messages[1:])}"


def _message(card: Card) -> str:
    embed, view = card_embed(card, NUMBER), card_view(card, NUMBER)
    fields = "".join(
        f'<div class="{"" if item.inline else "wide"}"><div class=name>{_text(item.name or "")}</div>'
        f"{_text(item.value or '')}</div>"
        for item in embed.fields
    )
    colour = str(embed.colour)
    return (
        "<div class=message><div class=face>R</div><div><div class=who>Rejoinder<span class=app>APP</span></div>"
        f'<div class=embed style="border-color:{colour}"><div class=title>{_text(embed.title or "")}</div>'
        f"{_text(embed.description or '')}<div class=fields>{fields}</div></div>{_buttons(view)}</div></div>"
    )


def _buttons(view: discord.ui.View) -> str:
    rows = view.to_components()
    return "".join(
        "<div class=row>"
        + "".join(
            f'<span style="background:{COLOURS[item["style"]]}">{item["label"]}</span>' for item in row["components"]
        )
        + "</div>"
        for row in rows
    )


def _text(text: str) -> str:
    shown = escape(text, quote=False)
    shown = re.sub(r"&lt;t:\d+:R&gt;", "4 minutes ago", shown)
    shown = re.sub(r"&lt;t:\d+:T&gt;", "10:15:30", shown)
    shown = re.sub(r"\[([^\]]+)\]\((https[^)]+)\)", r'<a href="\2">\1</a>', shown)
    shown = re.sub(r"(?s)^\|\|(.*)\|\|$", r"<span class=spoiler>\1</span>", shown)
    return re.sub(r"\\([_*~|`>#\[\]-])", r"\1", shown).replace("\n", "<br>")


def draw(target: Path, chromium: str = "chromium") -> None:
    """Draw the page as a PNG."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(page())
        subprocess.run(
            [chromium, *FLAGS, "--window-size=1164,1690", f"--screenshot={target.resolve()}", source.as_uri()],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
