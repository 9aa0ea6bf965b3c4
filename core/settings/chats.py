"""Settings of Discord and Slack: which channels get which cases, and how the moderators' workload is limited."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator

from core.domain import TargetGroup
from core.settings.section import Count, InterfaceLanguage, Seconds, Section

MAX_ROOM_ID = 255
RoomId = Annotated[str, Field(min_length=1, max_length=MAX_ROOM_ID)]
"""The id of a chat server or channel; 255 is the longest of any chat (Matrix, in bytes)."""


class ChannelRule(Section):
    """A channel and the cases that are posted there; an empty criterion matches every case."""

    channel: RoomId = Field(description="Channel id.")
    groups: tuple[TargetGroup, ...] = Field((), description="Target groups whose cases go there. Empty: all.")
    languages: tuple[str, ...] = Field(
        (), description="Languages of the posts whose cases go there, as ISO 639-1 codes. Empty: all."
    )
    platforms: tuple[str, ...] = Field((), description="Platforms of the posts whose cases go there. Empty: all.")


class ChatWorkspace(Section):
    """How one Discord server or Slack workspace is used."""

    channel: RoomId | None = Field(
        None, description="Channel id for cases that fit no rule. Unset: they are not posted here."
    )
    rules: tuple[ChannelRule, ...] = Field(
        (), description="Rules for which channel gets which cases. The first rule that fits wins."
    )
    lead_channel: RoomId | None = Field(
        None, description="Channel id for reminders of an old queue and notices of escalations. Unset: none are sent."
    )
    reviewers: tuple[str, ...] = Field(
        (), description="Ids of the roles, user groups or users that may decide. Empty: only leads and admins."
    )
    leads: tuple[str, ...] = Field((), description="Ids of the roles, user groups or users that are leads.")
    admins: tuple[str, ...] = Field((), description="Ids of the roles, user groups or users that are admins.")
    people: dict[str, str] = Field(
        {}, description="User id -> name on the desk, for people who also work on the web page."
    )
    language: InterfaceLanguage | None = Field(
        None, description="Language of the cards and notices here. Unset: `desk.language`."
    )


class DiscordSettings(Section):
    """How Discord is connected."""

    token: SecretStr | None = Field(None, description="Token of the bot.")
    token_file: Path | None = Field(None, description="File with the bot's token, instead of `token`.")
    servers: dict[RoomId, ChatWorkspace] = Field({}, description="Server id -> how that server is used.")


class SlackWorkspace(ChatWorkspace):
    """How one Slack workspace is used, and with which token."""

    bot_token: SecretStr | None = Field(None, description="Bot token of the workspace, `xoxb-…`.")
    bot_token_file: Path | None = Field(None, description="File with the bot token, instead of `bot_token`.")


class SlackSettings(Section):
    """How Slack is connected."""

    mode: Literal["socket", "http"] = Field(
        "socket", description="How Slack reaches Rejoinder: `socket` needs no public address, `http` does."
    )
    app_token: SecretStr | None = Field(None, description="App-level token for `socket`, `xapp-…`.")
    app_token_file: Path | None = Field(None, description="File with the app-level token, instead of `app_token`.")
    signing_secret: SecretStr | None = Field(None, description="Signing secret for `http`.")
    signing_secret_file: Path | None = Field(
        None, description="File with the signing secret, instead of `signing_secret`."
    )
    api_url: str = Field(
        "https://slack.com/api/", description="Address of Slack's Web API. Change it for Slack for Government."
    )
    host: str = Field("127.0.0.1", description="Address to listen on with `http`.")
    port: int = Field(3000, ge=0, le=65535, description="Port to listen on with `http`. 0: any free port.")
    workspaces: dict[RoomId, SlackWorkspace] = Field(
        {}, description="Workspace (team) id -> how that workspace is used."
    )


class CareSettings(Section):
    """How the chats limit what reaches moderators and leads."""

    remind_after_s: Seconds = Field(
        1800.0, description="Age of the oldest open case, in seconds, from which leads are reminded."
    )
    remind_every_s: Seconds = Field(3600.0, description="Shortest time between two reminders, in seconds.")
    quiet_from: time | None = Field(
        None, description="Start of the quiet hours, such as `22:00`. No reminders are sent during them."
    )
    quiet_until: time | None = Field(None, description="End of the quiet hours, such as `07:00`.")
    timezone: str = Field("UTC", description="Time zone of the quiet hours, such as `Europe/Madrid`.")
    escalations_every_s: Seconds = Field(
        600.0,
        description="Seconds for which further escalations are counted in the same notice to the leads instead of "
        "getting a new one.",
    )
    surge_cards: Count = Field(
        20,
        description="Largest number of new cards in a channel per minute. Posts beyond it are counted in one notice "
        "and wait in the queue.",
    )
    surge_window_s: Seconds = Field(600.0, description="Seconds without a new post after which a surge is over.")

    @model_validator(mode="after")
    def _check_quiet_hours(self) -> Self:
        if (self.quiet_from is None) != (self.quiet_until is None):
            raise ValueError("quiet hours need both quiet_from and quiet_until; set the other one too, or neither")
        return self
