"""A free reply that states a counter-claim chosen by vote, and the evidence found for it: the method of F2RL."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import DraftRequest, FlaggedPost, Plan, Triage, VotedClaim
from core.settings import ClaimGuidedSettings
from models.chat import ChatModel
from pipeline import grammar, prompt
from pipeline.answers import rotated
from pipeline.guard import GuardContext
from pipeline.languages import DEFAULT, UNKNOWN
from pipeline.strategies import prompts
from pipeline.strategies.replying import Writer, replies
from pipeline.strategies.strategy import Proposed, tidy, together

LONGEST_LINE = 240
"""Characters of a line that are kept if a server ignores the grammar."""
VOTE_TOKENS = 4
"""Longest answer of a vote: the number of a claim, which the grammar ends earlier."""
_LINE = re.compile(r"(?m)^\s*\d{1,2}[.)]\s*(\S.*)$")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class ClaimGuidedStrategy:
    """Five counter-claims, the best by vote, five searches for its evidence, and a reply that states both.

    From "F2RL: Factuality and Faithfulness Reinforcement Learning Framework for Claim-Guided Evidence-Supported
    Counterspeech Generation" (digest, sections 3.1 to 3.3 and the prompt of 3.5).

    Kept from the paper:

    - one model makes claims, votes, queries and the reply
    - five claims at a time; several rounds of one voting prompt with all claims, and most votes win
    - five queries for the chosen claim; what they all find is ordered by nearness to the claim, and the first five stay
    - the reply states the claim first, then the evidence

    Changed:

    - no training and no reward: the guard judges instead
    - each round of votes starts the list at another claim, since small models favour a position; of equals, the claim
      named first wins
    - evidence comes from the knowledge base, not Wikipedia: the claim is searched for beside its queries, each finds
      up to 100 paragraphs, and those below `kb.min_relevance` for all of them are left out
    - the embedder orders all that they find; `kb.reranker`, if set, reads the 20 nearest (the paper's BGE-M3 reads all)
    - no examples in the prompts
    - queries are in English, as the documents are

    Cost at most: plan 7 requests, 520 tokens; draft 1 request, 150 tokens.
    """

    writer: Writer
    settings: ClaimGuidedSettings
    name = "claim-guided"
    plans_with_model = True
    writes_with_model = True

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return the chosen counter-claim and its queries; without a usable claim, a plan whose note says so."""
        if self.writer.chat is None:
            return Plan(strategy=self.name)
        async with self.writer.turns.turn(self.name):
            claims = await self._claims(self.writer.chat, post, triage)
            if not claims:
                return Plan(strategy=self.name, note="The model named no counter-claim.")
            voted = await self._vote(self.writer.chat, post, claims)
            chosen = max(voted, key=lambda claim: claim.votes).text
            queries = await self._queries(self.writer.chat, post, chosen)
        return Plan(
            strategy=self.name, counter_claim=chosen, voted=voted, queries=queries,
            paragraphs=self.settings.documents,
        )  # fmt: skip

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return one round; nothing without a model, a counter-claim or evidence. Raises as the protocol says."""
        if self.writer.chat is None or not plan.counter_claim or not context.evidence:
            return Proposed(note=f"{self.name} lacks a model, a counter-claim or evidence.")
        evidence = [prompt.with_source(piece) for piece in context.evidence[: self.settings.documents]]
        messages = prompts.request(
            self.name, "reply", post=context.post, hint=request.hint, claim=plan.counter_claim, evidence=evidence,
            intent=prompts.aim(context.intent), language=prompt.language_name(context.reply_language),
        )  # fmt: skip
        async with self.writer.turns.turn(self.name):
            return await replies(self.writer, context, messages, self.settings)

    async def _claims(self, chat: ChatModel, post: FlaggedPost, triage: Triage) -> tuple[str, ...]:
        language = prompt.language_name(DEFAULT if triage.language == UNKNOWN else triage.language)
        count = self.settings.counter_claims
        messages = prompts.request(self.name, "claims", post=post, count=str(count), language=language)
        completions = await chat.complete(
            messages,
            temperature=self.settings.temperature,
            max_tokens=count * self.settings.line_tokens,
            grammar=grammar.numbered_lines(count),
        )
        return _lines(completions[0].text, count)

    async def _vote(self, chat: ChatModel, post: FlaggedPost, claims: Sequence[str]) -> tuple[VotedClaim, ...]:
        rounds = [rotated(claims, by) for by in range(self.settings.votes)]
        choices = await together(*(self._choose(chat, post, listed) for listed in rounds))
        votes = Counter(filter(None, choices))
        return tuple(VotedClaim(text=claim, votes=votes[claim]) for claim in claims)

    async def _choose(self, chat: ChatModel, post: FlaggedPost, claims: Sequence[str]) -> str | None:
        """Return the claim that the model chooses from a list; None if its answer names none."""
        completions = await chat.complete(
            prompts.request(self.name, "vote", post=post, claims=claims),
            temperature=self.settings.temperature,
            max_tokens=VOTE_TOKENS,
            grammar=grammar.choice(len(claims)),
        )
        number = _NUMBER.search(completions[0].text)
        place = int(number.group()) if number else 0
        return claims[place - 1] if 1 <= place <= len(claims) else None

    async def _queries(self, chat: ChatModel, post: FlaggedPost, claim: str) -> tuple[str, ...]:
        count = self.settings.queries
        completions = await chat.complete(
            prompts.request(self.name, "queries", post=post, claim=claim, count=str(count)),
            temperature=self.settings.temperature,
            max_tokens=count * self.settings.line_tokens,
            grammar=grammar.numbered_lines(count),
        )
        return _lines(completions[0].text, count)


def _lines(answer: str, most: int) -> tuple[str, ...]:
    """Return the texts of a numbered list, each once and cut to LONGEST_LINE characters."""
    lines = (tidy(line)[:LONGEST_LINE] for line in _LINE.findall(answer))
    return tuple(dict.fromkeys(filter(None, lines)))[:most]
