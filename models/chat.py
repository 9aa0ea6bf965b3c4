"""Ask a chat model for completions through the OpenAI-compatible HTTP interface."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeVar

from pydantic import SecretStr

from core.domain import clean
from core.errors import ModelRefused, RejoinderError
from core.retry import SYSTEM_CLOCK, Clock
from models.endpoint import Endpoint

log = logging.getLogger(__name__)

Question = TypeVar("Question")
Answer = TypeVar("Answer")

MAX_SEED = 2**31 - 1
TOP_TOKENS = 20
"""Candidates for an answer's first token whose probabilities are requested, to find yes and no among them."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


_BRACKETS = str.maketrans("<>＜＞［］", "‹›‹›()")
_BRACKETED_WORD = re.compile(r"\[(/?[^\W\d]\w{2,})\]")


def quoted(text: str, most: int) -> str:
    """Return up to `most` characters on one line, without anything that could pass for a chat template's tokens.

    A server reads `<|im_start|>` or `[TOOL_RESULTS]` inside a message as the real token. Templates write their tokens
    in angle brackets or as one word in square brackets, so the brackets of all of these are changed, whichever model
    reads them. So are wide brackets, because some tokenizers convert them to plain ones first.
    """
    plain = " ".join(text[:most].translate(_BRACKETS).split())
    return _BRACKETED_WORD.sub(r"(\1)", plain)


async def ask_each(
    ask: Callable[[Question], Awaitable[Answer]], questions: Sequence[Question], at_once: int
) -> list[Answer]:
    """Return the answers to all questions, in order, asking up to `at_once` of them in parallel.

    The first failure cancels the others and is raised.
    """
    free = asyncio.Semaphore(at_once)

    async def ask_in_turn(question: Question) -> Answer:
        async with free:
            return await ask(question)

    try:
        async with asyncio.TaskGroup() as group:
            answers = [group.create_task(ask_in_turn(question)) for question in questions]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [answer.result() for answer in answers]


@dataclass(frozen=True)
class Completion:
    """One answer; `finish_reason` is `stop`, or `length` if it was cut at max_tokens."""

    text: str
    finish_reason: str


class ChatModel(Protocol):
    """A language model that answers conversations. Safe to call from many tasks of one event loop at once.

    In production this is `ChatClient`, which asks a llama.cpp process of ours or any OpenAI-compatible server. Tests
    use an in-memory model that answers without a server. Both pass one conformance suite.
    """

    @property
    def model(self) -> str:
        """Return the model's name, as drafts and summaries record it."""

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
        """Sample up to `n` completions of one conversation.

        Returns at least one. Raises ModelUnavailable (away, or too slow) or ModelRefused (it won't answer, or its
        answer can't be read). Does not block the event loop, but may take minutes; cancellation stops the work.
        `grammar` is GBNF, which some servers ignore. `adapter` names a LoRA adapter; one that is not loaded changes
        nothing.

        A normal return does not mean that all `n` came, that a text is complete (see `finish_reason`) or follows the
        grammar, or that it is fit to show: check it. Texts are
        clean: no lone surrogates, and no control characters but white space.
        """


