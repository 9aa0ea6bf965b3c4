"""Handle requests that Slack sends twice only once.

Slack repeats a request if it gets no answer within 3 s, over Socket Mode as over HTTP, with the same content. Each
press, submission and command has its own trigger id or event id, so equal content means the same occurrence.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

REMEMBERED = 5_000


class DeduplicatingApp(AsyncApp):
    """A Bolt app that answers a repeated request with the answer to the first."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._answers: dict[bytes, asyncio.Task[BoltResponse]] = {}

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        """Dispatch a request unless it is in progress or was answered already."""
        key = hashlib.sha256(json.dumps(req.body, sort_keys=True).encode()).digest()
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = asyncio.create_task(super().async_dispatch(req))
            while len(self._answers) > REMEMBERED:
                del self._answers[next(iter(self._answers))]
        # Shielded, so that a caller that gives up does not cancel the work others are waiting for.
        response = await asyncio.shield(answer)
        return BoltResponse(status=response.status, body=response.body, headers=dict(response.headers))
