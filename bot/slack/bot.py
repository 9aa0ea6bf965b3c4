"""The Slack bot as a whole: listeners, cards and background tasks."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.changes import Changes
from bot.chat.card_sync import CardSync
from bot.chat.commands import Commands
from bot.chat.decision_dialogue import DecisionDialogue
from bot.chat.escalations import Escalations
from bot.chat.languages import Languages
from bot.chat.own_cases import OwnCases
from bot.chat.reminders import Reminders
from bot.desk import Desk
from bot.pipeline_cli import PipelineCli
from bot.slack.board import SURFACE, SlackBoard
from bot.slack.button_clicks import ButtonClicks
from bot.slack.commands import SlashCommands
from bot.slack.deduplicating_app import DeduplicatingApp
from bot.slack.submissions import Submissions
from bot.slack.web_api import sdk_log, web_client
from bot.slack.workspaces import Workspaces
from core.settings import CareSettings
from ledger import Ledger


class SlackBot:
    """The parts of the bot, assembled.

    `app` receives what Slack sends, `card_sync` maintains the cards, `reminders` and `escalations` notify the leads,
    and `languages` knows in which language to answer each person.
    """

    def __init__(
        self, desk: Desk, ledger: Ledger, changes: Changes, workspaces: Workspaces, care: CareSettings,
        pipeline_cli: PipelineCli, *, signing_secret: str = "", api_url: str,
    ) -> None:  # fmt: skip
        self.workspaces = workspaces
        self.board = SlackBoard(workspaces.clients)
        self.languages = languages = Languages(
            SURFACE, workspaces.servers, ledger.moderator_settings, desk.settings.language
        )
        self.card_sync = CardSync(ledger, self.board, workspaces.servers, care, changes, languages)
        own_cases = OwnCases(desk, ledger.cards, workspaces.servers)
        self.reminders = Reminders(own_cases, ledger.cards, self.board, workspaces.servers, care, languages)
        self.escalations = Escalations(ledger, self.board, workspaces.servers, care, changes, languages)
        self.app = self._listening(signing_secret, api_url)
        dialogue = DecisionDialogue(desk, own_cases, changes)
        ButtonClicks(dialogue, workspaces, languages).add_to(self.app)
        Submissions(dialogue, workspaces, languages).add_to(self.app)
        commands = Commands(desk, ledger, workspaces.servers, own_cases, languages, pipeline_cli)
        self.commands = SlashCommands(commands, ledger.cards, workspaces, languages)
        self.commands.add_to(self.app)

    def _listening(self, signing_secret: str, api_url: str) -> AsyncApp:
        # A plain function, because Bolt fills in parameters by name, including `self`.
        async def authorize(team_id: str | None) -> AuthorizeResult:
            return self.workspaces.authorize(team_id)

        return DeduplicatingApp(
            name="rejoinder", logger=sdk_log, signing_secret=signing_secret, client=web_client(None, api_url),
            authorize=authorize,
        )  # fmt: skip
