"""Draw what Slack shows of a card in its states: `python -m tests.bot.slack.picture docs/images/slack-card.png`.

The cards are the real ones; the drawing is ours, close to Slack's own. Needs Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import timedelta
from html import escape
from pathlib import Path
from typing import Any

from bot.chat.cards import build_card
from bot.slack.blocks import card_blocks, post_blocks
from core.domain import Case, CaseState, Origin, now
from tests.bot.samples import CHECKS, CRC, DRAFT, UDHR, post, triage_of
from tests.factories import make_case, make_draft, make_grounding

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1.5")
STYLE = """
body{font:15px/1.46 Lato,'Noto Sans',sans-serif;color:#1d1c1d;margin:0;padding:24px;background:#fff;
 display:grid;grid-template-columns:repeat(2,560px);gap:22px 36px}
.message{display:grid;grid-template-columns:44px 1fr;gap:8px}.face{width:36px;height:36px;border-radius:8px;
 background:#24344d;color:#fff;font-weight:900;display:grid;place-items:center}
.who{font-weight:900}.app{background:#e8e8e8;font-size:10px;padding:1px 4px;border-radius:3px;margin-left:6px}
h3{font-size:18px;margin:6px 0 2px}p{margin:0}blockquote{margin:4px 0;padding:0 0 0 12px;border-left:4px solid #ddd}
ul{margin:2px 0;padding-left:24px}a{color:#1264a3;text-decoration:none}.actions{display:flex;flex-wrap:wrap;gap:8px;
 margin:8px 0}.actions span{border:1px solid #bbb;border-radius:4px;padding:5px 12px;font-weight:700;font-size:13px}
.primary{background:#007a5a;color:#fff}.danger{background:#e01e5a;color:#fff}.modal{border:1px solid #ccc;
 border-radius:8px;padding:14px 20px;box-shadow:0 4px 14px #0003}.modal h3{margin-top:0}
.modal{align-self:start}.block{margin:6px 0}
"""


def cards() -> list[tuple[str, Case]]:
    """Return a case in each of its states, with titles."""
    began = now() - timedelta(minutes=4)
    draft = make_draft("forum/post-1", text=DRAFT, origin=Origin.MODEL, checks=CHECKS, created_at=began)
    pending = make_case(
        post=post(1), triage=triage_of(), grounding=make_grounding(CRC, UDHR), drafts=(draft,)
    ).model_copy(update={"received_at": began, "updated_at": began})

    def state(**values: Any) -> Case:
        return pending.model_copy(update=values)

    later = now() + timedelta(minutes=5)
    decided = {"decided_by": "ana", "final_text": DRAFT}
    return [
        ("waits", pending),
        ("is held", state(claimed_by="ben", claimed_until=later)),
        ("approved", state(state=CaseState.APPROVED, release_at=later, **decided)),
        ("rejected", state(state=CaseState.REJECTED, decided_by="ben", decided_why="tone", release_at=later)),
        ("released", state(state=CaseState.RELEASED, **decided)),
    ]


def page() -> str:
    """Return the page to draw."""
    shown = cards()
    messages = [_message([block.to_dict() for block in card_blocks(build_card(case), 12)]) for _, case in shown]
    post_shown = [block.to_dict() for block in post_blocks(build_card(shown[0][1]))]
    modal = f'<div class="modal"><h3>The post</h3>{_blocks(post_shown)}</div>'
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{''.join(messages)}{modal}"


def _message(blocks: list[dict[str, Any]]) -> str:
    head = '<div class="who">Rejoinder<span class="app">APP</span></div>'
    return f'<div class="message"><div class="face">R</div><div>{head}{_blocks(blocks)}</div></div>'


def _blocks(blocks: list[dict[str, Any]]) -> str:
    return "".join(f'<div class="block">{_block(block)}</div>' for block in blocks)


def _block(block: dict[str, Any]) -> str:
    match block["type"]:
        case "header":
            return f"<h3>{escape(block['text']['text'])}</h3>"
        case "actions":
            buttons = (
                f'<span class="{item.get("style", "")}">{item["text"]["text"]}</span>' for item in block["elements"]
            )
            return f'<div class="actions">{"".join(buttons)}</div>'
        case _:
            return "".join(_rich(element) for element in block["elements"])


def _rich(element: dict[str, Any]) -> str:
    match element["type"]:
        case "rich_text_list":
            return f"<ul>{''.join(f'<li>{_parts(line)}</li>' for line in element['elements'])}</ul>"
        case "rich_text_quote":
            return f"<blockquote>{_parts(element)}</blockquote>"
        case _:
            return f"<p>{_parts(element)}</p>"


def _parts(element: dict[str, Any]) -> str:
    return "".join(_part(part) for part in element["elements"])


def _part(part: dict[str, Any]) -> str:
    if part["type"] == "date":
        return "4 minutes ago"
    text = escape(part["text"])
    if part["type"] == "link":
        return f'<a href="{escape(part["url"])}">{text}</a>'
    for name, tag in (("bold", "b"), ("italic", "i")):
        if part.get("style", {}).get(name):
            text = f"<{tag}>{text}</{tag}>"
    return text


def draw(target: Path, chromium: str = "chromium") -> None:
    """Draw the page as a PNG."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "cards.html"
        source.write_text(page())
        size = ("--window-size=1204,1370", f"--screenshot={target.resolve()}")
        subprocess.run([chromium, *FLAGS, *size, source.as_uri()], check=True, capture_output=True, timeout=60)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
