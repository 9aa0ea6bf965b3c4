"""A free reply from summaries of the nearest paragraphs: the method of Damo, Cabrio and Villata."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain import DraftRequest, Evidence, FlaggedPost, Plan, Triage
from core.settings import PlainSettings
from kb.summaries import is_faithful, is_short
from models.chat import ChatModel
from pipeline import prompt, sentences
from pipeline.guard import GuardContext
from pipeline.strategies import prompts
from pipeline.strategies.replying import Writer, replies
from pipeline.strategies.strategy import Proposed, together

MOST_SENTENCES = 2
"""Most sentences of a summary."""


@dataclass(frozen=True)
class PlainStrategy:
    """Three paragraphs, a summary of each in two sentences, and a reply of two sentences from the summaries.

    From "Beating Harmful Stereotypes Through Facts: RAG-based Counter-speech Generation", method (digest, section 3).

    Kept from the paper:

    - the post itself is the query, and the three nearest paragraphs are used
    - each paragraph is summarised by the model that replies
    - the order of the prompt's fields; temperature 0.5 and 150 tokens for both; no example; one reply

    Changed:

    - a text of two sentences is its own summary, and a summary kept in the knowledge base is used
    - a summary with a figure that its paragraph does not have gives way to the paragraph's first two sentences
    - a grammar keeps the reply to two sentences
    - intent, language and hint are named, and the post is fenced off, as it is hostile input
    - the facts on file for the post's claims follow the paragraphs, for the checks and for what is composed instead

    Cost at most: plan 0 requests, 0 tokens; draft 4 requests, 600 tokens.
    """

    writer: Writer
    settings: PlainSettings
    name = "plain"
    plans_with_model = False
    writes_with_model = True

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return a plan that searches for paragraphs with the post alone; asks no model."""
        return Plan(strategy=self.name, paragraphs=self.settings.paragraphs)

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return one round; nothing without a model or evidence. Raises ModelUnavailable or ModelRefused."""
        if self.writer.chat is None or not context.evidence:
            return Proposed(note=f"{self.name} lacks a model or evidence.")
        async with self.writer.turns.turn(self.name):
            paragraphs = context.evidence[: self.settings.paragraphs]
            summaries = await together(*(self._summary(self.writer.chat, paragraph) for paragraph in paragraphs))
            messages = prompts.request(
                self.name, "reply", post=context.post, hint=request.hint, evidence=summaries,
                intent=prompts.aim(context.intent), language=prompt.language_name(context.reply_language),
            )  # fmt: skip
            return await replies(self.writer, context, messages, self.settings)

    async def _summary(self, chat: ChatModel, paragraph: Evidence) -> str:
        if paragraph.summary or is_short(paragraph.text, paragraph.language):
            return prompt.with_source(paragraph)
        completions = await chat.complete(
            prompts.request(self.name, "summary", paragraph=paragraph.text),
            temperature=self.settings.temperature,
            max_tokens=self.settings.summary_tokens,
        )
        written = completions[0].text
        trusted = written if is_faithful(written, paragraph.text) else paragraph.text
        summary = " ".join(sentences.split(trusted, paragraph.language)[:MOST_SENTENCES])
        return prompt.with_source(paragraph.model_copy(update={"summary": summary}))
