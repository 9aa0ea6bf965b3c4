"""Errors as HTTP responses, `{"error": code, "message": plain words, …}`, for both desk and gateway."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from bot.check_display import checks_as_json
from bot.stored_words import translate_stored
from core.domain import Case
from core.errors import (
    BadInput,
    CaseConflict,
    CaseNotFound,
    ClaimedByOther,
    FailsChecks,
    Forbidden,
    NotAllowed,
    RejoinderError,
    StaleVersion,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)

_ANSWERS: tuple[tuple[type[RejoinderError], int, str], ...] = (
    (BadInput, 400, "bad_input"),
    (Unauthenticated, 401, "unauthenticated"),
    (Forbidden, 403, "forbidden"),
    (TooManyRequests, 429, "too_many_requests"),
    (CaseNotFound, 404, "not_found"),
    (StaleVersion, 409, "stale"),
    (ClaimedByOther, 409, "claimed"),
    (NotAllowed, 409, "not_allowed"),
    (FailsChecks, 422, "fails_checks"),
    (Unavailable, 503, "unavailable"),
    (RejoinderError, 500, "failed"),
)
_RETRY_AFTER_S = "5"

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every error with JSON; a page that does not exist still gets plain text."""
    try:
        return await handler(request)
    except RejoinderError as error:
        return answer(error)
    except web.HTTPError as error:
        if not request.path.startswith("/v1/"):
            raise
        body = {"error": error.reason.lower().replace(" ", "_"), "message": error.text}
        headers = {name: error.headers[name] for name in ("Allow",) if name in error.headers}
        return web.json_response(body, status=error.status, headers=headers)


def answer(error: RejoinderError) -> web.Response:
    """Return the response for an error, with what the caller needs in order to continue."""
    status = next(status for kind, status, _ in _ANSWERS if isinstance(error, kind))
    if status >= 500:
        log.warning("Answered %d: %s", status, error)
    return web.json_response(answer_body(error), status=status, headers=_headers(status, error))


def answer_body(error: RejoinderError) -> dict[str, Any]:
    """Return the body of the response for an error: code, message, and what is known of the case."""
    code = next(code for kind, _, code in _ANSWERS if isinstance(error, kind))
    body: dict[str, Any] = {"error": code, "message": translate_stored(str(error))}
    if isinstance(error, FailsChecks):
        body["checks"] = checks_as_json(error.checks)
    if isinstance(error, CaseConflict) and error.case is not None:
        body["case"] = brief(error.case)
    return body


def brief(case: Case) -> dict[str, Any]:
    """Return the state of a case without any texts of post or reply."""
    standing = case.model_dump(
        mode="json",
        include={"state", "version", "decided_by", "decided_why", "claimed_by", "claimed_until", "release_at"},
    )
    standing["decided_why"] = case.decided_why and translate_stored(case.decided_why)
    return {"key": case.key, **standing}


def _headers(status: int, error: RejoinderError) -> dict[str, str]:
    if isinstance(error, TooManyRequests):
        return {"Retry-After": str(error.wait_s)}
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="rejoinder"'}
    return {"Retry-After": _RETRY_AFTER_S} if status == 503 else {}
