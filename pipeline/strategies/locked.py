"""A sentence of a chat model without facts, and a fact on file in its own words, which the model picks by number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from core.domain import DraftRequest, Evidence, FlaggedPost, Origin, Plan, Triage
from core.settings import LockedSettings
from models.chat import Message
from pipeline import grammar, prompt
from pipeline.answers import forms
from pipeline.compose import quotes
from pipeline.guard import GuardContext, limit_for
from pipeline.guard.lexicon import table
from pipeline.languages import DEFAULT
from pipeline.strategies import prompts
from pipeline.strategies.replying import Writer, sampled
from pipeline.strategies.strategy import Proposal, Proposed, tidy

MOST_FACTS = 9
SHORTEST_SENTENCE = 60
"""Characters that a fact must leave for the sentence before it."""
_ANSWER = re.compile(r"^(?P<sentence>.+?[.!?…])\s*\[(?P<number>\d{1,2})\]", re.DOTALL)


@dataclass(frozen=True)
class Lockable:
    """A sentence of the evidence that may end a reply word for word; `shown` stands for it in the prompt."""

    evidence: Evidence
    tellings: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Return its shortest form."""
        return min(self.tellings, key=len)


@dataclass(frozen=True)
class LockedStrategy:
    """A sentence of stance by the model, without figures, and a fact in its own words, picked by its number.

    Ours (`docs/drafting.md`), no paper's: what is said as fact is true by construction. All are sampled in one request,
    of which llama.cpp reads the prompt once, under a grammar without digits but for the fact's number; their length is
    what the platform and the fact leave. The fact is told as it is on file, in its short form where the platform is
    tight, and a paragraph of a document by a sentence that can stand alone, as `compose` quotes it. The language is
    named in the prompt, with an example in it where there is one.

    Cost at most: plan 0 requests, 0 tokens; draft 1 request, 240 tokens.
    """

    writer: Writer
    settings: LockedSettings
    name = "locked"
    plans_with_model = False
    writes_with_model = True

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return a plan that leaves the search to the post alone; asks no model."""
        return Plan(strategy=self.name)

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return one round; nothing without a model or a fact. Raises ModelUnavailable or ModelRefused."""
        limit = limit_for(context.post.platform, self.writer.limits)
        facts = list(_lockable(context, limit - SHORTEST_SENTENCE))[:MOST_FACTS]
        if self.writer.chat is None or not facts:
            return Proposed(note=f"{self.name} lacks a model or a fact in the reply's language.")
        longest = limit - max(len(fact.shown) for fact in facts) - 1
        async with self.writer.turns.turn(self.name):
            completions = await sampled(
                self.writer.chat, context, _messages(context, facts, request.hint), self.settings,
                grammar.sentence_and_fact(longest, len(facts)),
            )  # fmt: skip
        pairs = (_read(completion.text, facts) for completion in completions)
        replies = {
            reply: Proposal(reply, Origin.MODEL, self.writer.chat.model, facts=(fact.evidence.id,))
            for sentence, fact in filter(None, pairs)
            for reply in _together(sentence, fact, limit)
        }
        if not replies:
            return Proposed(note="The model gave no sentence with the number of a fact.")
        return Proposed((tuple(replies.values()),))


def _lockable(context: GuardContext, longest: int) -> Iterator[Lockable]:
    """Yield what may follow the model's sentence, best evidence first: facts on file, sentences that stand alone."""
    for evidence in context.evidence:
        if evidence.language != context.reply_language:
            continue
        on_file = bool(evidence.short or evidence.claims)
        for tellings in [forms(evidence)] if on_file else ((quote,) for quote in quotes(evidence)):
            if fitting := tuple(telling for telling in tellings if len(telling) <= longest):
                yield Lockable(evidence, fitting)


def _messages(context: GuardContext, facts: list[Lockable], hint: str) -> list[Message]:
    texts = table("prompts/locked")
    language = context.reply_language if context.reply_language in texts["example"] else DEFAULT
    example = texts["example"][language]
    intent = str(texts["intents"][context.intent])
    sample = prompts.request(
        LockedStrategy.name, "reply", post=_example_post(example["post"]), mark="post-000000", facts=[example["fact"]],
        intent=intent, language=prompt.language_name(language),
    )  # fmt: skip
    task = prompts.request(
        LockedStrategy.name, "reply", post=context.post, hint=hint, facts=[fact.shown for fact in facts],
        intent=intent, language=prompt.language_name(context.reply_language),
    )  # fmt: skip
    return [task[0], sample[1], Message("assistant", f"{example[context.intent]} [1]"), task[1]]


@lru_cache(maxsize=8)
def _example_post(text: str) -> FlaggedPost:
    return FlaggedPost(platform="example", post_id="1", text=text)


def _read(answer: str, facts: list[Lockable]) -> tuple[str, Lockable] | None:
    """Return the sentence and the fact of an answer; None where it has not both, or a digit in the sentence."""
    match = _ANSWER.match(tidy(answer))
    if match is None or not 1 <= int(match["number"]) <= len(facts) or re.search(r"\d", match["sentence"]):
        return None
    return match["sentence"], facts[int(match["number"]) - 1]


def _together(sentence: str, fact: Lockable, limit: int) -> list[str]:
    """Return the reply with the first form of the fact that fits; nothing where none does."""
    return [reply for telling in fact.tellings if len(reply := f"{sentence} {telling}") <= limit][:1]
