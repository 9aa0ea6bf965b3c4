"""The in-memory chat model of the tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.domain import clean
from models.chat import Completion, Message


class ScriptedChat:
    """A ChatModel that answers with given texts, or raises a given error, and records the requests."""

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
        adapter: str | None = None,
    ) -> list[Completion]:
        self.asked.append({
            "messages": list(messages), "n": n, "temperature": temperature, "grammar": grammar,
            "max_tokens": max_tokens, "adapter": adapter,
        })  # fmt: skip
        if self._error is not None:
            raise self._error
        return [Completion(clean(answer), "stop") for answer in self.answers(messages, grammar)[:n]]

    def answers(self, messages: Sequence[Message], grammar: str | None) -> Sequence[str]:
        """Return the answers to one request; here they don't depend on the request."""
        return self._answers

    @property
    def tokens(self) -> int:
        """Return the most tokens that all requests together allowed to be written."""
        return sum(asked["n"] * asked["max_tokens"] for asked in self.asked)


class ObedientChat(ScriptedChat):
    """A scripted model that follows a request's grammar (numbered lines, a choice, scores), else gives its answers."""

    def answers(self, messages: Sequence[Message], grammar: str | None) -> Sequence[str]:
        grammar = grammar or ""
        if numbers := re.findall(r'"(\d)\. "', grammar):
            return ["\n".join(f"{number}. Everyone counts, reason {number}." for number in numbers)]
        if 'root ::= "1"' in grammar:
            return ["2" if '"2"' in grammar else "1"]
        if "score" in grammar:
            return [" ".join(["7", "5"][: grammar.splitlines()[0].count("score")])]
        if '"]"' in grammar:
            return [f"{answer} [1]" for answer in ("Everyone belongs in politics.", "Nobody decides that for women.")]
        if grammar.startswith("root ::= [^"):
            return ["It says that a group is worth less."]
        return super().answers(messages, grammar)
