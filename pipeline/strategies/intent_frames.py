"""A free reply conditioned on an intent and on seven readings of the post: the method of CoARL."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain import DraftRequest, FlaggedPost, Frame, Plan, Triage
from core.settings import IntentFramesSettings
from models.chat import ChatModel
from pipeline import grammar, prompt
from pipeline.guard import GuardContext
from pipeline.guard.lexicon import table
from pipeline.strategies import prompts
from pipeline.strategies.replying import Writer, replies
from pipeline.strategies.strategy import Proposed, tidy, together

LONGEST_READING = 400
"""Characters of a frame's reading that are kept."""


@dataclass(frozen=True)
class IntentFramesStrategy:
    """Seven pragmatic frames of the post, then a reply with the requested intent, written with the frames at hand.

    From "Intent-conditioned and Non-toxic Counterspeech Generation using Multi-Task Instruction Tuning with RLAIF"
    (digest, section 3: instructions 1 to 7 of phase 1, and 8 of phase 2).

    Kept from the paper:

    - the seven instructions, one request each
    - the reply's instruction, which names what to consider and the intent
    - no sampling

    Changed:

    - no training, no adapter and no reward: the guard judges instead
    - the readings are part of the reply's prompt; the paper trains on them and shows none
    - speaker intent is named, which the paper's instruction 8 leaves out; "stereotype", for which it has no frame, is
      not
    - the post comes first, so that the server reads it once for all seven
    - evidence is given, since it must contain whatever the reply states
    - a redraft is sampled, or it would be the same text

    Cost at most: plan 7 requests, 420 tokens; draft 1 request, 150 tokens.
    """

    writer: Writer
    settings: IntentFramesSettings
    redraft_temperature: float

    name = "intent-frames"
    plans_with_model = True
    writes_with_model = True

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return the model's readings of the frames; frames without a reading are left out."""
        if self.writer.chat is None:
            return Plan(strategy=self.name)
        names = table(f"prompts/{self.name}")["frames"]
        async with self.writer.turns.turn(self.name):
            readings = await together(*(self._reading(self.writer.chat, post, task) for task in names.values()))
        frames = tuple(
            Frame(name=name, reading=reading) for name, reading in zip(names, readings, strict=True) if reading
        )
        return Plan(strategy=self.name, frames=frames, note="" if frames else "The model gave no reading of the post.")

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return one round; nothing without a model, frames or evidence. Raises as the protocol says."""
        if self.writer.chat is None or not plan.frames or not context.evidence:
            return Proposed(note=f"{self.name} lacks a model, a reading of the post or evidence.")
        messages = prompts.request(
            self.name, "reply", post=context.post, hint=request.hint,
            frames=[f"{frame.name}: {frame.reading}" for frame in plan.frames],
            evidence=[prompt.with_source(piece) for piece in context.evidence[: self.settings.evidence]],
            intent=prompts.aim(context.intent), intent_name=context.intent.value,
            language=prompt.language_name(context.reply_language),
        )  # fmt: skip
        warmest = max(self.settings.temperature, self.redraft_temperature)
        sampling = self.settings.model_copy(update={"temperature": warmest}) if request.number > 1 else self.settings
        async with self.writer.turns.turn(self.name):
            return await replies(self.writer, context, messages, sampling)

    async def _reading(self, chat: ChatModel, post: FlaggedPost, task: str) -> str:
        completions = await chat.complete(
            prompts.request(self.name, "frame", post=post, task=task),
            temperature=self.settings.temperature,
            max_tokens=self.settings.frame_tokens,
            grammar=grammar.one_line(),
        )
        return tidy(completions[0].text)[:LONGEST_READING]
