"""The desk over HTTP: `/v1/cases` and the actions on a case (`docs/operators.md`)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import BaseModel, Field, ValidationError

from bot.auth import Auth
from bot.case_json import related_case, summary, whole_case
from bot.changes import Changes
from bot.check_display import checks_as_json
from bot.desk import MAX_PAGE, CaseQuery, Desk
from bot.http_errors import brief
from bot.many import ManyDecisions, decide_many
from bot.permissions import Moderator
from bot.reasons import REASONS
from bot.request_body import case_key, read_body
from bot.translation import _
from core.domain import MAX_TEXT, Case, CaseState, Decision, Intent, TargetGroup, Text, failed, now
from core.errors import BadInput, Forbidden, describe_errors
from core.tokens import Caller
from ledger.moderator_settings import ModeratorSettings

MAX_NOTE = 2_000
CASE_PATH = "/v1/cases/{platform}/{post_id:.+}"


class _QueryString(BaseModel):
    """The accepted query string of `GET /v1/cases`."""

    state: tuple[CaseState, ...] = ()
    group: TargetGroup | None = None
    platform: str | None = None
    claimed_by: str | None = None
    mine: bool = False
    doubtful: bool | None = None
    handled: bool | None = None
    appealed: bool | None = None
    search: Annotated[str, Field(max_length=200)] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50
    cursor: str | None = None
    order: Literal["oldest", "newest"] = "oldest"

    def case_query(self, who: Moderator, hidden: frozenset[TargetGroup]) -> CaseQuery:
        """Return the query for the desk; a group named explicitly is never hidden, nor are escalated cases."""
        return CaseQuery(
            states=(CaseState.PENDING,) if self.doubtful and not self.state else self.state,
            group=self.group,
            platform=self.platform,
            claimed_by=self.claimed_by,
            mine=who.name if self.mine else None,
            doubtful=self.doubtful,
            handled=self.handled,
            appealed=self.appealed,
            hidden=frozenset() if self.group or self.state == (CaseState.ESCALATED,) else hidden,
            search=self.search,
            limit=self.limit,
            cursor=self.cursor,
            oldest_first=self.order == "oldest",
        )


class _TextToCheck(BaseModel):
    """A text that a moderator is writing."""

    text: Annotated[Text, Field(max_length=MAX_TEXT)]


class _Note(BaseModel):
    """A note for the next person who looks at the case."""

    text: Annotated[Text, Field(max_length=MAX_NOTE)]


class _AppealBody(BaseModel):
    """The reason for an appeal, in the words of the person appealing or of the platform."""

    reason: Annotated[Text, Field(max_length=MAX_NOTE)]


class CaseApi:
    """The routes below `/v1` that show cases and take decisions."""

    def __init__(self, desk: Desk, own_settings: ModeratorSettings, changes: Changes, auth: Auth) -> None:
        self._desk = desk
        self._own_settings = own_settings
        self._changes = changes
        self._auth = auth

    def add_routes(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/v1/cases", self._list)
        app.router.add_get("/v1/choices", self._choices)
        app.router.add_post("/v1/decisions", self._decide_many)
        app.router.add_get(CASE_PATH + "/related", self._related)
        app.router.add_get(CASE_PATH, self._show)
        app.router.add_post(CASE_PATH + "/notes", self._note)
        app.router.add_post(CASE_PATH + "/appeal", self._appeal)
        app.router.add_post(CASE_PATH + "/decision", self._decide)
        app.router.add_post(CASE_PATH + "/checks", self._check)
        app.router.add_post(CASE_PATH + "/uncovered", self._note_uncovering)

    async def _list(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        hidden = await self._own_settings.hidden(who.name)
        page = await self._desk.queue(_query_string(request).case_query(who, hidden))
        counts = await self._desk.counts()
        same_text = await self._desk.waiting_with_same_text([case.key for case in page.cases])
        return web.json_response(
            {
                "cases": [summary(case, same_text.get(case.key, 0)) for case in page.cases],
                "next_cursor": page.next_cursor,
                "counts": {str(state): number for state, number in counts.items()},
                "doubtful": await self._desk.count_doubtful(),
                "appealed": await self._desk.count_appealed(),
                "handled": await self._desk.count_handled(),
                "hidden": sorted(hidden),
                "now": now().isoformat(),
            }
        )

    async def _choices(self, request: web.Request) -> web.Response:
        await self._auth.moderator(request)
        reasons = [{"code": reason.code, "label": reason.label} for reason in REASONS]
        return web.json_response(
            {
                "reasons": reasons,
                "intents": list(Intent),
                "groups": list(TargetGroup),
                "strategies": list(self._desk.strategies),
                "moderators": self._desk.moderators,
            }
        )

    async def _show(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        return await self._whole_case(await self._desk.case(case_key(request)), who)

    async def _decide(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        decision = await read_body(request, Decision)
        case = await self._desk.decide(case_key(request), decision, who)
        self._changes.nudge()
        return await self._whole_case(case, who)

    async def _check(self, request: web.Request) -> web.Response:
        await self._auth.moderator(request)
        body = await read_body(request, _TextToCheck)
        checks = await self._desk.check(case_key(request), body.text)
        return web.json_response({"checks": checks_as_json(checks), "passes": not failed(checks)})

    async def _note(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        body = await read_body(request, _Note)
        case = await self._desk.note(case_key(request), body.text, who)
        self._changes.nudge()
        return await self._whole_case(case, who)

    async def _appeal(self, request: web.Request) -> web.Response:
        who = await self._auth.caller(request)
        _require_may_appeal(who, request.match_info["platform"])
        body = await read_body(request, _AppealBody)
        case = await self._desk.appeal(case_key(request), body.reason, who.name)
        self._changes.nudge()
        return web.json_response(brief(case), status=202)

    async def _note_uncovering(self, request: web.Request) -> web.Response:
        await self._desk.record_uncovering(case_key(request), await self._auth.moderator(request))
        return web.Response(status=204)

    async def _related(self, request: web.Request) -> web.Response:
        await self._auth.moderator(request)
        related = await self._desk.related(case_key(request))
        return web.json_response({
            "author": [related_case(case) for case in related.author],
            "same_text": [related_case(case) for case in related.same_text],
            "assignee": related.assignee,
            "rules": related.rules,
            "now": now().isoformat(),
        })  # fmt: skip

    async def _decide_many(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        body = await read_body(request, ManyDecisions)
        results = await decide_many(self._desk, body, who)
        self._changes.nudge()
        return web.json_response({"results": results, "now": now().isoformat()})

    async def _whole_case(self, case: Case, who: Moderator) -> web.Response:
        return web.json_response(whole_case(case, await self._desk.history(case.key), who))


def _require_may_appeal(who: Caller, platform: str) -> None:
    if who.role == "monitor":
        raise Forbidden(f"The token of {who.name} is a monitor's and reads figures alone; use the platform's.")
    if who.platforms and platform not in who.platforms:
        raise Forbidden(f"The token of {who.name} may appeal for {', '.join(who.platforms)} alone.")


def _query_string(request: web.Request) -> _QueryString:
    fields: dict[str, Any] = dict(request.query)
    if "state" in fields:
        fields["state"] = request.query.getall("state")
    try:
        return _QueryString.model_validate(fields)
    except ValidationError as error:
        raise BadInput(_("The query can't be used: {why}.", why=describe_errors(error))) from error
