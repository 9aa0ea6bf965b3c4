"""Serve the web desk's page and files, and keep every answer inside a strict content security policy.

The page itself holds no case: its script asks the API, and puts whatever it gets into the page as text only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.reasons import REASONS
from core.domain import Action, CaseState, Intent, TargetGroup
from core.lifecycle import DECISIONS, STAGES, UNFINISHED, StageName

HERE = Path(__file__).parent

HEADERS: Mapping[str, str] = MappingProxyType({
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
})  # fmt: skip

GROUP_WORDS = {
    TargetGroup.WOMEN: "women",
    TargetGroup.PEOPLE_OF_COLOUR: "people of colour",
    TargetGroup.DISABLED: "people with disabilities",
    TargetGroup.MIGRANTS: "migrants",
    TargetGroup.MUSLIMS: "Muslims",
    TargetGroup.JEWS: "Jews",
    TargetGroup.LGBT: "LGBT people",
    TargetGroup.OTHER: "another group",
}
INTENT_WORDS = {
    Intent.INFORMATIVE: "give the facts",
    Intent.QUESTIONING: "ask a question back",
    Intent.DENOUNCING: "say clearly that it is wrong",
    Intent.POSITIVE: "stand by those attacked",
}

(WAITING,) = DECISIONS[Action.APPROVE].takes
"""The state of a case that waits for a moderator."""
DRAFTING = STAGES[StageName.DRAFT].takes
"""The state of a case whose draft is being written."""
STATE_WORDS = {
    CaseState.RECEIVED: "received, waits for triage",
    CaseState.TRIAGED: "triaged, waits for evidence",
    CaseState.GROUNDED: "a draft is being written",
    CaseState.PENDING: "waits for a decision",
    CaseState.APPROVED: "approved",
    CaseState.RELEASED: "released",
    CaseState.REJECTED: "rejected",
    CaseState.DISMISSED: "dismissed: no reply is called for",
    CaseState.ESCALATED: "escalated: people act, nothing is drafted",
    CaseState.FAILED: "failed",
}
STATE_FILTERS = {
    "Waiting": (WAITING,),
    "Approved, leaving soon": (CaseState.APPROVED,),
    "Released": (CaseState.RELEASED,),
    "Rejected": (CaseState.REJECTED,),
    "Dismissed": (CaseState.DISMISSED,),
    "Escalated to people": (CaseState.ESCALATED,),
    "Failed": (CaseState.FAILED,),
    "Being worked on": UNFINISHED,
}
"""What the queue can be narrowed to; every state stands under one label."""


class Pages:
    """The desk's page, rendered once, and its files."""

    def __init__(self) -> None:
        environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._desk = environment.get_template("desk.html").render(
            groups=GROUP_WORDS,
            intents=INTENT_WORDS,
            reasons=REASONS,
            states=STATE_WORDS,
            state_filters=STATE_FILTERS,
            waiting=WAITING,
            drafting=DRAFTING,
        )

    def add_routes(self, app: web.Application) -> None:
        """Add the page at `/` and its files below `/static`."""
        app.router.add_get("/", self._show)
        app.router.add_static("/static", HERE / "static")
        app.on_response_prepare.append(harden)

    async def _show(self, _: web.Request) -> web.Response:
        return web.Response(text=self._desk, content_type="text/html")


async def harden(request: web.Request, response: web.StreamResponse) -> None:
    """Set the security headers. Nothing is stored by browsers or proxies, save files that are asked about each time."""
    response.headers.update(HEADERS)
    response.headers["Cache-Control"] = "no-cache" if request.path.startswith("/static/") else "no-store"
