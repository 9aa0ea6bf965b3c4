"""Reading and validating requests to the desk."""

from __future__ import annotations

from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from bot.translation import _
from core.errors import BadInput, describe_errors

B = TypeVar("B", bound=BaseModel)


async def read_body(request: web.Request, kind: type[B]) -> B:
    """Return a request's body. Raises BadInput with the reason."""
    try:
        return kind.model_validate_json(await request.read())
    except ValidationError as error:
        raise BadInput(_("The body can't be used: {why}.", why=describe_errors(error))) from error


def case_key(request: web.Request) -> str:
    """Return the case key in a request's path."""
    return f"{request.match_info['platform']}/{request.match_info['post_id']}"
