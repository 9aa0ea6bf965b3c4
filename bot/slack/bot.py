"""The Slack bot as a whole: listeners, cards, and the line to Slack."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.asides import Asides
from bot.changes import Changes
from bot.chat.reminders import Reminders
from bot.commands import Commands
from bot.desk import Desk
from bot.keeper import CardKeeper
from bot.slack.board import SlackBoard
from bot.slack.calls import sdk_log, web_client
from bot.slack.commands import SlashCommands
from bot.slack.once import OnceApp
from bot.slack.presses import Presses
from bot.slack.submissions import Submissions
from bot.slack.workspaces import Workspaces
from core.settings import CareSettings
from ledger import Ledger


class SlackBot:
    """Put the parts together. `app` takes what Slack sends, `keeper` keeps the cards true, `reminders` remind leads."""

    def __init__(
        self, desk: Desk, ledger: Ledger, changes: Changes, workspaces: Workspaces, care: CareSettings, asides: Asides,
        *, signing_secret: str = "", api_url: str,
    ) -> None:  # fmt: skip
        self.workspaces = workspaces
        self.board = SlackBoard(workspaces.clients)
        self.keeper = CardKeeper(ledger, self.board, workspaces.servers, care, changes)
        self.reminders = Reminders(ledger, self.board, workspaces.servers, care)
        self.app = self._listening(signing_secret, api_url)
        Presses(desk, ledger.cards, workspaces, changes).add_to(self.app)
        Submissions(desk, ledger.cards, workspaces, changes).add_to(self.app)
        self.commands = SlashCommands(Commands(desk, ledger, workspaces.servers), asides, ledger.cards, workspaces)
        self.commands.add_to(self.app)

    def _listening(self, signing_secret: str, api_url: str) -> AsyncApp:
        # A plain function: Bolt looks at the names of its parameters, and would fill in `self`.
        async def authorize(team_id: str | None) -> AuthorizeResult:
            return self.workspaces.authorize(team_id)

        return OnceApp(
            name="rejoinder", logger=sdk_log, signing_secret=signing_secret, client=web_client(None, api_url),
            authorize=authorize,
        )  # fmt: skip
