"""The search for evidence over HTTP, and adding its results to a case."""

from __future__ import annotations

from typing import Annotated

from aiohttp import web
from pydantic import BaseModel, Field

from bot.auth import Auth
from bot.backing import marks
from bot.case_json import whole_case
from bot.changes import Changes
from bot.desk import Desk
from bot.evidence_search import EvidenceSearch
from bot.request_body import case_key, read_body
from core.domain import TargetGroup, Text


class _Query(BaseModel):
    """What to search for, optionally about one group."""

    query: Annotated[Text, Field(max_length=3_000)]
    group: TargetGroup | None = None


class _Choice(BaseModel):
    """The id of a statement found by a search."""

    id: Annotated[Text, Field(max_length=300)]


class EvidenceApi:
    """The routes that search the knowledge base and add a statement to a case's evidence."""

    def __init__(self, desk: Desk, search: EvidenceSearch, changes: Changes, auth: Auth) -> None:
        self._desk = desk
        self._search = search
        self._changes = changes
        self._auth = auth

    def add_routes(self, app: web.Application, case_path: str) -> None:
        """Add the routes; `case_path` is the path of a case."""
        app.router.add_post("/v1/evidence", self._find)
        app.router.add_post(case_path + "/evidence", self._use)

    async def _find(self, request: web.Request) -> web.Response:
        await self._auth.moderator(request)
        body = await read_body(request, _Query)
        statements = await self._search.search(body.query, body.group)
        return web.json_response(
            {"evidence": [{**piece.model_dump(mode="json"), "marks": marks(piece)} for piece in statements]}
        )

    async def _use(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        body = await read_body(request, _Choice)
        case = await self._desk.add_evidence(case_key(request), self._search.statement(body.id), who)
        self._changes.nudge()
        return web.json_response(whole_case(case, await self._desk.history(case.key), who))
