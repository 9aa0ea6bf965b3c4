"""Triage, the chat model, the strategy and the guard: what is done to one post."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from core.settings.section import Count, Positive, Section, Share

NO_MODEL = "none"
"""The name in `chat.model` that means: without a chat model."""


class TriageSettings(Section):
    """When a post gets a draft."""

    group_threshold: Share = Field(0.25, description="Probability from which a post counts as attacking a group.")
    dismiss_below: Share = Field(0.08, description="Hate probability under which a post is dismissed as not hateful.")
    doubt_below: Share = Field(
        0.42,
        description="Hate probability under which a moderator says first whether a post is hateful at all; "
        "from it on a draft is made.",
    )
    threat_from: Share = Field(
        0.25, description="Probability from which a post counts as a threat and goes to people instead of a draft."
    )
    language_threshold: Share = Field(0.6, description="Confidence under which the language counts as unknown.")


class ChatSettings(Section):
    """Which language model there is, and how it is asked; `draft.strategy` says what drafts."""

    model: str = Field(
        "qwen2.5-coder-1.5b",
        description="Name from `rejoinder models list`, or `none`. It is started only where something asks it: the "
        "strategy `free`, `kb.reranker` or `kb.expansion`.",
    )
    engine: Literal["xllamacpp", "llama-cpp-python", "llama-server"] = Field(
        "xllamacpp", description="Which llama.cpp server the worker's supervisor starts."
    )
    binary: str = Field("llama-server", description="Program to start when `engine` is `llama-server`.")
    endpoint: str | None = Field(
        None, description="Base URL of a running OpenAI-compatible server (`http://…/v1`); set: no server is started."
    )
    api_key: SecretStr | None = Field(None, description="Bearer token for `endpoint`.")
    slots: Count = Field(4, description="Requests the model server works on at once.")
    threads: int = Field(0, ge=0, description="Threads of the started server; 0: all cores.")
    context_tokens: Count = Field(2048, description="Context window per slot, in tokens.")
    temperature: Annotated[float, Field(ge=0, le=2)] = Field(0.5, description="Sampling temperature.")
    max_tokens: Count = Field(150, description="Longest reply, in tokens.")
    candidates: Count = Field(4, description="Replies sampled for one draft, in one batch.")
    timeout_s: Positive = Field(120.0, description="Seconds to wait for one completion.")
    attempts: Count = Field(3, description="Tries before the model server counts as away.")


class DraftSettings(Section):
    """How replies come about."""

    strategy: Literal["compose", "free"] = Field(
        "compose",
        description="`compose`: the counter-claim and fact on file for what the post claims, no model; `free`: replies "
        "that the chat model writes on the evidence, and composed ones where none passes the checks.",
    )


class GuardSettings(Section):
    """The limits of the hard checks."""

    max_chars: Count = Field(500, description="Longest reply, in characters, on platforms not listed below.")
    platform_max_chars: dict[str, int] = Field(
        {"twitter": 280, "x": 280, "bluesky": 300, "mastodon": 500, "threads": 500, "gab": 3000},
        description="Longest reply by platform.",
    )
    max_echo: Share = Field(0.5, description="Largest share of the post's content words a reply may repeat.")
    judge: Literal["none", "head", "entailment", "chat"] = Field(
        "head",
        description="What judges the sentences that are not on file: nothing (words alone, which stop all they can't "
        "account for), the small head shipped with Rejoinder, the head and an entailment model, or the chat model.",
    )
    min_opposition: Share = Field(
        0.5, description="Probability of standing against the post that the judge must give each such sentence."
    )
    entailment_model: str = Field(
        "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7",
        description="Entailment model of the judge `entailment` (`entailment` extra): a folder with `*.onnx` and "
        "`tokenizer.json`, or a hub name.",
    )
    entailment_languages: tuple[str, ...] = Field(
        (), description="Languages that this model reads (ISO 639-1); none: all."
    )
    min_entailment: Share = Field(
        0.2, description="Probability of following from its evidence that each statement of fact needs."
    )
    max_toxicity: Share = Field(0.5, description="Toxicity probability from which a reply fails.")
    toxicity: Literal["head", "detoxify"] = Field(
        "head",
        description="What judges drafts: the small head shipped with Rejoinder, or Detoxify (`accurate` extra). What "
        "moderators write is judged by the head.",
    )
    detoxify_model: Literal["unbiased", "multilingual", "original", "unbiased-small", "original-small"] = Field(
        "unbiased", description="Which of Detoxify's models; it is downloaded unless a checkpoint is given."
    )
    detoxify_checkpoint: Path | None = Field(None, description="File of that model's weights, a pickle.")
    detoxify_config: Path | None = Field(None, description="Folder of that model's configuration and tokenizer.")
    max_similarity: Share = Field(
        0.8, description="Similarity to an earlier reply in the thread from which it counts as a repeat."
    )
