"""The root of the settings, and where they are read from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from core.settings.broker import GatewaySettings, KafkaSettings, StreamSettings
from core.settings.chats import CareSettings, DiscordSettings, SlackSettings
from core.settings.desk import DeskSettings, LedgerSettings
from core.settings.drafting import ChatSettings, DraftSettings, GuardSettings, TriageSettings
from core.settings.evidence import EmbeddingSettings, KnowledgeBaseSettings, WeightsSettings
from core.settings.retention import RetentionSettings


class Settings(BaseSettings):
    """All settings."""

    model_config = SettingsConfigDict(
        env_prefix="REJOINDER_", env_nested_delimiter="__", toml_file="rejoinder.toml", extra="forbid", frozen=True
    )

    data_dir: Path = Field(
        Path("rejoinder-data"),
        description="Folder for everything that is kept on disk, unless another setting names a place of its own.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Least serious messages that are logged. `DEBUG` is for finding faults."
    )
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
    retention: RetentionSettings = RetentionSettings()

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
