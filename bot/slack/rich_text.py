"""Rich text for Slack: what stands in these elements is shown as it is, never read as markup.

Slack reads mrkdwn (`*bold*`, `<!channel>`, `<https://…|words>`) in `mrkdwn` text objects and in a message's `text`.
In a `rich_text` block only elements of their own make links or mentions, so a hostile text needs no escaping there
(https://docs.slack.dev/reference/block-kit/blocks/rich-text-block).
"""

from __future__ import annotations

from datetime import datetime

from slack_sdk.models.blocks import (
    HeaderBlock,
    PlainTextObject,
    RichTextBlock,
    RichTextElementParts,
    RichTextListElement,
    RichTextQuoteElement,
    RichTextSectionElement,
)
from slack_sdk.models.blocks.block_elements import RichTextElement

from bot.translation import moment as written

MAX_HEADER = 150

bold = RichTextElementParts.TextStyle(bold=True)
italic = RichTextElementParts.TextStyle(italic=True)


def plain(text: str) -> PlainTextObject:
    """Return a text in which Slack reads neither markup nor emoji codes."""
    return PlainTextObject(text=text, emoji=False)


def header(text: str) -> HeaderBlock:
    """Return a headline."""
    return HeaderBlock(text=plain(text[:MAX_HEADER]))


def words(text: str, style: RichTextElementParts.TextStyle | None = None) -> RichTextElement:
    """Return a run of text."""
    return RichTextElementParts.Text(text=text, style=style)


def link(url: str, text: str) -> RichTextElement:
    """Return a link; only for addresses that `bot.chat.defuse.web_address` let through."""
    return RichTextElementParts.Link(url=url, text=text)


def ago(moment: datetime) -> RichTextElement:
    """Return a time that each reader sees as its distance from now, in their own words."""
    return RichTextElementParts.Date(
        timestamp=int(moment.timestamp()), format="{ago}", fallback=f"{written(moment)} UTC"
    )


def line(*parts: RichTextElement) -> RichTextSectionElement:
    """Return a line."""
    return RichTextSectionElement(elements=list(parts))


def quote(text: str) -> RichTextQuoteElement:
    """Return a text set apart as somebody's words."""
    return RichTextQuoteElement(elements=[words(text)])


def bullets(lines: list[RichTextSectionElement]) -> RichTextListElement:
    """Return a list."""
    return RichTextListElement(style="bullet", elements=lines)


def rich(*elements: RichTextElement) -> RichTextBlock:
    """Return a block of lines, quotes and lists."""
    return RichTextBlock(elements=list(elements))


def escaped(text: str) -> str:
    """Return `text` for a message's `text`, where Slack reads markup: the three characters that begin any are escaped.

    https://docs.slack.dev/messaging/formatting-message-text#escaping
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
