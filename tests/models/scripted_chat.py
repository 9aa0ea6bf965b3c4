"""The in-memory chat model of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from models.chat import Completion, Message


@dataclass
class ScriptedChat:
    """A ChatModel that answers with set texts or raises a set error; `requests` lists what it was asked."""

    answers: Sequence[str]
    error: Exception | None = None
    model: str = "scripted"
    requests: list[dict[str, Any]] = field(default_factory=list)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        temperature: float = 0.5,
        max_tokens: int = 150,
        grammar: str | None = None,
        seed: int | None = None,
        stop: Sequence[str] = (),
    ) -> list[Completion]:
        self.requests.append({"messages": list(messages), "n": n, "temperature": temperature, "grammar": grammar})
        if self.error is not None:
            raise self.error
        return [Completion(answer, "stop") for answer in self.answers[:n]]
