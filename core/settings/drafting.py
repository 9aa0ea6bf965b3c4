"""Settings of triage, the chat model, the strategies and the guard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator

from core.domain import Intent, StrategyName
from core.settings.section import Count, LowerCase, Seconds, Section, Share
from core.settings.strategies import (
    ClaimGuidedSettings,
    IntentFramesSettings,
    LockedSettings,
    PlainSettings,
    SamplingSettings,
    TournamentSettings,
)

NO_MODEL = "none"
"""Value of `chat.model` that means no chat model is used."""


CacheType = Literal["f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"]
"""Number formats that llama.cpp's server accepts for its KV cache."""


class TriageSettings(Section):
    """When a post gets a draft."""

    group_threshold: Share = Field(0.25, description="Least probability for a post to count as attacking a group.")
    dismiss_below: Share = Field(0.08, description="Hate probability below which a post is dismissed as not hateful.")
    doubt_below: Share = Field(
        0.46,
        description="Hate probability below which a moderator first decides whether a post is hateful at all. From "
        "this value on, a draft is made.",
    )
    threat_from: Share = Field(
        0.1,
        description="Least probability for a post to count as a threat, which goes to people instead of getting a "
        "draft. Lower it to catch more threats, with more false alarms.",
    )
    self_harm_from: Share = Field(
        0.5,
        description="Least probability for a post to count as a hint at suicide or self-harm, which goes to people. "
        "What the patterns find always does. Lower it to catch more hints, with more false alarms.",
    )
    reread: bool = Field(
        True,
        description="Read English posts that may be hateful or threats once more, with a larger model, if its weights "
        "are here (`rejoinder models pull all-mpnet-base-v2`). It knows their claims better, and catches more threats.",
    )
    doubt_below_in: dict[str, Share] = Field(
        {"es": 0.25, "it": 0.3, "eu": 0.25}, description="Language code -> `doubt_below` for posts in that language."
    )
    threat_from_in: dict[str, Share] = Field(
        {}, description="Language code -> `threat_from` for posts in that language."
    )
    language_threshold: Share = Field(
        0.6,
        description="Confidence below which the detected language of a post is not relied on. Then the platform's "
        "hint counts, or the language is unknown.",
    )

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        least = min([self.doubt_below, *self.doubt_below_in.values()])
        if self.dismiss_below > least:
            raise ValueError(f"dismiss_below is above doubt_below ({least:g}), so no post could be in doubt; lower it")
        return self

    def in_language(self, language: str) -> TriageSettings:
        """Return these settings with the thresholds for posts in `language`."""
        return self.model_copy(
            update={
                "doubt_below": self.doubt_below_in.get(language, self.doubt_below),
                "threat_from": self.threat_from_in.get(language, self.threat_from),
            }
        )


