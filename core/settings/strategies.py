"""The constants of the strategies, with their papers' values; docs/decisions.md says why those that no paper gives."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.settings.section import Count, Positive, Section

Temperature = Annotated[float, Field(ge=0, le=2)]


class SamplingSettings(Section):
    """How replies are sampled."""

    temperature: Temperature = Field(0.5, description="Sampling temperature of all requests.")
    max_tokens: Count = Field(150, description="Longest reply, in tokens.")
    replies: Count = Field(1, description="Replies sampled for one draft, in one request.")


class LockedSettings(SamplingSettings):
    """The strategy `locked`: the model's sentence and a fact's own wording."""

    max_tokens: Count = Field(60, description="Longest sentence, in tokens.")
    replies: Count = Field(4, description="Sentences sampled for one draft, in one request.")


class PlainSettings(SamplingSettings):
    """The strategy `plain` (Damo, Cabrio and Villata)."""

    paragraphs: Count = Field(3, description="Paragraphs searched for, summarised and given to the model.")
    summary_tokens: Count = Field(150, description="Longest summary of a paragraph, in tokens.")


class ClaimGuidedSettings(SamplingSettings):
    """The strategy `claim-guided` (F2RL)."""

    counter_claims: Annotated[int, Field(ge=1, le=9)] = Field(5, description="Counter-claims to choose from.")
    votes: Count = Field(5, description="Rounds in which the model chooses the best of them.")
    queries: Annotated[int, Field(ge=1, le=9)] = Field(5, description="Searches for evidence of the one chosen.")
    documents: Count = Field(5, description="Paragraphs kept, those nearest to the chosen counter-claim.")
    line_tokens: Count = Field(50, description="Longest counter-claim or search, in tokens.")


class IntentFramesSettings(SamplingSettings):
    """The strategy `intent-frames` (CoARL)."""

    frame_tokens: Count = Field(60, description="Longest reading of one frame, in tokens.")
    temperature: Temperature = Field(
        0.0, description="Sampling temperature of frames and first draft; a redraft has `chat.temperature` at least."
    )


class TournamentSettings(Section):
    """The strategy `tournament` (CODEOFCONDUCT)."""

    iterations: Annotated[int, Field(ge=0)] = Field(8, description="Most rounds of annealing; 0: none.")
    kept: Count = Field(6, description="Replies kept after each round, and variants made of each.")
    target: Annotated[float, Field(ge=0, le=10)] = Field(9.0, description="Score at which the annealing ends.")
    first_temperature: Positive = Field(1.0, description="Temperature before the first round, the base of the odds.")
    temperature_step: Positive = Field(0.25, description="What is added to the temperature in each round.")
    words: Count = Field(3, description="Words appended to a variant.")
    pool: Annotated[int, Field(ge=2, le=16)] = Field(6, description="Replies that meet in duels, each pair twice.")
    ranks: Count = Field(4, description="Replies that the guard judges, the winner first.")
    max_tokens: Count = Field(150, description="Longest rewritten reply, in tokens.")
    seconds: Positive = Field(60.0, description="Time for planning and writing together.")
    tokens: Count = Field(6000, description="Tokens that may be asked for, in planning and writing together.")
