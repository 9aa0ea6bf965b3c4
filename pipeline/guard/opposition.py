"""Judge whether sentences that a model wrote oppose the post and harm nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from core.domain import Check
from models.chat import Message, quoted
from pipeline.guard.material import GuardContext, Material, Part
from pipeline.guard.reward import RewardTerm
from pipeline.guard.words import words
from pipeline.languages import packs

if TYPE_CHECKING:
    from models.chat import ChatClient

MOST_TEXT = 600
"""Characters of the post and of a sentence that a chat model is asked about."""
_TASK = (
    "You check replies to hateful posts. A good reply contradicts or questions the post or speaks up for the people "
    "it attacks, stays polite, threatens and insults nobody, and grants the post nothing. "
    "Answer with one word, Yes or No."
)


class Opposition(Protocol):
    """A judge of single sentences beside a post. Safe to call from many tasks of one event loop."""

    @property
    def name(self) -> str:
        """Return what the settings call it."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Return the languages it knows (ISO 639-1); None for no known limit."""

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        """Return for each sentence how probably it opposes the post and harms nobody, 0 to 1.

        Raises ModelUnavailable or ModelRefused where it asks a model that is away or won't answer.
        """


class ChatOpposition:
    """An Opposition by the probability with which a chat model says yes."""

    name = "chat"
    languages: frozenset[str] | None = None

    def __init__(self, chat: ChatClient) -> None:
        self._chat = chat

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        """Return the probability of yes for each sentence, one request each, side by side."""
        return list(await asyncio.gather(*(self._chat.chance_of_yes(_question(post, text)) for text in sentences)))


def _question(post: str, sentence: str) -> tuple[Message, ...]:
    asked = "Does this reply oppose the post?"
    task = f"Post: {quoted(post, MOST_TEXT)}\nReply: {quoted(sentence, MOST_TEXT)}\n{asked}"
    return (Message("system", _TASK), Message("user", task))


class OpposesCheck:
    """A check that each sentence which is not on file opposes the post and harms nobody, as `judge` reads it.

    A sentence in a language that the judge does not know fails: what none can judge is not shown. `limit` is the least
    probability that a sentence needs.
    """

    name = "opposes"
    hard = True
    costly = True
    reward: RewardTerm | None = None

    def __init__(self, judge: Opposition, limit: float) -> None:
        self._judge = judge
        self._limit = limit

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        """Return one result a reply; the sentences of all replies are judged together."""
        own = [judged_parts(reply) for reply in replies]
        sentences = list(dict.fromkeys(part.text for parts in own for part in parts))
        language = context.reply_language
        if sentences and self._judge.languages is not None and language not in self._judge.languages:
            return [self._unknown(language) if parts else self._result(1.0, "") for parts in own]
        probabilities = await self._judge.probabilities(context.post.text, sentences, language) if sentences else []
        by_text = dict(zip(sentences, probabilities, strict=True))
        worst = (min(((by_text[part.text], part.text) for part in parts), default=(1.0, "")) for parts in own)
        return [self._result(*lowest) for lowest in worst]

    def _result(self, probability: float, sentence: str) -> Check:
        passed = probability >= self._limit
        detail = "" if passed else f"May not stand against the post, or may harm somebody: “{sentence[:80]}”."
        return Check(
            name=self.name, passed=passed, value=round(probability, 3), threshold=self._limit, hard=True, detail=detail
        )

    def _unknown(self, language: str) -> Check:
        detail = f"The judge `{self._judge.name}` does not read “{language}”; set guard.judge to one that does."
        return Check(name=self.name, passed=False, value=0, threshold=self._limit, hard=True, detail=detail)


def judged_parts(reply: Material) -> list[Part]:
    """Return the sentences that a judge must read: those neither on file as evidence or claim nor as a template."""
    return [part for part in reply.parts if not part.quoted and words(part.text) not in _templates(reply.language)]


@lru_cache(maxsize=16)
def _templates(language: str) -> frozenset[tuple[str, ...]]:
    """Return the words of every sentence that the composer may put beside a statement."""
    if language not in packs():
        return frozenset()
    entry = packs()[language]
    listed = [text for by_group in entry.templates.values() for texts in by_group.values() for text in texts]
    return frozenset(
        words(text.format(people=people, evidence="")) for text in listed for people in entry.people.values()
    )
