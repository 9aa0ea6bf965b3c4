"""The desk over HTTP: `/v1/cases` and what can be done to a case (docs/DESIGN, section 4)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from aiohttp import web
from pydantic import BaseModel, Field, ValidationError

from bot.auth import Auth
from bot.backing import answered_claim, marks, used_facts, warnings, writer
from bot.changes import Changes
from bot.check_display import checks_as_json
from bot.desk import MAX_PAGE, CaseQuery, Desk, Moderator, allowed, undoable
from bot.reasons import REASONS
from core.domain import MAX_TEXT, Case, CaseState, Decision, Intent, TargetGroup, Text, failed, now
from core.errors import BadInput, describe_errors

B = TypeVar("B", bound=BaseModel)

CASE_PATH = "/v1/cases/{platform}/{post_id:.+}"


class _QueryString(BaseModel):
    """What the query string of `GET /v1/cases` may say."""

    state: tuple[CaseState, ...] = ()
    group: TargetGroup | None = None
    platform: str | None = None
    claimed_by: str | None = None
    mine: bool = False
    doubtful: bool | None = None
    search: Annotated[str, Field(max_length=200)] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50
    cursor: str | None = None
    order: Literal["oldest", "newest"] = "oldest"

    def case_query(self, who: Moderator) -> CaseQuery:
        """Return what to ask the desk for."""
        return CaseQuery(
            states=(CaseState.PENDING,) if self.doubtful and not self.state else self.state,
            group=self.group,
            platform=self.platform,
            claimed_by=who.name if self.mine else self.claimed_by,
            doubtful=self.doubtful,
            search=self.search,
            limit=self.limit,
            cursor=self.cursor,
            oldest_first=self.order == "oldest",
        )


class _TextToCheck(BaseModel):
    """A text that a moderator is writing."""

    text: Annotated[Text, Field(max_length=MAX_TEXT)]


class CaseApi:
    """The routes below `/v1` that show and decide cases."""

    def __init__(self, desk: Desk, changes: Changes, auth: Auth) -> None:
        self._desk = desk
        self._changes = changes
        self._auth = auth

    def add_routes(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/v1/cases", self._list)
        app.router.add_get("/v1/choices", self._choices)
        app.router.add_get(CASE_PATH, self._show)
        app.router.add_post(CASE_PATH + "/decision", self._decide)
        app.router.add_post(CASE_PATH + "/checks", self._check)

    async def _list(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        page = await self._desk.queue(_query_string(request).case_query(who))
        counts = await self._desk.counts()
        return web.json_response(
            {
                "cases": [summary(case) for case in page.cases],
                "next_cursor": page.next_cursor,
                "counts": {str(state): number for state, number in counts.items()},
                "doubtful": await self._desk.doubtful(),
                "now": now().isoformat(),
            }
        )

    async def _choices(self, request: web.Request) -> web.Response:
        await self._auth.moderator(request)
        reasons = [{"code": reason.code, "label": reason.label} for reason in REASONS]
        return web.json_response({"reasons": reasons, "intents": list(Intent), "groups": list(TargetGroup)})

    async def _show(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        return await self._whole_case(await self._desk.case(_key(request)), who)

    async def _decide(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        decision = await _body(request, Decision)
        case = await self._desk.decide(_key(request), decision, who)
        self._changes.nudge()
        return await self._whole_case(case, who)

    async def _check(self, request: web.Request) -> web.Response:
        await self._auth.moderator(request)
        body = await _body(request, _TextToCheck)
        checks = await self._desk.check(_key(request), body.text)
        return web.json_response({"checks": checks_as_json(checks), "passes": not failed(checks)})

    async def _whole_case(self, case: Case, who: Moderator) -> web.Response:
        history = await self._desk.history(case.key)
        evidence = case.grounding.evidence if case.grounding else ()
        fields = case.model_dump(mode="json", exclude={"triage": {"embedding"}, "grounding": {"plan"}, "drafts": True})
        drafts = [
            draft.model_dump(mode="json", exclude={"candidates"})
            | {"checks": checks_as_json(draft.checks), "writer": writer(draft)}
            for draft in case.drafts
        ]
        return web.json_response({
            "key": case.key, **fields,
            "drafts": drafts,
            "answers": answered_claim(case),
            "warnings": warnings(case),
            "marks": {piece.id: marks(piece) for piece in evidence},
            "used": used_facts(case),
            "actions": sorted(allowed(case, who)),
            "undoable": undoable(case),
            "doubtful": case.doubtful,
            "history": [change.model_dump(mode="json", exclude={"case_key"}) for change in history],
            "now": now().isoformat(),
        })  # fmt: skip


def summary(case: Case) -> dict[str, Any]:
    """Return what a queue shows of a case: never the post's text, which nobody has asked to see yet."""
    fields = case.model_dump(
        mode="json",
        include={"state", "version", "received_at", "updated_at", "claimed_by", "claimed_until", "release_at"},
    )
    return {
        "key": case.key,
        "platform": case.post.platform,
        "post_id": case.post.post_id,
        "flagged_at": case.post.flagged_at.isoformat() if case.post.flagged_at else None,
        "groups": [item.model_dump(mode="json") for item in case.triage.groups] if case.triage else [],
        "hate": case.triage.hate if case.triage else None,
        "doubtful": case.doubtful,
        "draft": case.draft.text if case.draft else "",
        "origin": case.draft.origin if case.draft else None,
        **fields,
    }


def _key(request: web.Request) -> str:
    return f"{request.match_info['platform']}/{request.match_info['post_id']}"


def _query_string(request: web.Request) -> _QueryString:
    fields: dict[str, Any] = dict(request.query)
    if "state" in fields:
        fields["state"] = request.query.getall("state")
    try:
        return _QueryString.model_validate(fields)
    except ValidationError as error:
        raise BadInput(f"The query can't be used: {describe_errors(error)}.") from error


async def _body(request: web.Request, kind: type[B]) -> B:
    try:
        return kind.model_validate_json(await request.read())
    except ValidationError as error:
        raise BadInput(f"The body can't be used: {describe_errors(error)}.") from error
