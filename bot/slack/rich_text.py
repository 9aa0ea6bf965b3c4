"""Rich text for Slack: the text in these elements is shown as it is, never parsed as markup.

Slack parses mrkdwn (`*bold*`, `<!channel>`, `<https://…|words>`) in `mrkdwn` text objects and in a message's `text`. In
a `rich_text` block, only dedicated elements make links or mentions, so hostile text needs no escaping there
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
    """Return a text in which Slack interprets neither markup nor emoji codes."""
    return PlainTextObject(text=text, emoji=False)


def header(text: str) -> HeaderBlock:
    """Return a headline."""
    return HeaderBlock(text=plain(text[:MAX_HEADER]))


def words(text: str, style: RichTextElementParts.TextStyle | None = None) -> RichTextElement:
    """Return a run of text."""
    return RichTextElementParts.Text(text=text, style=style)


def link(url: str, text: str) -> RichTextElement:
    """Return a link; use it only for URLs that `bot.chat.defuse.web_address` accepted."""
    return RichTextElementParts.Link(url=url, text=text)


def ago(moment: datetime) -> RichTextElement:
    """Return a time that each reader sees relative to now, in their own language."""
    return RichTextElementParts.Date(
        timestamp=int(moment.timestamp()), format="{ago}", fallback=f"{written(moment)} UTC"
    )


def line(*parts: RichTextElement) -> RichTextSectionElement:
    """Return a line."""
    return RichTextSectionElement(elements=list(parts))


def quote(text: str) -> RichTextQuoteElement:
    """Return a text formatted as a quotation."""
    return RichTextQuoteElement(elements=[words(text)])


def bullets(lines: list[RichTextSectionElement]) -> RichTextListElement:
    """Return a list."""
    return RichTextListElement(style="bullet", elements=lines)


def rich(*elements: RichTextElement) -> RichTextBlock:
    """Return a block of lines, quotes and lists."""
    return RichTextBlock(elements=list(elements))


def escaped(text: str) -> str:
    """Return `text` with Slack's three markup characters escaped, for a message's `text`.

    https://docs.slack.dev/messaging/formatting-message-text#escaping
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
