"""All settings, with their defaults and descriptions.

Sources, strongest first: command-line flags, `REJOINDER_…` environment variables (`__` nests:
`REJOINDER_KAFKA__BOOTSTRAP`), `rejoinder.toml` in the working folder, the defaults in this package. `make settings`
generates `docs/settings.md` from it; a test compares the two.
"""

from core.settings.broker import GatewaySettings, KafkaSettings, StreamSettings
from core.settings.chats import (
    MAX_ROOM_ID,
    CareSettings,
    ChannelRule,
    ChatWorkspace,
    DiscordSettings,
    RoomId,
    SlackSettings,
    SlackWorkspace,
)
from core.settings.desk import DeskSettings, LedgerSettings, Token
from core.settings.drafting import NO_MODEL, ChatSettings, DraftSettings, GuardSettings, TriageSettings
from core.settings.evidence import EmbeddingSettings, KnowledgeBaseSettings, WeightsSettings
from core.settings.retention import RetentionSettings
from core.settings.section import Section
from core.settings.settings import Settings
from core.settings.strategies import (
    ClaimGuidedSettings,
    IntentFramesSettings,
    LockedSettings,
    PlainSettings,
    SamplingSettings,
    TournamentSettings,
)

__all__ = [
    "MAX_ROOM_ID",
    "NO_MODEL",
    "CareSettings",
    "ChannelRule",
    "ChatSettings",
    "ChatWorkspace",
    "ClaimGuidedSettings",
    "DeskSettings",
    "DiscordSettings",
    "DraftSettings",
    "EmbeddingSettings",
    "GatewaySettings",
    "GuardSettings",
    "IntentFramesSettings",
    "KafkaSettings",
    "KnowledgeBaseSettings",
    "LedgerSettings",
    "LockedSettings",
    "PlainSettings",
    "RetentionSettings",
    "RoomId",
    "SamplingSettings",
    "Section",
    "Settings",
    "SlackSettings",
    "SlackWorkspace",
    "StreamSettings",
    "Token",
    "TournamentSettings",
    "TriageSettings",
    "WeightsSettings",
]
