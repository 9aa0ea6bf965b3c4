"""Assemble the desk's aiohttp application: its API, its event stream and its page."""

from __future__ import annotations

from aiohttp import web

from bot.api import CASE_PATH, CaseApi
from bot.auth import Auth
from bot.changes import Changes
from bot.desk import Desk
from bot.events import EventRoute
from bot.evidence_api import EvidenceApi
from bot.evidence_search import EvidenceSearch
from bot.http_errors import errors_as_json
from bot.language_api import LanguageApi
from bot.overview_api import OverviewApi
from bot.pipeline_cli import PipelineCli
from bot.session_api import SessionApi
from bot.standing_api import StandingApi
from bot.surroundings import Surroundings
from bot.web.pages import Pages
from ledger import Ledger


def add_desk(
    app: web.Application, desk: Desk, ledger: Ledger, changes: Changes, auth: Auth,
    surroundings: Surroundings | None = None, pipeline_cli: PipelineCli | None = None,
) -> None:  # fmt: skip
    """Add the whole desk to `app`; the caller must run `changes` beside it."""
    surroundings = surroundings or Surroundings()
    settings = desk.settings
    languages = LanguageApi(ledger.moderator_settings, auth, settings.language)
    languages.add_routes(app)
    app.middlewares.append(errors_as_json)
    auth.add_routes(app)
    EventRoute(changes, auth, ledger.history).add_routes(app)
    CaseApi(desk, ledger.moderator_settings, changes, auth).add_routes(app)
    EvidenceApi(desk, EvidenceSearch(pipeline_cli or PipelineCli()), changes, auth).add_routes(app, CASE_PATH)
    OverviewApi(desk, ledger, auth, surroundings).add_routes(app)
    StandingApi(ledger.moderator_settings, surroundings, auth).add_routes(app)
    SessionApi(auth.open_sessions, auth).add_routes(app)
    Pages(
        confirm_covered=settings.confirm_covered,
        record_uncovering=settings.record_uncovering,
        strategies=desk.strategies,
    ).add_routes(app, languages)


def page_address(host: str, port: int, token: str | None = None) -> str:
    """Return the page's address. The token follows the `#`, which browsers never send to a server."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://{reachable}:{port}/" + (f"#token={token}" if token else "")
