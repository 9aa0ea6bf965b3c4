"""Messages that only one person sees, sent to the response URL that comes with each press and command."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from aiohttp import ClientError
from slack_bolt.async_app import AsyncRespond
from slack_sdk.models.blocks import Block

from bot.chat.defuse import defuse
from bot.slack.rich_text import escaped, line, rich, words

log = logging.getLogger(__name__)

_MAX_TEXT = 1_000
_MAX_BLOCKS = 50


async def show_ephemeral(respond: AsyncRespond, text: str, blocks: Sequence[Block], *, replace: bool = False) -> None:
    """Show blocks, with `text` (already escaped) for notifications; if Slack rejects them, that is only logged.

    With `replace`, they replace the message that was pressed. A response URL can be used five times within half an hour
    (https://docs.slack.dev/interactivity/handling-user-interaction#message_responses).
    """
    try:
        answer = await respond(
            text=text, blocks=list(blocks[:_MAX_BLOCKS]), response_type="ephemeral", replace_original=replace
        )
    except (ClientError, TimeoutError, OSError) as error:
        log.warning("An answer could not be given in Slack (%s).", type(error).__name__)
        return
    if answer.status_code != 200:
        log.warning("An answer could not be given in Slack (%s): %s", answer.status_code, answer.body)


async def tell_ephemeral(respond: AsyncRespond, text: str, *more: Block) -> None:
    """Show a text of any origin, defused and cut, followed by further blocks."""
    shown = defuse(text, _MAX_TEXT)
    await show_ephemeral(respond, escaped(shown), [rich(line(words(shown))), *more])