class ChatSettings(Section):
    """Which language model is used, and how it is run. `draft.strategy` says what drafts."""

    model: str = Field(
        "qwen2.5-coder-1.5b",
        description="Name from `rejoinder models list`, or `none`. The model is started only if something uses it: a "
        "strategy other than `compose`, `kb.reranker` or `kb.expansion`.",
    )
    engine: Literal["xllamacpp", "llama-cpp-python", "llama-server"] = Field(
        "xllamacpp", description="Which llama.cpp server the worker's supervisor starts."
    )
    binary: str = Field("llama-server", description="Program to start if `engine` is `llama-server`.")
    endpoint: str | None = Field(
        None,
        description="Base URL of a running OpenAI-compatible server (`http://…/v1`). If set, no server is started.",
    )
    api_key: SecretStr | None = Field(None, description="Bearer token for `endpoint`.")
    slots: Count = Field(4, description="Number of requests that the model server works on at once.")
    threads: int = Field(0, ge=0, description="Threads of the started server. 0: all cores.")
    context_tokens: Count = Field(2048, description="Context window of each slot, in tokens.")
    temperature: Annotated[float, Field(ge=0, le=2)] = Field(0.5, description="Sampling temperature.")
    max_tokens: Count = Field(150, description="Longest reply, in tokens.")
    candidates: Count = Field(4, description="Number of replies sampled for one draft, in one batch.")
    timeout_s: Seconds = Field(120.0, description="Longest wait for one completion, in seconds.")
    attempts: Count = Field(3, description="Number of tries before the model server counts as unavailable.")
    gpu_layers: Literal["auto", "all"] | Annotated[int, Field(ge=0)] = Field(
        "auto",
        description="Layers of the model on the GPU: `auto` (as many as fit), `all`, or a number. Without a GPU, none.",
    )
    flash_attention: Literal["auto", "on", "off"] = Field(
        "auto", description="Flash attention. `auto` leaves it to the engine."
    )
    batch_tokens: Count | None = Field(
        None, description="Number of prompt tokens that the server accepts at once. Unset: the engine's default."
    )
    micro_batch_tokens: Count | None = Field(
        None, description="Number of tokens computed in one step, at most `batch_tokens`. Unset: the engine's default."
    )
    cache_type_k: CacheType = Field("f16", description="Number format of the keys in the KV cache.")
    cache_type_v: CacheType = Field(
        "f16", description="Number format of the values in the KV cache. A quantised one needs flash attention."
    )
    draft_model: str | None = Field(
        None,
        description="Smaller model with the same vocabulary that guesses ahead of `model` (speculative decoding): a "
        "name from `rejoinder models list` or a GGUF file. Not available with `llama-cpp-python`.",
    )
    ngram_speculation: bool = Field(
        False, description="Guess ahead from the text that is already in the prompt. Not together with a `draft_model`."
    )
    adapters: dict[Intent, Path] = Field(
        {},
        description="Intent -> LoRA adapter (GGUF), chosen for each reply. Not available with `llama-cpp-python`; a "
        "server at `endpoint` must have loaded the same adapters in this order.",
    )
    server_args: tuple[str, ...] = Field(
        (),
        description="Further options of the engine, as a JSON list: words of its command line, or for `xllamacpp` "
        '`name=value` of its parameters, such as `["cache_ram_mib=0"]`.',
    )

    @property
    def sampling(self) -> SamplingSettings:
        """Return the sampling settings of the strategy `free`."""
        return SamplingSettings(temperature=self.temperature, max_tokens=self.max_tokens, replies=self.candidates)

    @model_validator(mode="after")
    def _check_acceleration(self) -> Self:
        quantised = self.cache_type_v not in ("f32", "f16", "bf16")
        if quantised and self.flash_attention == "off":
            raise ValueError(
                f"cache_type_v {self.cache_type_v} needs flash attention; set flash_attention to auto or on"
            )
        if self.draft_model is not None and self.ngram_speculation:
            raise ValueError("draft_model and ngram_speculation both guess ahead; set one of them")
        if self.engine == "llama-cpp-python" and (self.draft_model is not None or self.adapters):
            raise ValueError("llama-cpp-python takes neither draft_model nor adapters; use xllamacpp or llama-server")
        if self.micro_batch_tokens and self.micro_batch_tokens > (self.batch_tokens or self.micro_batch_tokens):
            raise ValueError("micro_batch_tokens must not be more than batch_tokens")
        return self


class DraftSettings(Section):
    """How replies are drafted."""

    strategy: StrategyName = Field(
        StrategyName.COMPOSE,
        description="What drafts: `compose` (words on file, no model), or with the chat model `locked`, `free`, "
        "`plain`, `claim-guided`, `intent-frames` or `tournament`. If nothing of these passes the guard, "
        "`compose` drafts.",
    )
    offered: tuple[StrategyName, ...] = Field(
        (),
        description="Further strategies that moderators may request in a redraft, as a JSON list. Workers start the "
        "chat model if one of them needs it.",
    )
    timeout_s: Seconds = Field(
        120.0, description="Seconds that a strategy may take to plan, and again to write. After that, `compose` drafts."
    )
    locked: LockedSettings = LockedSettings()
    plain: PlainSettings = PlainSettings()
    claim_guided: ClaimGuidedSettings = ClaimGuidedSettings()
    intent_frames: IntentFramesSettings = IntentFramesSettings()
    tournament: TournamentSettings = TournamentSettings()

    @property
    def choices(self) -> tuple[StrategyName, ...]:
        """Return the strategies that a redraft may request: the default, those offered, and `compose`, each once."""
        return tuple(dict.fromkeys((self.strategy, *self.offered, StrategyName.COMPOSE)))


