"""Judge sentences that a model wrote: whether they oppose the post, fit it, and harm nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from core.domain import Check
from models.chat import Message, quoted
from models.turns import Turns
from pipeline.guard.judged import JudgedCheck
from pipeline.guard.material import GuardContext, Material, Part

if TYPE_CHECKING:
    from models.chat import ChatClient
    from pipeline.guard.sentence_head import HeadNearness

NOWHERE: Mapping[str, float] = MappingProxyType({})
"""Limits by language, where none differs."""
MOST_TEXT = 600
"""Most characters of the post that a chat model is shown; pieces of sentences are shorter."""
_TASK = (
    "You check replies to hateful posts. A good reply contradicts or questions the post or speaks up for the people "
    "it attacks, stays polite, threatens and insults nobody, and grants the post nothing. "
    "Answer with one word, Yes or No."
)


class SentenceJudge(Protocol):
    """A judge that answers one yes-no question about single sentences beside a post.

    Safe to call from many tasks of one event loop.
    """

    @property
    def name(self) -> str:
        """Return its name in the settings."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Return the languages it reads (ISO 639-1); None if no limit is known."""

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        """Return for each sentence the probability, 0 to 1, that the answer to the question is yes.

        Raises ModelUnavailable or ModelRefused if it asks a model that is away or refuses.
        """


class ChatOpposition:
    """A SentenceJudge that asks a chat model whether a sentence opposes the post, by its probability of "yes"."""

    name = "chat"
    languages: frozenset[str] | None = None

    def __init__(self, chat: ChatClient, at_once: int) -> None:
        self._chat = chat
        self._at_once = at_once

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        """Return the probability of "yes" for each sentence, by one request each, `at_once` of them in parallel."""
        return await self._chat.chances_of_yes([_question(post, text) for text in sentences], self._at_once)


def _question(post: str, sentence: str) -> tuple[Message, ...]:
    task = f"Post: {quoted(post, MOST_TEXT)}\nReply: {quoted(sentence, MOST_TEXT)}\nDoes this reply oppose the post?"
    return (Message("system", _TASK), Message("user", task))


class SentencesCheck(JudgedCheck):
    """A check of all sentences that are not on file, as `judge` rates them beside the post.

    The best sentence needs `limit`. Each needs `least`, or what `least_in` has for the reply's language, but at most
    `limit`: a sentence beside a clear one may say little by itself.
    """

    lacking: str
    """The detail for a reply whose best sentence is too weak."""

    def __init__(
        self,
        judge: SentenceJudge,
        limit: float,
        least: float,
        within_s: float,
        turns: Turns | None = None,
        least_in: Mapping[str, float] = NOWHERE,
    ) -> None:
        super().__init__(judge.languages, limit, within_s, turns)
        self._judge = judge
        self._least, self._least_in = least, least_in
        self.unread = f"the judge `{judge.name}` does not read “{{language}}”; set guard.judge to one that does."

    def verdict(self, judged: Sequence[tuple[float, str]], reply: Material) -> Check:
        """Return the result by the worst sentence, or by the best one if no other harms."""
        (lowest, worst), (highest, best) = judged[0], judged[-1]
        least = min(self._least_in.get(reply.language, self._least), self._limit)
        if lowest < least:
            return self._check(lowest, f"{self.fault}: “{worst[:80]}”.", least)
        if highest < self._limit and not self.answered_by(reply):
            return self._check(highest, f"{self.lacking}: “{best[:80]}”.")
        return self._check(lowest, "", least)

    def answered_by(self, reply: Material) -> bool:
        """Tell whether a reply's sentences on file do what the check asks for, so that no other needs to."""
        return False

    def asks_about(self, part: Part, reply: Material) -> bool:
        """Return True: every sentence is judged."""
        return True

    async def probabilities(self, pieces: Sequence[str], context: GuardContext) -> list[float]:
        """Return the judge's probability for each piece."""
        return await self._judge.probabilities(context.post.text, pieces, context.reply_language)


class TopicCheck(JudgedCheck):
    """A check, by embeddings, that a reply of free sentences alone comes near to the post or its evidence.

    A reply with a sentence on file passes: that sentence was matched with the post.
    """

    name = "topic"
    fault = "Speaks of something else than the post"
    unread = "the embedder of the guard's heads does not read “{language}”; set guard.judge to one that does."

    def __init__(self, nearness: HeadNearness, limit: float, within_s: float) -> None:
        super().__init__(nearness.languages, limit, within_s)
        self._nearness = nearness

    def verdict(self, judged: Sequence[tuple[float, str]], reply: Material) -> Check:
        """Return the result by the sentence that comes nearest."""
        return super().verdict(judged[::-1], reply)

    def asks_about(self, part: Part, reply: Material) -> bool:
        """Tell whether the reply has only free sentences."""
        return not any(part.quoted for part in reply.parts)

    async def probabilities(self, pieces: Sequence[str], context: GuardContext) -> list[float]:
        """Return how near each piece comes to the post or a piece of evidence, 0 to 1."""
        return await self._nearness.nearest(pieces, [context.post.text, *(entry.text for entry in context.evidence)])


class OpposesCheck(SentencesCheck):
    """A check that a reply opposes the post, and that none of its sentences harms anybody."""

    name = "opposes"
    fault = "May harm somebody, or speak for the post"
    lacking = "May not stand against the post"


class FitsCheck(SentencesCheck):
    """A check that a reply speaks to the post, and not of other things, of itself, or for all sides at once."""

    name = "fits"
    fault = "May have nothing to do with the post"
    lacking = "May answer nothing"

    def answered_by(self, reply: Material) -> bool:
        """Tell whether the reply has a sentence on file, since such a sentence was matched with the post."""
        return any(part.quoted for part in reply.parts)
