"""Ask a chat model for replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import Origin
from core.settings import GuardSettings, SamplingSettings
from models.chat import ChatModel, Completion, Message
from models.turns import Turns
from pipeline import grammar
from pipeline.guard import GuardContext, limit_for
from pipeline.strategies.strategy import Proposal, Proposed, tidy


@dataclass(frozen=True)
class Writer:
    """A chat model or None, the turns at it, and the limits on the length of replies."""

    chat: ChatModel | None
    turns: Turns
    limits: GuardSettings


async def replies(
    writer: Writer, context: GuardContext, messages: Sequence[Message], sampling: SamplingSettings
) -> Proposed:
    """Return one round of replies of two sentences, or one or two when questioning, each text once.

    Returns no round without a model; raises ModelUnavailable or ModelRefused. Takes no turn: the caller holds one.
    """
    if writer.chat is None:
        return Proposed()
    longest = limit_for(context.post.platform, writer.limits)
    gbnf = grammar.two_sentences(context.intent, longest, context.reply_language)
    answers = await sampled(writer.chat, context, messages, sampling, gbnf)
    texts = dict.fromkeys(tidy(answer.text) for answer in answers)
    return Proposed((tuple(Proposal(text, Origin.MODEL, writer.chat.model) for text in texts),))


async def sampled(
    chat: ChatModel, context: GuardContext, messages: Sequence[Message], sampling: SamplingSettings, gbnf: str
) -> list[Completion]:
    """Return the answers to one request under a grammar, by the intent's adapter if there is one."""
    return await chat.complete(
        messages,
        n=sampling.replies,
        temperature=sampling.temperature,
        max_tokens=sampling.max_tokens,
        grammar=gbnf,
        adapter=context.intent,
    )
