"""Refine replies by simulated annealing as in CODEOFCONDUCT, whose temperature rises (digest, algorithms 1 and 2)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

from core.settings import SamplingSettings, TournamentSettings
from pipeline import prompt
from pipeline.guard import GuardContext
from pipeline.strategies import prompts
from pipeline.strategies.budget import BudgetSpent
from pipeline.strategies.judging import ReplyJudge
from pipeline.strategies.replying import Writer, replies
from pipeline.strategies.strategy import Proposal, together

_WORD = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True)
class Scored:
    """A reply and the judge's score for it, 0 to 10."""

    proposal: Proposal
    score: float


class Annealing:
    """A search from some replies to better ones, until one reaches the target or the rounds or the budget run out."""

    def __init__(
        self, writer: Writer, judge: ReplyJudge, settings: TournamentSettings, context: GuardContext, hint: str,
        dice: random.Random,
    ) -> None:  # fmt: skip
        self._writer = writer
        self._judge = judge
        self._settings = settings
        self._sampling = SamplingSettings(temperature=settings.rewriting_temperature, max_tokens=settings.max_tokens)
        self._context = context
        self._hint = hint
        self._dice = dice
        self._seen: dict[str, Scored] = {}
        self._evidence = context.evidence[: settings.evidence]
        texts = [context.post.text, *(piece.text for piece in self._evidence)]
        self._words = sorted({word for text in texts for word in _WORD.findall(text.lower())}) or ["people"]

    async def run(self, start: Iterable[Proposal]) -> list[Scored]:
        """Return every reply seen, those of the start and those written; one that was not judged has the score 0."""
        entered = list(start)
        try:
            survivors = await self._scored(entered)
            temperature = self._settings.first_temperature
            for _ in range(self._settings.iterations):
                if any(item.score >= self._settings.target for item in survivors) or not survivors:
                    break
                temperature += self._settings.temperature_step
                written = [better for parent in survivors for better in await self._rewritten(parent, temperature)]
                survivors = _best(written or survivors, self._settings.kept)
        except BudgetSpent:
            pass
        unjudged = (Scored(proposal, 0.0) for proposal in entered if proposal.text not in self._seen)
        return [*self._seen.values(), *unjudged]

    async def _rewritten(self, parent: Scored, temperature: float) -> list[Scored]:
        """Return the best of the replies written from variants of one reply."""
        variants = [self._with_words(parent.proposal) for _ in range(self._settings.kept)]
        scores = await together(*(self._judge.score(variant) for variant in variants))
        chosen = self._dice.choices(variants, odds(scores, temperature), k=self._settings.kept)
        rounds = await together(*map(self._rewrite, chosen))
        written = {proposal.text: proposal for proposals in rounds for proposal in proposals if proposal.text}
        return _best(await self._scored(list(written.values())), self._settings.kept)

    def _with_words(self, proposal: Proposal) -> str:
        return " ".join([proposal.text, *self._dice.choices(self._words, k=self._settings.words)])

    async def _rewrite(self, variant: str) -> tuple[Proposal, ...]:
        draft, words = variant.split(), self._settings.words
        context = self._context
        messages = prompts.request(
            "tournament", "rewrite", post=context.post, hint=self._hint, draft=" ".join(draft[:-words]),
            words=", ".join(draft[-words:]), intent=prompts.aim(context.intent),
            evidence=[prompt.with_source(piece) for piece in self._evidence],
            language=prompt.language_name(context.reply_language),
        )  # fmt: skip
        return (await replies(self._writer, context, messages, self._sampling)).first_round

    async def _scored(self, proposals: Sequence[Proposal]) -> list[Scored]:
        """Return replies with their scores; each score is remembered as soon as it is known."""
        return await together(*map(self._score, proposals))

    async def _score(self, proposal: Proposal) -> Scored:
        if proposal.text not in self._seen:
            self._seen[proposal.text] = Scored(proposal, await self._judge.score(proposal.text))
        return self._seen[proposal.text]


def odds(scores: Sequence[float], temperature: float) -> list[float]:
    """Return the temperature to the power of each score, as shares of the sum (the paper's algorithm 2)."""
    powers = [(score - max(scores)) * log(temperature) for score in scores]
    weights = list(map(exp, powers))
    return [weight / sum(weights) for weight in weights]


def _best(scored: Iterable[Scored], count: int) -> list[Scored]:
    unique = {item.proposal.text: item for item in scored}
    return sorted(unique.values(), key=lambda item: -item.score)[:count]
