"""Constants of the strategies, from their papers where these give them; docs/decisions.md explains the others."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.settings.section import Count, Positive, Seconds, Section

Temperature = Annotated[float, Field(ge=0, le=2)]


class SamplingSettings(Section):
    """How replies are sampled."""

    temperature: Temperature = Field(0.5, description="Sampling temperature of all requests.")
    max_tokens: Count = Field(150, description="Longest reply, in tokens.")
    replies: Count = Field(1, description="Number of replies sampled for one draft, in one request.")


class LockedSettings(SamplingSettings):
    """The strategy `locked`: the model's sentence and a fact's own wording."""

    max_tokens: Count = Field(60, description="Longest sentence, in tokens.")
    replies: Count = Field(4, description="Number of sentences sampled for one draft, in one request.")


class PlainSettings(SamplingSettings):
    """The strategy `plain` (Damo, Cabrio and Villata)."""

    paragraphs: Count = Field(
        3, description="Number of paragraphs that are searched for, summarised and given to the model."
    )
    summary_tokens: Count = Field(150, description="Longest summary of a paragraph, in tokens.")


class ClaimGuidedSettings(SamplingSettings):
    """The strategy `claim-guided` (F2RL)."""

    counter_claims: Annotated[int, Field(ge=1, le=9)] = Field(5, description="Number of counter-claims to choose from.")
    votes: Count = Field(5, description="Number of rounds in which the model chooses the best counter-claim.")
    queries: Annotated[int, Field(ge=1, le=9)] = Field(
        5, description="Number of searches for evidence of the chosen counter-claim."
    )
    documents: Count = Field(5, description="Number of paragraphs kept, those nearest to the chosen counter-claim.")
    line_tokens: Count = Field(50, description="Longest counter-claim or search, in tokens.")


class IntentFramesSettings(SamplingSettings):
    """The strategy `intent-frames` (CoARL)."""

    frame_tokens: Count = Field(60, description="Longest reading of one frame, in tokens.")
    evidence: Count = Field(3, description="Number of pieces of evidence that the model writes from.")
    temperature: Temperature = Field(
        0.0, description="Sampling temperature of frames and first draft. A redraft uses at least `chat.temperature`."
    )


class TournamentSettings(Section):
    """The strategy `tournament` (CODEOFCONDUCT)."""

    iterations: Annotated[int, Field(ge=0)] = Field(8, description="Largest number of annealing rounds. 0: none.")
    kept: Count = Field(6, description="Number of replies kept after each round, and of variants made of each.")
    target: Annotated[float, Field(ge=0, le=10)] = Field(9.0, description="Score, of 10, at which the annealing ends.")
    first_temperature: Positive = Field(
        1.0, description="Temperature before the first round. It is the base of the odds by which variants are drawn."
    )
    temperature_step: Positive = Field(0.25, description="Amount by which the temperature rises in each round.")
    words: Count = Field(3, description="Number of words appended to a variant.")
    rewriting_temperature: Temperature = Field(
        0.8, description="Sampling temperature of rewritten replies. At 0, equal drafts give equal replies."
    )
    evidence: Count = Field(3, description="Number of pieces of evidence that the model rewrites and judges by.")
    pool: Annotated[int, Field(ge=2, le=16)] = Field(6, description="Number of replies that meet in duels.")
    both_orders: bool = Field(
        True,
        description="Judge each pair twice, each reply once as the first. Once costs half as much, but many models "
        "prefer whatever is shown first.",
    )
    ranks: Count = Field(4, description="Number of replies that the guard judges, the winner first.")
    max_tokens: Count = Field(150, description="Longest rewritten reply, in tokens.")
    seconds: Seconds = Field(60.0, description="Seconds for planning and writing together.")
    tokens: Count = Field(6000, description="Largest number of tokens requested, for planning and writing together.")
