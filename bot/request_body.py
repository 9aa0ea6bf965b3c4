"""What a request to the desk says, read and checked."""

from __future__ import annotations

from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from bot.translation import _
from core.errors import BadInput, describe_errors

B = TypeVar("B", bound=BaseModel)


async def read_body(request: web.Request, kind: type[B]) -> B:
    """Return the body of a request; raises BadInput that says what is wrong with it."""
    try:
        return kind.model_validate_json(await request.read())
    except ValidationError as error:
        raise BadInput(_("The body can't be used: {why}.", why=describe_errors(error))) from error


def case_key(request: web.Request) -> str:
    """Return the key of the case that a request's path names."""
    return f"{request.match_info['platform']}/{request.match_info['post_id']}"
