"""A free reply conditioned on an intent and on seven readings of the post: the method of CoARL."""

from __future__ import annotations

from core.domain import DraftRequest, FlaggedPost, Frame, Plan, Triage
from core.settings import ChatSettings, GuardSettings, IntentFramesSettings
from models.chat import ChatModel
from pipeline import grammar, prompt
from pipeline.guard import GuardContext, limit_for
from pipeline.guard.lexicon import table
from pipeline.strategies import prompts
from pipeline.strategies.strategy import Proposed, tidy, together, written_by
from pipeline.strategies.turns import Turns

LONGEST_READING = 400
"""Characters of a frame's reading that are kept."""
MOST_EVIDENCE = 3


class IntentFramesStrategy:
    """Seven pragmatic frames of the post, then a reply in the intent asked for, with the frames before it.

    From "Intent-conditioned and Non-toxic Counterspeech Generation using Multi-Task Instruction Tuning with RLAIF"
    (digest, section 3: instructions 1 to 7 of phase 1, and 8 of phase 2). Kept: the seven instructions, one request
    each; the reply's instruction, which names what to consider and the intent; no sampling. Changed: no training, no
    adapter and no reward (the guard judges instead); the readings stand in the reply's prompt, where the paper trains
    on them and shows none; speaker intent, which the paper's instruction 8 leaves out, is named, and "stereotype", for
    which it has no frame, is not; the post comes first, so that the server reads it once for all seven; evidence is
    given, for what a reply states must stand in it; a redraft is sampled, or it would be the same text.

    Cost at most: plan 7 requests, 420 tokens; draft 1 request, 150 tokens.
    """

    name = "intent-frames"
    plans_with_model = True
    writes_with_model = True

    def __init__(
        self,
        chat: ChatModel | None,
        turns: Turns,
        settings: IntentFramesSettings,
        sampling: ChatSettings,
        limits: GuardSettings,
    ) -> None:
        self._chat = chat
        self._turns = turns
        self._settings = settings
        self._sampling = sampling
        self._limits = limits

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return the frames as the model reads them; those without a reading are left out."""
        if self._chat is None:
            return Plan(strategy=self.name)
        names = table(f"prompts/{self.name}")["frames"]
        async with self._turns.turn(self.name):
            readings = await together(*(self._reading(self._chat, post, task) for task in names.values()))
        frames = tuple(
            Frame(name=name, reading=reading) for name, reading in zip(names, readings, strict=True) if reading
        )
        return Plan(strategy=self.name, frames=frames, note="" if frames else "The model gave no reading of the post.")

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return one round; nothing without a model, frames or evidence. Raises as the protocol says."""
        if self._chat is None or not plan.frames or not context.evidence:
            return Proposed(note=f"{self.name} lacks a model, a reading of the post or evidence.")
        temperature = self._settings.temperature
        async with self._turns.turn(self.name):
            completions = await self._chat.complete(
                prompts.request(
                    self.name, "reply", post=context.post, hint=request.hint,
                    frames=[f"{frame.name}: {frame.reading}" for frame in plan.frames],
                    evidence=[prompt.with_source(piece) for piece in context.evidence[:MOST_EVIDENCE]],
                    intent=prompts.aim(context.intent), intent_name=context.intent.value,
                    language=prompt.language_name(context.reply_language),
                ),
                n=self._settings.replies,
                temperature=max(temperature, self._sampling.temperature) if request.number > 1 else temperature,
                max_tokens=self._settings.max_tokens,
                grammar=grammar.two_sentences(context.intent, limit_for(context.post.platform, self._limits)),
                adapter=context.intent,
            )  # fmt: skip
        return written_by(self._chat.model, (completion.text for completion in completions))

    async def _reading(self, chat: ChatModel, post: FlaggedPost, task: str) -> str:
        completions = await chat.complete(
            prompts.request(self.name, "frame", post=post, task=task),
            temperature=self._settings.temperature,
            max_tokens=self._settings.frame_tokens,
            grammar=grammar.one_line(),
        )
        return tidy(completions[0].text)[:LONGEST_READING]