class GuardSettings(Section):
    """Limits and judges of the guard's checks."""

    max_chars: Count = Field(
        500, description="Longest reply, in characters, on platforms that `platform_max_chars` does not list."
    )
    platform_max_chars: dict[LowerCase, Count] = Field(
        {"twitter": 280, "x": 280, "bluesky": 300, "mastodon": 500, "threads": 500, "gab": 3000},
        description="Platform -> longest reply, in characters.",
    )
    max_echo: Share = Field(0.5, description="Largest share of the post's content words that a reply may repeat.")
    judge: Literal["none", "head", "entailment", "chat"] = Field(
        "head",
        description="What judges sentences that are not on file: `none` (word checks alone, which stop everything "
        "they can't account for), `head` (the small one shipped with Rejoinder), `entailment` (that head "
        "and an entailment model) or `chat` (the chat model).",
    )
    reread: bool = Field(
        True,
        description="Let a larger model read English sentences beside the judge `head`, if its weights are here "
        "(`rejoinder models pull all-mpnet-base-v2`). It loads with the first sentence that a chat model wrote: five "
        "seconds and 330 MB.",
    )
    reread_min_harmless: Share = Field(
        0.3,
        description="`min_harmless` where the larger model reads beside the judge; `min_opposition` if that is less.",
    )
    reread_min_grounded: Share = Field(
        0.3, le=0.5, description="`min_grounded` where the larger model reads beside the judge, at most 0.5."
    )
    reread_min_overall: Share = Field(
        0.7, ge=0.5, description="`min_overall` where the larger model reads beside the judge."
    )
    min_opposition: Share = Field(
        0.5,
        description="Least probability of opposing the post that the judge must give to the best sentence that is "
        "not on file.",
    )
    min_harmless: Share = Field(
        0.15,
        description="Least value of that probability for each sentence that is not on file. Raise it to stop more "
        "bad drafts, and more good ones.",
    )
    min_fit: Share = Field(
        0.3,
        description="Least probability of answering something that the shipped head must give to the best sentence "
        "that is not on file.",
    )
    min_sentence_fit: Share = Field(
        0.05, description="Least value of that probability for each sentence that is not on file."
    )
    min_nearness: Share = Field(
        0.2, description="Least cosine similarity to the post or its evidence for a reply without a sentence on file."
    )
    entailment_model: str = Field(
        "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7",
        description="Entailment model of the judge `entailment` (`entailment` extra): a folder with `*.onnx` and "
        "`tokenizer.json`, or a hub name with `guard.entailment_revision`.",
    )
    entailment_revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = Field(
        None,
        description="Commit of the hub repository (40 hexadecimal digits) from which that model is downloaded. "
        "Required for a hub name.",
    )
    entailment_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None,
        description="SHA-256 of the model's ONNX file, from hub or folder. If set, the file is checked before it is "
        "loaded.",
    )
    entailment_languages: tuple[str, ...] = Field(
        (), description="Languages that the model reads, as ISO 639-1 codes. Empty: all."
    )
    min_grounded: Share = Field(
        0.05,
        le=0.5,
        description="Least probability that the judge `head` must give to each sentence that is not on file for saying "
        "nothing beyond its evidence, at most 0.5. Raise it to stop more bad drafts, and more good ones.",
    )
    min_overall: Share = Field(
        0.6,
        ge=0.5,
        description="Least probability of being fit to show that the checks must come to together, for replies with "
        "sentences that are not on file (judges `head` and `entailment`). Raise it to stop more bad drafts, and more "
        "good ones.",
    )
    min_entailment: Share = Field(
        0.2, description="Least probability of following from its evidence for each statement of fact."
    )
    judge_timeout_s: Seconds = Field(
        60.0,
        description="Seconds that the judge has for the replies of one draft. Replies it has not judged by then are "
        "not shown.",
    )
    max_toxicity: Share = Field(0.5, description="Toxicity probability from which a reply fails.")
    toxicity: Literal["head", "detoxify"] = Field(
        "head",
        description="What judges the toxicity of drafts: the small head shipped with Rejoinder, or Detoxify "
        "(`accurate` extra). Moderators' own text is always judged by the head.",
    )
    detoxify_model: Literal["unbiased", "multilingual", "original", "unbiased-small", "original-small"] = Field(
        "unbiased",
        description="Which of Detoxify's models is used. It is downloaded unless `detoxify_checkpoint` is set.",
    )
    detoxify_checkpoint: Path | None = Field(None, description="File with that model's weights, a pickle.")
    detoxify_config: Path | None = Field(None, description="Folder with that model's configuration and tokenizer.")
    max_similarity: Share = Field(
        0.8, description="Similarity to an earlier reply in the thread from which a reply counts as a repeat."
    )

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        for least, of_best in (("min_harmless", "min_opposition"), ("min_sentence_fit", "min_fit")):
            if getattr(self, least) > getattr(self, of_best):
                raise ValueError(f"{least} is above {of_best}, which no other sentence can be held to; lower it")
        return self
