"""A fake Slack on loopback: Web API, Socket Mode and people, as strict as the real one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.bot.slack.people import People
from tests.bot.slack.socket_mode import SocketMode
from tests.bot.slack.web_api import WebApi
from tests.bot.slack.workplace import Grant, Workplace

APP_TOKEN = "xapp-1-A0REJOINDER-secret"
BOT_TOKEN = "xoxb-first-workspace-secret"
SIGNING_SECRET = "signing-secret-of-the-app"
TEAM = "T0FIRST"
PATIENCE_S = 60.0


class Slack:
    """A Slack server; `base_url` is what a client takes in place of `https://slack.com/api/`."""

    def __init__(self) -> None:
        self.at = Workplace()
        self.address = ""
        self.socket = SocketMode(lambda: self.address)
        self.people = People(self.at, self.socket, lambda: self.address)
        self._api = WebApi(self.at, lambda: self.address, self.socket.open)
        self.at.tokens[APP_TOKEN] = Grant("", "app", {"connections:write"})

    @property
    def base_url(self) -> str:
        return f"{self.address}/api/"

    def wait_up_to(self, seconds: float) -> None:
        """Set how long it waits for answers, in place of Slack's three seconds, so that a busy machine is not late."""
        self.socket.ack_s = self.at.trigger_s = self.people.http_s = seconds

    def app(self) -> web.Application:
        app = web.Application(client_max_size=10_000_000)
        self._api.add_routes(app)
        self.socket.add_routes(app)
        return app


@asynccontextmanager
async def slack_server() -> AsyncIterator[Slack]:
    """Run a fake Slack with one workspace, one channel and a few people."""
    slack = Slack()
    slack.at.add_team(TEAM, BOT_TOKEN)
    slack.at.add_channel(TEAM, "C0DESK", "desk")
    slack.at.names |= {"U0ANA": "ana", "U0BEN": "ben", "U0LEA": "lea", "U0OUT": "outsider"}
    async with TestServer(slack.app()) as server:
        slack.address = str(server.make_url("")).rstrip("/")
        yield slack
