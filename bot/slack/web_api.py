"""Calls to Slack's Web API, and its errors in plain words.

A call that Slack postpones (429) is repeated after `Retry-After`. A call whose connection breaks is not: the message
may have been posted, so the caller checks first.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError, SlackObjectFormationError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from core.errors import BadSettings, CardGone, CardRefused, ChannelLost, ChatUnavailable, RejoinderError

TIMEOUT_S = 15
MOST_WAITS = 5

_TOKEN = {
    "not_authed": "no token was sent",
    "invalid_auth": "Slack does not know it",
    "token_revoked": "it was revoked",
    "token_expired": "it has expired",
    "account_inactive": "the app was removed from the workspace",
    "not_allowed_token_type": "it is of the wrong kind (a bot token begins with xoxb-, an app-level token with xapp-)",
    "team_access_not_granted": "the app has no access to the workspace",
}
_GONE = {
    "channel_not_found": "was deleted, or is private and the app is not in it",
    "is_archived": "was archived",
}
_CLOSED = {
    "not_in_channel": "does not have the app in it; type /invite @Rejoinder there",
    "restricted_action": "takes no messages from apps; a workspace admin decides that",
    "restricted_action_read_only_channel": "is read-only",
}
_CARD_GONE = {"message_not_found", "cant_update_message", "edit_window_closed"}
_CARD_REFUSED = {
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_metadata_format",
    "invalid_metadata_schema",
    "metadata_too_large",
    "msg_blocks_too_long",
    "msg_too_long",
    "no_text",
}
# At DEBUG the library logs request bodies, which contain posts.
sdk_log = logging.getLogger("bot.slack.sdk")
sdk_log.setLevel(logging.WARNING)


def web_client(token: str | None, api_url: str) -> AsyncWebClient:
    """Return a client that waits when Slack asks it to."""
    waits = AsyncRateLimitErrorRetryHandler(max_retry_count=MOST_WAITS)
    return AsyncWebClient(token=token, base_url=api_url, timeout=TIMEOUT_S, retry_handlers=[waits], logger=sdk_log)


@contextmanager
def translated_errors(team: str, channel: str | None = None) -> Iterator[None]:
    """Translate errors of the body into ChannelLost, CardGone, CardRefused, BadSettings or ChatUnavailable."""
    try:
        yield
    except SlackApiError as error:
        raise translate_error(error, team, channel) from error
    except SlackObjectFormationError as error:
        # The library itself enforces some of Slack's limits.
        raise _refused(str(error), channel) from error
    except (ClientError, TimeoutError, OSError, SlackClientError) as error:
        raise ChatUnavailable(f"Slack can't be reached ({type(error).__name__}); trying again.") from error


def error_code(error: SlackApiError) -> str:
    """Return Slack's name for an error, or an empty text if the answer did not come from Slack."""
    return str(_answered(error).get("error", ""))


def translate_error(error: SlackApiError, team: str, channel: str | None = None) -> RejoinderError:
    """Return our error for one of Slack's."""
    code = error_code(error)
    if code in _TOKEN or code == "missing_scope":
        message = refused_token(error, team)
        return BadSettings(message) if channel is None else ChannelLost(message, gone=False)
    if code in _GONE or code in _CLOSED:
        message = f"Slack channel {channel} of workspace {team} {_GONE.get(code) or _CLOSED[code]}."
        return ChannelLost(message, gone=code in _GONE)
    if code in _CARD_GONE:
        return CardGone(f"A card in Slack channel {channel} is gone ({code}).")
    if code in _CARD_REFUSED:
        return _refused("; ".join([code, *map(str, _answered(error).get("errors", []))]), channel)
    return ChatUnavailable(f"Slack could not do this ({code or 'an answer that is none of its own'}); trying again.")


def _refused(details: str, channel: str | None) -> RejoinderError:
    """Return the error for a message or form that breaks Slack's rules; without a channel it is a form."""
    message = f"Slack refuses the layout of a message: {details[:500]}. Please report this."
    return ChatUnavailable(message) if channel is None else CardRefused(message)


def refused_token(error: SlackApiError, team: str) -> str:
    """Return why Slack refuses a token, and what to do."""
    if error_code(error) == "missing_scope":
        needed = _answered(error).get("needed", "?")
        return (
            f"The Slack app lacks the scope {needed} in workspace {team}. Add it under OAuth & Permissions (or take "
            "deploy/slack-manifest.yaml), then install the app again."
        )
    return (
        f"Slack refuses the token of {team}: {_TOKEN[error_code(error)]}. Install the app again and set the new token; "
        "docs/slack.md says where."
    )


def _answered(error: SlackApiError) -> dict[str, Any]:
    data = getattr(error.response, "data", error.response)
    return data if isinstance(data, dict) else {}