class ChatClient:
    """A ChatModel that uses one model on one server; use it as an async context manager.

    `adapters` are the names of the LoRA adapters that the server has loaded, in its order. The key is sent to the
    server and appears nowhere else: in no error, log or repr.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: SecretStr | None,
        timeout_s: float,
        attempts: int,
        clock: Clock = SYSTEM_CLOCK,
        adapters: Sequence[str] = (),
    ) -> None:
        self.model = model
        self._adapters = tuple(adapters)
        self._takes_n = True
        self._endpoint = Endpoint(base_url, api_key, timeout_s, attempts, clock)

    def __repr__(self) -> str:
        return f"ChatClient({self._endpoint.name!r}, {self.model!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; safe to call twice."""
        await self._endpoint.close()

    async def healthy(self) -> bool:
        """Tell whether the server is up and has its model loaded."""
        return await self._endpoint.healthy()

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
        """Sample `n` completions in one request, so that llama.cpp reads the prompt only once.

        If a server refuses `n` or returns fewer, it is asked in parallel single requests instead, each with its own
        seed, now and from then on. `grammar` is GBNF as llama.cpp reads it. A given `seed` makes the batch repeatable
        on the same server.

        Returns the completions that arrived, at least one. If none did, raises ModelUnavailable (away, or too slow) or
        ModelRefused (the server won't answer, or its answer can't be read). Cancellation cancels every request.
        """
        first = random.randrange(MAX_SEED) if seed is None else seed
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        if grammar is not None:
            payload["grammar"] = grammar
        if stop:
            payload["stop"] = list(stop)
        payload |= self._adapting(adapter)
        together = await self._complete_together({**payload, "seed": first}, n) if n > 1 and self._takes_n else []
        requests = (self._request({**payload, "seed": (first + k) % MAX_SEED}) for k in range(len(together), n))
        answers = await asyncio.gather(*requests, return_exceptions=True)
        single = _arrived(answers, enough=bool(together))
        if n > 1 and single:
            self._takes_n = False
        return [*together, *single]

    async def chance_of_yes(self, messages: Sequence[Message]) -> float:
        """Return how probably the model's first token is yes rather than no, 0 to 1; 0 if it is neither.

        Raises as `complete` does, and ModelRefused for a server that gives no probabilities.
        """
        payload = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": 0.0,
            "max_tokens": 1,
            "logprobs": True,
            "top_logprobs": TOP_TOKENS,
            **self._adapting(None),
        }
        body = await self._endpoint.post("chat/completions", payload)
        try:
            tokens = body["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            chances = dict.fromkeys(("yes", "no"), 0.0)
            for entry in tokens:
                word, logarithm = str(entry["token"]).strip().lower(), float(entry["logprob"])
                if math.isnan(logarithm):
                    raise ValueError
                if word in chances:
                    chances[word] += math.exp(min(logarithm, 0.0))
        except (KeyError, IndexError, TypeError, ValueError):
            raise ModelRefused(
                f"The model server at {self._endpoint.name} tells no token probabilities, which a judge needs. "
                "Use llama.cpp or vLLM, or set guard.judge to `head`."
            ) from None
        total = sum(chances.values())
        if not total:
            log.warning("%s answers neither yes nor no, which counts as no: does it think aloud first?", self.model)
        return chances["yes"] / total if total else 0.0

    async def chances_of_yes(self, questions: Sequence[Sequence[Message]], at_once: int) -> list[float]:
        """Return `chance_of_yes` for each question, in order, asking up to `at_once` of them in parallel.

        The first failure cancels the others and is raised.
        """
        return await ask_each(self.chance_of_yes, questions, at_once)

    def _adapting(self, adapter: str | None) -> dict[str, Any]:
        """Return a request's field on adapters; without it, llama.cpp would apply all adapters that it has loaded."""
        scales = [{"id": place, "scale": float(name == adapter)} for place, name in enumerate(self._adapters)]
        return {"lora": scales} if scales else {}

    async def _complete_together(self, payload: dict[str, Any], n: int) -> list[Completion]:
        """Return up to `n` completions from one request; none if the server refuses it."""
        try:
            return (await self._request_all({**payload, "n": n}))[:n]
        except ModelRefused:
            return []

    async def _request(self, payload: dict[str, Any]) -> Completion:
        return (await self._request_all(payload))[0]

    async def _request_all(self, payload: dict[str, Any]) -> list[Completion]:
        body = await self._endpoint.post("chat/completions", payload)
        try:
            answers = [(choice["message"]["content"], choice["finish_reason"]) for choice in body["choices"]]
        except (KeyError, IndexError, TypeError):
            answers = []
        if not answers or not all(isinstance(text, str) for text, _ in answers):
            lacking = "text" if answers else "message"
            raise ModelRefused(
                f"The answer of the model server at {self._endpoint.name} holds no {lacking}. Check that {self.model} "
                "is a chat model there."
            )
        return [Completion(clean(text), str(reason)) for text, reason in answers]


def _arrived(answers: Sequence[Completion | BaseException], *, enough: bool) -> list[Completion]:
    """Return the completions in `answers`; raise unexpected errors and, unless `enough`, a failure if none."""
    unexpected = [a for a in answers if isinstance(a, BaseException) and not isinstance(a, RejoinderError)]
    failed = [a for a in answers if isinstance(a, RejoinderError)]
    completions = [a for a in answers if isinstance(a, Completion)]
    if unexpected or (failed and not completions and not enough):
        raise (unexpected or failed)[0]
    return completions
