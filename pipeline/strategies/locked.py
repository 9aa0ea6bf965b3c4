"""A sentence by a chat model without facts, followed by a fact on file that the model picks by number."""

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
from pipeline.guard.material import group_stems
from pipeline.guard.words import content, words
from pipeline.languages import DEFAULT
from pipeline.strategies import prompts
from pipeline.strategies.replying import Writer, sampled
from pipeline.strategies.strategy import Proposal, Proposed, tidy

MOST_FACTS = 9
SHORTEST_SENTENCE = 60
"""Characters that a fact must leave free for the sentence before it."""
MOST_OF_A_FACT = 0.5
"""Largest share of a sentence's content words, names of groups aside, that may come from one of the facts.

Small models retell a fact without its figures instead of taking a stand ("rose from ample to ouch"), and then the fact
follows once more.
"""
_ANSWER = re.compile(r"^(?P<sentence>.+?[.!?…])\s*\[(?P<number>\d{1,2})\]", re.DOTALL)


@dataclass(frozen=True)
class Lockable:
    """A sentence of the evidence that may end a reply word for word, in one or more wordings."""

    evidence: Evidence
    tellings: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Return its shortest wording, which stands for it in the prompt."""
        return min(self.tellings, key=len)


@dataclass(frozen=True)
class LockedStrategy:
    """A sentence of stance by the model, without figures, and a fact as it is on file, picked by its number.

    This is our own method (`docs/drafting.md`), not a paper's: what is stated as fact is true by construction.

    - All sentences are sampled in one request, whose prompt llama.cpp reads once.
    - The grammar allows no digit except in the fact's number. It bounds the sentence to what platform and fact leave.
    - A sentence that retells a fact is not taken.
    - The fact is told as it is on file, in its short form where the platform is tight. A paragraph of a document is
      told by a sentence that can stand alone, as `compose` quotes it.
    - The prompt names the language, and has an example in that language if there is one.

    Cost at most: plan 0 requests, 0 tokens; draft 1 request, 240 tokens.
    """

    writer: Writer
    settings: LockedSettings
    name = "locked"
    plans_with_model = False
    writes_with_model = True

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return a plan that searches with the post alone; asks no model."""
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
                grammar.sentence_and_fact(longest, len(facts), context.reply_language),
            )  # fmt: skip
        pairs = [pair for completion in completions if (pair := _read(completion.text, facts))]
        replies = {
            reply: Proposal(reply, Origin.MODEL, self.writer.chat.model, facts=(fact.evidence.id,))
            for sentence, fact in pairs
            if not _retells(sentence, facts, context.reply_language)
            for reply in _together(sentence, fact, limit)
        }
        if not replies:
            if pairs:
                return Proposed(note="The model only retold facts.")
            return Proposed(note="The model gave no sentence with the number of a fact.")
        return Proposed((tuple(replies.values()),))


def _lockable(context: GuardContext, longest: int) -> Iterator[Lockable]:
    """Yield what may follow the model's sentence, best evidence first: facts on file, or sentences that stand alone."""
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
    """Return an answer's sentence and fact; None if either is missing or the sentence has a digit."""
    match = _ANSWER.match(tidy(answer))
    if match is None or not 1 <= int(match["number"]) <= len(facts) or re.search(r"\d", match["sentence"]):
        return None
    return match["sentence"], facts[int(match["number"]) - 1]


def _retells(sentence: str, facts: list[Lockable], language: str) -> bool:
    """Tell whether most of a sentence's content words come from one of the facts."""
    own = content(words(sentence), language) - group_stems(sentence, language)
    told = (content(words(" ".join(fact.tellings)), language) for fact in facts)
    return any(len(own & of_fact) > MOST_OF_A_FACT * len(own) for of_fact in told)


def _together(sentence: str, fact: Lockable, limit: int) -> list[str]:
    """Return the reply with the first wording of the fact that fits; nothing if none does."""
    return [reply for telling in fact.tellings if len(reply := f"{sentence} {telling}") <= limit][:1]
