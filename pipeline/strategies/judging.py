"""Have a chat model score replies: one by itself, or two side by side."""

from __future__ import annotations

import re

from models.chat import ChatModel
from pipeline import grammar, prompt
from pipeline.guard import GuardContext
from pipeline.strategies import prompts

SCORE_TOKENS = 3
DUEL_TOKENS = 6
"""Longest answer with one score and with two, which the grammar ends earlier."""
BEST = 10.0
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class ReplyJudge:
    """A judge of replies to one post by its first evidence, at temperature 0; raises whatever the model raises."""

    def __init__(self, chat: ChatModel, context: GuardContext, evidence: int) -> None:
        self._chat = chat
        self._post = context.post
        self._evidence = [prompt.with_source(piece) for piece in context.evidence[:evidence]]

    async def score(self, reply: str) -> float:
        """Return a score from 0 to 10; 0 if the answer can't be read."""
        scores = await self._scores("score", 1, SCORE_TOKENS, reply=reply)
        return scores[0] if scores else 0.0

    async def compare(self, first: str, second: str) -> tuple[float, float] | None:
        """Return the scores, 0 to 10, of two replies shown in this order; None if the answer can't be read."""
        scores = await self._scores("duel", 2, DUEL_TOKENS, first=first, second=second)
        return (scores[0], scores[1]) if scores else None

    async def _scores(self, name: str, count: int, max_tokens: int, **replies: str) -> list[float]:
        completions = await self._chat.complete(
            prompts.request("tournament", name, post=self._post, evidence=self._evidence, **replies),
            temperature=0.0,
            max_tokens=max_tokens,
            grammar=grammar.scores(count),
            seed=0,
        )
        scores = [float(number) for number in _NUMBER.findall(completions[0].text)][:count]
        return scores if len(scores) == count and max(scores) <= BEST else []
