"""The in-memory chat model of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from models.chat import Completion, Message


class ScriptedChat:
    """A ChatModel that answers with set texts, or raises a set error, and keeps what it was asked."""

    def __init__(self, *answers: str, error: Exception | None = None) -> None:
        self.model = "scripted"
        self._answers = answers
        self._error = error
        self.asked: list[dict[str, Any]] = []

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
        self.asked.append({"messages": list(messages), "n": n, "temperature": temperature, "grammar": grammar})
        if self._error is not None:
            raise self._error
        return [Completion(answer, "stop") for answer in self._answers[:n]]
