"""The page "Today" over HTTP: waiting cases, the figures of a period with their chart, and the export."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aiohttp import web

from bot import stats
from bot.auth import Auth
from bot.bars import bars
from bot.case_json import summary
from bot.desk import CaseQuery, Desk
from bot.permissions import require_lead
from bot.stored_words import translate_stored
from bot.surges import surges
from bot.surroundings import Surroundings
from bot.translation import _
from core.domain import CaseState, now
from core.errors import BadInput
from ledger import Ledger

LISTED = 8
EXPORTS = {"csv": ("text/csv", stats.table), "jsonl": ("application/jsonl", stats.lines)}
"""File extension -> content type and function for exporting decisions."""


class OverviewApi:
    """The routes that show how the desk is doing."""

    def __init__(self, desk: Desk, ledger: Ledger, auth: Auth, surroundings: Surroundings) -> None:
        self._desk = desk
        self._ledger = ledger
        self._auth = auth
        self._surroundings = surroundings

    def add_routes(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/v1/today", self._today)
        app.router.add_get("/v1/about", self._about)
        app.router.add_get("/v1/stats", self._stats)
        app.router.add_get("/v1/stats.svg", self._picture)
        app.router.add_get("/v1/export", self._export)

    async def _today(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        hidden = await self._ledger.moderator_settings.hidden(who.name)
        care = self._surroundings.care
        arrivals = await self._ledger.workloads.arrivals(now() - timedelta(seconds=care.surge_window_s))
        counts = await self._desk.counts()
        return web.json_response({
            "mine": await self._listed(CaseQuery(mine=who.name, limit=LISTED)),
            "oldest": await self._listed(CaseQuery(doubtful=False, hidden=hidden, limit=LISTED)),
            "team": [
                {"who": load.who, "held": load.held, "assigned": load.assigned}
                for load in await self._ledger.workloads.current()
            ],
            "surges": [
                {"group": surge.group, "words": surge.words} for surge in surges(arrivals, care.surge_cards)
            ],
            "waiting": counts[CaseState.PENDING],
            "doubtful": await self._desk.count_doubtful(),
            "appealed": await self._desk.count_appealed(),
            "unhandled": counts[CaseState.ESCALATED] - await self._desk.count_handled(),
            "now": now().isoformat(),
        })  # fmt: skip

    async def _listed(self, query: CaseQuery) -> list[dict[str, Any]]:
        return [summary(case) for case in (await self._desk.queue(query)).cases]

    async def _about(self, request: web.Request) -> web.Response:
        await self._auth.moderator(request)
        parts = [
            {"name": translate_stored(name), "does": translate_stored(does)}
            for name, does in self._surroundings.parts.items()
        ]
        return web.json_response({"parts": parts, "takes_flags": self._surroundings.takes_flags})

    async def _stats(self, request: web.Request) -> web.Response:
        figures = await self._figures(request)
        return web.json_response({
            "words": stats.in_words(figures).splitlines(),
            "decided": sum(share.decided for share in figures.by_intent.values()),
        })  # fmt: skip

    async def _picture(self, request: web.Request) -> web.Response:
        figures = await self._figures(request)
        return web.Response(text=bars(figures), content_type="image/svg+xml")

    async def _export(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        require_lead(who, _("export decisions"))
        ending = request.query.get("format", "csv")
        if ending not in EXPORTS:
            raise BadInput(
                _(
                    "Decisions can't be exported as {ending}; choose one of {endings}.",
                    ending=ending[:20],
                    endings=", ".join(EXPORTS),
                )
            )
        content_type, write = EXPORTS[ending]
        period = await self._ledger.statistics.since(now() - stats.period(request.query.get("period", "4w")))
        name = f"rejoinder-{now():%Y-%m-%d}.{ending}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return web.Response(body=write(period.decided), content_type=content_type, headers=headers)

    async def _figures(self, request: web.Request) -> stats.Figures:
        await self._auth.moderator(request)
        return await stats.figures(self._ledger, stats.period(request.query.get("period", "7d")))
