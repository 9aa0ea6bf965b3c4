"""Check whether the settings fit Slack's own data: tokens, scopes, channels, user groups."""

from __future__ import annotations

from collections.abc import AsyncIterator

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.people import without_lead_channel, without_reviewers
from bot.chat.routing import channels
from bot.slack.socket_mode import SocketModeConnection
from bot.slack.web_api import error_code, translated_errors
from bot.slack.workspaces import Workspaces
from bot.translation import _
from core.errors import RejoinderError
from core.settings import ChatWorkspace

SCOPES = (
    "chat:write", "commands", "channels:read", "groups:read", "channels:history", "groups:history", "usergroups:read",
    "files:write", "im:write",
)  # fmt: skip
"""The scopes that the app's manifest requests, deploy/slack-manifest.yaml."""
VARIABLE = "REJOINDER_SLACK__WORKSPACES"


async def complaints(workspaces: Workspaces, line: SocketModeConnection | None) -> list[str]:
    """Return in plain words what keeps the bot from working, and what to do; empty if all is well."""
    servers = workspaces.servers
    problems = [*without_reviewers(servers, VARIABLE), *without_lead_channel(servers, VARIABLE)]
    if line is not None:
        try:
            await line.check()
        except RejoinderError as error:
            problems.append(str(error))
    for team, server in servers.items():
        trouble = await workspaces.complaint(team)
        if trouble is not None:
            problems.append(str(trouble))
            continue
        problems += [problem async for problem in _workspace(workspaces.clients[team], team, server)]
    return problems


async def _workspace(client: AsyncWebClient, team: str, server: ChatWorkspace) -> AsyncIterator[str]:
    if lacking := await _lacking(client, team):
        yield _(
            "The Slack app lacks {scopes} in workspace {workspace}. Add them under OAuth & Permissions (or take "
            "{file}), then install the app again.",
            scopes=", ".join(lacking), workspace=team, file="deploy/slack-manifest.yaml",
        )  # fmt: skip
    for channel in dict.fromkeys([*channels(server), *filter(None, [server.lead_channel])]):
        if (problem := await _channel(client, team, channel)) is not None:
            yield problem
    for name in sorted({*server.reviewers, *server.leads, *server.admins}):
        if name.startswith("S") and (problem := await _group(client, team, name)) is not None:
            yield problem


async def _lacking(client: AsyncWebClient, team: str) -> list[str]:
    with translated_errors(team):
        answer = await client.auth_test()
    granted = {scope.strip() for scope in answer.headers.get("x-oauth-scopes", "").split(",")}
    return [scope for scope in SCOPES if scope not in granted]


async def _channel(client: AsyncWebClient, team: str, channel: str) -> str | None:
    try:
        with translated_errors(team, channel):
            details = (await client.conversations_info(channel=channel))["channel"]
    except RejoinderError as error:
        return str(error)
    if details.get("is_archived"):
        return _(
            "Slack channel {channel} of workspace {workspace} was archived; set another, or take it out of the "
            "archive.",
            channel=channel, workspace=team,
        )  # fmt: skip
    if not details.get("is_member"):
        return _(
            "The app is not in Slack channel {channel} of workspace {workspace}; type {command} there.",
            channel=channel, workspace=team, command="/invite @Rejoinder",
        )  # fmt: skip
    return None


async def _group(client: AsyncWebClient, team: str, group: str) -> str | None:
    try:
        with translated_errors(team):
            try:
                await client.usergroups_users_list(usergroup=group)
            except SlackApiError as error:
                if error_code(error) not in ("no_such_subteam", "subteam_not_found"):
                    raise
                return _(
                    "Workspace {workspace} has no user group {group}; correct the roles in {variable}.",
                    workspace=team, group=group, variable=VARIABLE,
                )  # fmt: skip
    except RejoinderError as error:
        return str(error)
    return None
