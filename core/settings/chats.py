"""Discord and Slack: which places get which cases, and how the chats spare the moderators."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from core.domain import TargetGroup
from core.settings.section import Count, InterfaceLanguage, Positive, Section

MAX_ROOM_ID = 255
RoomId = Annotated[str, Field(min_length=1, max_length=MAX_ROOM_ID)]
"""The id of a chat server or channel, as long as any chat makes them (Matrix allows 255 bytes)."""


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
    reviewers: tuple[str, ...] = Field(
        (), description="Role, user-group or user ids that may decide; empty: nobody but leads and admins."
    )
    leads: tuple[str, ...] = Field((), description="Role, user-group or user ids of leads.")
    admins: tuple[str, ...] = Field((), description="Role, user-group or user ids of admins.")
    people: dict[str, str] = Field({}, description="User id -> name on the desk, for who also works on the web page.")
    language: InterfaceLanguage | None = Field(
        None, description="Language of its cards and notices; unset: `desk.language`."
    )


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
