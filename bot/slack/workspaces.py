"""The workspaces in which the app is installed: their clients, and their people as moderators."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import cast

from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.people import moderator
from bot.permissions import Moderator
from bot.slack.board import SURFACE
from bot.slack.web_api import translated_errors, web_client
from bot.translation import _
from core.errors import BadSettings, Forbidden, RejoinderError
from core.settings import ChatWorkspace

log = logging.getLogger(__name__)

GROUPS_FOR_S = 60.0
"""Seconds for which the members of a user group are cached."""


class Workspaces:
    """Each workspace's settings and client; `tokens` has a bot token for each team id."""

    def __init__(self, servers: Mapping[str, ChatWorkspace], tokens: Mapping[str, str], api_url: str) -> None:
        self.servers = servers
        self.clients: dict[str, AsyncWebClient] = {team: web_client(tokens[team], api_url) for team in servers}
        self._tokens = tokens
        self._bots: dict[str, tuple[str, str]] = {}
        self._members: dict[tuple[str, str], tuple[float, frozenset[str]]] = {}

    async def require_working_token(self) -> None:
        """Raise BadSettings if Slack refuses every token; one valid token is enough to work."""
        errors = [await self.complaint(team) for team in self.servers]
        if all(isinstance(error, BadSettings) for error in errors):
            raise next(error for error in errors if error is not None)

    async def complaint(self, team: str) -> RejoinderError | None:
        """Return what is wrong with a workspace's token, or None."""
        try:
            with translated_errors(team):
                answer = await self.clients[team].auth_test()
        except RejoinderError as error:
            return error
        if answer["team_id"] != team:
            return BadSettings(
                f"The bot token set for Slack workspace {team} belongs to {answer['team_id']}; each has its own."
            )
        self._bots[team] = (str(answer["user_id"]), str(answer["bot_id"]))
        return None

    def authorize(self, team_id: str | None) -> AuthorizeResult:
        """Return the token with which to act in a workspace (Bolt asks at every request)."""
        if team_id is None or team_id not in self.servers:
            log.warning("Something came from Slack workspace %s, which is not in the settings; ignored.", team_id)
            # Bolt accepts None for "not installed there", although its types don't allow it.
            return cast("AuthorizeResult", None)
        user, bot = self._bots.get(team_id, (None, None))
        return AuthorizeResult(
            enterprise_id=None, team_id=team_id, bot_token=self._tokens[team_id], bot_id=bot, bot_user_id=user
        )

    async def who(self, team: str, user: str, username: str) -> Moderator:
        """Return the moderator for a person. Raises Forbidden if they may not decide."""
        server = self.servers.get(team)
        if server is None:
            raise Forbidden(_("You come from another workspace; here only members of this one decide."))
        named = {*server.reviewers, *server.leads, *server.admins}
        groups = [name for name in named if name.startswith("S")]
        memberships = await asyncio.gather(*(self._holds(team, group, user) for group in groups))
        roles = [group for group, inside in zip(groups, memberships, strict=True) if inside]
        return moderator(server, SURFACE, user, username, roles)

    async def _holds(self, team: str, group: str, user: str) -> bool:
        looked_up = self._members.get((team, group))
        if looked_up is None or time.monotonic() - looked_up[0] > GROUPS_FOR_S:
            looked_up = (time.monotonic(), await self._fetch_members(team, group, looked_up))
            self._members[team, group] = looked_up
        return user in looked_up[1]

    async def _fetch_members(
        self, team: str, group: str, earlier: tuple[float, frozenset[str]] | None
    ) -> frozenset[str]:
        try:
            with translated_errors(team):
                answer = await self.clients[team].usergroups_users_list(usergroup=group)
        except RejoinderError as error:
            # Keep the members known before; a group that could never be read has none.
            log.warning("The members of Slack user group %s can't be read: %s", group, error)
            return earlier[1] if earlier else frozenset()
        return frozenset(answer["users"])
