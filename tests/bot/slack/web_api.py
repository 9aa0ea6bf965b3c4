"""A fake of the Slack Web API's methods that Rejoinder calls, with the same errors.

https://docs.slack.dev/reference/methods
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.bot.slack.block_kit import MOST_IN_BLOCKS, complaints_about_message, complaints_about_modal, texts
from tests.bot.slack.workplace import RESPONSE_URL_USES, Channel, Grant, Trigger, View, Workplace

Arguments = dict[str, Any]
MOST_VIEWS = 3
MOST_TEXT = 40_000


class Refused(Exception):
    """An answer with `ok: false`, an error code and further fields."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.answer = {"ok": False, "error": error, **more}


class WebApi:
    """The methods at `/api/METHOD`, response URLs and file uploads."""

    def __init__(self, workplace: Workplace, address: Callable[[], str], open_socket: Callable[[Grant], str]) -> None:
        self._at = workplace
        self._address = address
        self._open_socket = open_socket
        self._methods: dict[str, tuple[Callable[[Arguments, Grant], Arguments], str | None, str]] = {
            "auth.test": (self._auth_test, None, "bot"),
            "apps.connections.open": (self._connections_open, "connections:write", "app"),
            "chat.postMessage": (self._post, "chat:write", "bot"),
            "chat.postEphemeral": (self._post_ephemeral, "chat:write", "bot"),
            "chat.update": (self._update, "chat:write", "bot"),
            "chat.delete": (self._delete, "chat:write", "bot"),
            "conversations.info": (self._channel_info, "channels:read", "bot"),
            "conversations.history": (self._history, "channels:history", "bot"),
            "usergroups.users.list": (self._group_users, "usergroups:read", "bot"),
            "conversations.open": (self._open_conversation, "im:write", "bot"),
            "views.open": (self._views_open, None, "bot"),
            "views.push": (self._views_push, None, "bot"),
            "views.update": (self._views_update, None, "bot"),
            "files.getUploadURLExternal": (self._upload_url, "files:write", "bot"),
            "files.completeUploadExternal": (self._complete_upload, "files:write", "bot"),
        }

    def add_routes(self, app: web.Application) -> None:
        app.router.add_route("*", "/api/{method}", self._call)
        app.router.add_post("/response/{key:.+}", self._respond)
        app.router.add_post("/upload/{id}", self._upload)

    async def _call(self, request: web.Request) -> web.Response:
        method, arguments = request.match_info["method"], await _arguments(request)
        if (waits := self._at.limits[method]) and (seconds := waits.pop(0)) is not None:
            return web.json_response(
                {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": str(seconds)}
            )
        if self._at.broken[method]:
            return web.Response(status=self._at.broken[method].pop(0), text="upstream connect error")
        self._at.calls.append((method, {name: value for name, value in arguments.items() if name != "token"}))
        try:
            answer = {"ok": True, **self._answer(method, arguments, request)}
            scopes = ",".join(sorted(self._granted(request, arguments).scopes))
            return web.json_response(answer, headers={"X-OAuth-Scopes": scopes})
        except Refused as refused:
            return web.json_response(refused.answer)

    def _answer(self, method: str, arguments: Arguments, request: web.Request) -> Arguments:
        if method not in self._methods:
            raise Refused("unknown_method", req_method=method)
        handler, scope, kind = self._methods[method]
        grant = self._granted(request, arguments)
        if grant.kind != kind:
            raise Refused("not_allowed_token_type")
        if scope is not None and scope not in grant.scopes:
            raise Refused("missing_scope", needed=scope, provided=",".join(sorted(grant.scopes)))
        return handler(arguments, grant)

    def _granted(self, request: web.Request, arguments: Arguments) -> Grant:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        token = token if scheme == "Bearer" else str(arguments.get("token", ""))
        if not token:
            raise Refused("not_authed")
        grant = self._at.tokens.get(token)
        if grant is None:
            raise Refused("invalid_auth")
        if grant.refused is not None:
            raise Refused(grant.refused)
        return grant

    def _auth_test(self, _: Arguments, grant: Grant) -> Arguments:
        return {
            "url": "https://example.slack.com/", "team": f"Team {grant.team}", "user": "rejoinder",
            "team_id": grant.team, "user_id": "U0BOT", "bot_id": "B0BOT", "is_enterprise_install": False,
        }  # fmt: skip

    def _connections_open(self, _: Arguments, grant: Grant) -> Arguments:
        return {"url": self._open_socket(grant)}

    def _post(self, arguments: Arguments, grant: Grant) -> Arguments:
        channel = self._writable(arguments, grant)
        message = self._message(arguments) | {"ts": self._at.stamp(), "type": "message", "bot_id": "B0BOT"}
        if "metadata" in arguments:
            message["metadata"] = _parsed(arguments["metadata"])
            if set(message["metadata"]) != {"event_type", "event_payload"}:
                raise Refused("invalid_metadata_format")
        if "thread_ts" in arguments:
            message["thread_ts"] = arguments["thread_ts"]
        channel.messages[message["ts"]] = message
        return {"channel": channel.id, "ts": message["ts"], "message": message}

    def _post_ephemeral(self, arguments: Arguments, grant: Grant) -> Arguments:
        channel = self._writable(arguments, grant)
        ephemeral = self._message(arguments) | {"user": arguments["user"]}
        channel.ephemerals.append(ephemeral)
        return {"message_ts": self._at.stamp()}

    def _update(self, arguments: Arguments, grant: Grant) -> Arguments:
        channel = self._writable(arguments, grant)
        message = channel.messages.get(str(arguments.get("ts")))
        if message is None:
            raise Refused("message_not_found")
        message.update(self._message(arguments), edited={"ts": self._at.stamp()})
        return {"channel": channel.id, "ts": message["ts"], "text": message.get("text", "")}

    def _delete(self, arguments: Arguments, grant: Grant) -> Arguments:
        channel = self._writable(arguments, grant)
        if channel.messages.pop(str(arguments.get("ts")), None) is None:
            raise Refused("message_not_found")
        return {"channel": channel.id, "ts": arguments["ts"]}

    def _message(self, arguments: Arguments) -> Arguments:
        blocks = _parsed(arguments.get("blocks", []))
        text = str(arguments.get("text", ""))
        if not text and not blocks:
            raise Refused("no_text")
        if len(text) > MOST_TEXT:
            raise Refused("msg_too_long")
        if complaints := complaints_about_message(blocks):
            raise Refused("invalid_blocks", errors=complaints, response_metadata={"messages": complaints})
        if sum(map(len, texts(blocks))) > MOST_IN_BLOCKS:
            raise Refused("msg_blocks_too_long")
        return {"text": text, "blocks": blocks, "unfurl": arguments.get("unfurl_links")}

    def _channel(self, arguments: Arguments, grant: Grant) -> Channel:
        channel = self._at.channels.get(str(arguments.get("channel")))
        hidden = channel is not None and channel.private and not channel.bot_inside
        if channel is None or channel.team != grant.team or channel.deleted or hidden:
            raise Refused("channel_not_found")
        return channel

    def _writable(self, arguments: Arguments, grant: Grant) -> Channel:
        channel = self._channel(arguments, grant)
        if not channel.bot_inside:
            raise Refused("not_in_channel")
        if channel.archived:
            raise Refused("is_archived")
        return channel

    def _channel_info(self, arguments: Arguments, grant: Grant) -> Arguments:
        channel = self._channel(arguments, grant)
        return {"channel": {
            "id": channel.id, "name": channel.name, "is_archived": channel.archived, "is_private": channel.private,
            "is_member": channel.bot_inside,
        }}  # fmt: skip

    def _history(self, arguments: Arguments, grant: Grant) -> Arguments:
        channel = self._channel(arguments, grant)
        if not channel.bot_inside:
            raise Refused("not_in_channel")
        oldest, limit = float(arguments.get("oldest", "0")), int(arguments.get("limit", 100))
        before = float(arguments.get("cursor") or "inf")
        newest_first = sorted((ts for ts in channel.messages if oldest <= float(ts) < before), reverse=True)
        messages = [dict(channel.messages[ts]) for ts in newest_first[:limit]]
        if str(arguments.get("include_all_metadata")).lower() not in ("true", "1"):
            for message in messages:
                message.pop("metadata", None)
        more = len(newest_first) > limit
        following = {"next_cursor": newest_first[limit - 1]} if more else {}
        return {"messages": messages, "has_more": more, "response_metadata": following}

    def _group_users(self, arguments: Arguments, grant: Grant) -> Arguments:
        group = str(arguments.get("usergroup"))
        if group not in self._at.groups:
            raise Refused("no_such_subteam")
        return {"users": sorted(self._at.groups[group])}

    def _open_conversation(self, arguments: Arguments, grant: Grant) -> Arguments:
        user = str(arguments.get("users"))
        if user not in self._at.names:
            raise Refused("user_not_found")
        return {"channel": {"id": self._at.add_channel(grant.team, f"D{user}", user).id}}

    def _exchanged(self, arguments: Arguments, grant: Grant) -> Trigger:
        trigger = self._at.triggers.get(str(arguments.get("trigger_id")))
        if trigger is None or trigger.team != grant.team:
            raise Refused("invalid_trigger_id")
        if trigger.used:
            raise Refused("exchanged_trigger_id")
        if time.monotonic() - trigger.given_at > self._at.trigger_s:
            raise Refused("expired_trigger_id")
        trigger.used = True
        return trigger

    def _content(self, arguments: Arguments) -> Arguments:
        content: Arguments = _parsed(arguments.get("view", {}))
        if complaints := complaints_about_modal(content):
            raise Refused("invalid_arguments", response_metadata={"messages": complaints})
        return content

    def _views_open(self, arguments: Arguments, grant: Grant) -> Arguments:
        content, trigger = self._content(arguments), self._exchanged(arguments, grant)
        return {"view": self._shown(content, trigger, None)}

    def _views_push(self, arguments: Arguments, grant: Grant) -> Arguments:
        content, trigger = self._content(arguments), self._exchanged(arguments, grant)
        if trigger.view is None:
            raise Refused("no_view_in_progress")
        root = self._at.views[trigger.view].root
        if sum(view.open and view.root == root for view in self._at.views.values()) >= MOST_VIEWS:
            raise Refused("push_limit_reached")
        return {"view": self._shown(content, trigger, root)}

    def _shown(self, content: Arguments, trigger: Trigger, root: str | None) -> Arguments:
        id = f"V{self._at.number():09d}"
        view = View(id, trigger.team, trigger.user, content, f"{self._at.number()}.hash", root or id)
        self._at.views[id] = view
        return told(view)

    def _views_update(self, arguments: Arguments, grant: Grant) -> Arguments:
        content = self._content(arguments)
        view = self._at.views.get(str(arguments.get("view_id")))
        if view is None or not view.open or view.team != grant.team:
            raise Refused("not_found")
        if arguments.get("hash") not in (None, view.hash):
            raise Refused("hash_conflict")
        view.content, view.hash = content, f"{self._at.number()}.hash"
        return {"view": told(view)}

    def _upload_url(self, arguments: Arguments, grant: Grant) -> Arguments:
        if not arguments.get("filename") or int(arguments.get("length", 0)) < 1:
            raise Refused("invalid_arguments")
        id = f"F{self._at.number():09d}"
        self._at.files[id] = {"name": arguments["filename"], "data": b"", "done": False}
        return {"upload_url": f"{self._address()}/upload/{id}", "file_id": id}

    async def _upload(self, request: web.Request) -> web.Response:
        file = self._at.files[request.match_info["id"]]
        if request.content_type.startswith("multipart/"):
            reader = await request.multipart()
            part = await reader.next()
            file["data"] = bytes(await part.read()) if part is not None and hasattr(part, "read") else b""
        else:
            file["data"] = await request.read()
        return web.Response(text=f"OK - {len(file['data'])}")

    def _complete_upload(self, arguments: Arguments, grant: Grant) -> Arguments:
        files = _parsed(arguments["files"])
        for item in files:
            if item["id"] not in self._at.files:
                raise Refused("file_not_found")
            self._at.files[item["id"]].update(done=True, channel=arguments.get("channel_id"))
        return {"files": [{"id": item["id"], "title": item.get("title", "")} for item in files]}

    async def _respond(self, request: web.Request) -> web.Response:
        url = self._at.response_urls.get(request.match_info["key"])
        if url is None or url.uses >= RESPONSE_URL_USES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        url.uses += 1
        arguments = await request.json()
        self._at.calls.append(("response_url", arguments))
        try:
            message = self._message(arguments)
        except Refused as refused:
            return web.json_response(refused.answer, status=400)
        channel = self._at.channels[url.channel]
        if arguments.get("replace_original") and url.message is not None:
            channel.messages[url.message].update(message)
        elif arguments.get("response_type", "ephemeral") == "ephemeral":
            channel.ephemerals.append(message | {"user": url.user})
        else:
            ts = self._at.stamp()
            channel.messages[ts] = message | {"ts": ts}
        return web.json_response({"ok": True})


def told(view: View) -> Arguments:
    """Return a view in the form in which Slack sends it."""
    return {**view.content, "id": view.id, "team_id": view.team, "hash": view.hash, "root_view_id": view.root,
            "app_id": "A0REJOINDER", "state": {"values": {}}}  # fmt: skip


async def _arguments(request: web.Request) -> Arguments:
    if request.content_type == "application/json":
        return dict(await request.json())
    return {**request.query, **await request.post()}


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
