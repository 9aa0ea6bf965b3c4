"""Serve the web desk's page and files, and keep every answer inside a strict content security policy.

The page itself holds no case: its script asks the API, and puts whatever it gets into the page as text only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.reasons import REASONS
from bot.wording import IN_DOUBT, INTENT_WORDS, STRATEGY_WORDS
from core.domain import Action, CaseState, Route, StrategyName, TargetGroup
from core.lifecycle import DECISIONS, ENDED, ROUTES, STAGES, UNFINISHED, StageName

HERE = Path(__file__).parent

HEADERS: Mapping[str, str] = MappingProxyType({
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
})  # fmt: skip

(WAITING,) = DECISIONS[Action.APPROVE].takes
"""The state of a case that waits for a moderator."""
DRAFTING = STAGES[StageName.DRAFT].takes
"""The state of a case whose draft is being written."""
ALARMING = ROUTES[Route.ESCALATE]
"""The state of a case that leads are told of at once."""
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


@dataclass(frozen=True)
class QueueFilter:
    """One choice of what the queue lists: cases in these states.

    Where it is said, only those in doubt, those that were handled or those with an appeal; False lists only the others.
    """

    label: str
    states: tuple[CaseState, ...]
    doubtful: bool | None = None
    handled: bool | None = None
    appealed: bool | None = None

    @property
    def flags(self) -> dict[str, bool]:
        """The flags that narrow the states, by name."""
        named = {"doubtful": self.doubtful, "handled": self.handled, "appealed": self.appealed}
        return {name: value for name, value in named.items() if value is not None}


QUEUE_FILTERS = {
    "waiting": QueueFilter("Waiting", (WAITING,), doubtful=False),
    "doubtful": QueueFilter(IN_DOUBT, (WAITING,), doubtful=True),
    "appeals": QueueFilter("Appeals", ENDED, appealed=True),
    "approved": QueueFilter("Approved, leaving soon", (CaseState.APPROVED,)),
    "released": QueueFilter("Released", (CaseState.RELEASED,)),
    "rejected": QueueFilter("Rejected", (CaseState.REJECTED,)),
    "dismissed": QueueFilter("Dismissed", (CaseState.DISMISSED,)),
    "escalated": QueueFilter("Escalated to people", (ALARMING,), handled=False),
    "handled": QueueFilter("Escalated, handled", (ALARMING,), handled=True),
    "failed": QueueFilter("Failed", (CaseState.FAILED,)),
    "unfinished": QueueFilter("Being worked on", UNFINISHED),
}
"""What the queue can be narrowed to, by name; every case stands under one."""


class Pages:
    """The desk's page, rendered once, and its files."""

    def __init__(
        self, *, confirm_covered: bool = False, record_uncovering: bool = False,
        strategies: Sequence[StrategyName] = (),
    ) -> None:  # fmt: skip
        environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._desk = environment.get_template("desk.html").render(
            groups={group: group.label for group in TargetGroup},
            intents=INTENT_WORDS,
            strategies={name: STRATEGY_WORDS[name] for name in strategies},
            reasons=REASONS,
            states=STATE_WORDS,
            queue_filters=QUEUE_FILTERS,
            waiting=WAITING,
            drafting=DRAFTING,
            alarming=ALARMING,
            confirm_covered=confirm_covered,
            record_uncovering=record_uncovering,
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
