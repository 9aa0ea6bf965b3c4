"""The mapping from people in a chat to moderators: their name on the desk and their role."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from bot.permissions import Moderator
from bot.translation import _
from core.errors import Forbidden
from core.settings import ChatWorkspace

_UNSAFE = re.compile(r"[^\w.-]+")


def moderator(server: ChatWorkspace, surface: str, user: str, username: str, roles: Collection[str]) -> Moderator:
    """Return the moderator for a chat user; `roles` are the ids of their roles or user groups on the server.

    Raises Forbidden, with a message in plain words, if they may not decide here.
    """
    ids = {user, *roles}
    name = desk_name(server, surface, user, username)
    if ids & set(server.admins):
        return Moderator(name, "admin")
    if ids & set(server.leads):
        return Moderator(name, "lead")
    if not ids & set(server.reviewers):
        raise Forbidden(_("You may look but not decide here: that takes a reviewer's role. Ask a lead for it."))
    return Moderator(name, "reviewer")


def desk_name(server: ChatWorkspace, surface: str, user: str, username: str) -> str:
    """Return a chat user's name on the desk, whether or not they may decide."""
    return server.people.get(user) or f"{_UNSAFE.sub('_', username)[:40]} ({surface} {user})"


def without_reviewers(servers: Mapping[str, ChatWorkspace], variable: str) -> list[str]:
    """Return a warning for each server that names no reviewers; `variable` is the setting to change."""
    return [
        _(
            "{server} names no reviewers, so nobody but its leads and admins may decide there; "
            "set `reviewers` in {variable}.",
            server=id,
            variable=variable,
        )
        for id, server in servers.items()
        if not server.reviewers
    ]


def without_lead_channel(servers: Mapping[str, ChatWorkspace], variable: str) -> list[str]:
    """Return a warning for each server whose leads get no notices there; `variable` is the setting to change."""
    return [
        _(
            "{server} names no channel for leads, so no notice of an escalation or reminder is sent there; "
            "set `lead_channel` in {variable}.",
            server=id,
            variable=variable,
        )
        for id, server in servers.items()
        if not server.lead_channel
    ]
