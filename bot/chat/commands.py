"""The implementation of the chat commands, the same in Discord and Slack; `bot.chat.command_help` lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

from bot import stats
from bot.chat.cards import MAX_DRAFT, MAX_LINE, evidence_line, evidence_lines
from bot.chat.command_answer import Attachment, CommandAnswer, in_lines
from bot.chat.defuse import defuse
from bot.chat.languages import Languages
from bot.chat.own_cases import OwnCases
from bot.chat.place import Place
from bot.chat.queue_lines import LOOKED_THROUGH, QueueLines
from bot.chat.server_lines import criteria, scope_line, switch_line, utc
from bot.desk import CaseQuery, Desk
from bot.intent_scopes import named_scope, scope
from bot.permissions import Moderator, require_lead
from bot.pipeline_cli import PipelineCli
from bot.stored_words import translate_stored
from bot.translation import LANGUAGES, N_, Wordings, _, ngettext, speaking
from bot.wording import GROUP_WORDS, INTENT_NAMES
from core.domain import Action, Case, Decision, Intent, StrategyName, TargetGroup, now
from core.errors import BadInput
from core.settings import ChatWorkspace
from ledger import Ledger
from ledger.moderator_settings import ScopeKind, SwitchKind

SUGGESTED = 50
MAX_PLATFORM = 64
MAX_REASON = 500
MAX_NOTE = 2_000
_DONE = Wordings(
    {
        Action.REOPEN: N_("Case {number} is open again and gets a draft."),
        Action.HAND_OVER: N_("Case {number} is handed over."),
        Action.HANDLE: N_("Case {number} is marked as handled."),
        Action.RETRACT: N_("Case {number} is retracted; the platform is told."),
    }
)


class Commands:
    """The commands, which see only the cases of their own server.

    Every method may raise Forbidden, BadInput, CaseNotFound or Unavailable, with a message in plain words.
    """

    def __init__(
        self,
        desk: Desk,
        ledger: Ledger,
        servers: Mapping[str, ChatWorkspace],
        own_cases: OwnCases,
        languages: Languages,
        pipeline_cli: PipelineCli,
    ) -> None:
        self._desk = desk
        self._ledger = ledger
        self._servers = servers
        self._own_cases = own_cases
        self._languages = languages
        self._pipeline_cli = pipeline_cli
        self._queue = QueueLines(desk, ledger, own_cases)

    async def queue(
        self,
        place: Place,
        who: Moderator,
        *,
        group: TargetGroup | None = None,
        mine: bool = False,
        doubtful: bool = False,
        appeals: bool = False,
    ) -> CommandAnswer:
        """List a server's open cases: all, the moderator's own, those in doubt, or closed ones with an appeal."""
        return await self._queue.answer(place, who, group=group, mine=mine, doubtful=doubtful, appeals=appeals)

    async def dismiss(self, place: Place, who: Moderator, id: str) -> CommandAnswer:
        """Dismiss a case as not hateful, and show it with its undo button."""
        seen = await self._case(place, id)
        case = await self._desk.decide(seen.key, Decision(action=Action.DISMISS, version=seen.version), who)
        return CommandAnswer((_("Case {number} is dismissed.", number=await self._number(case)),), case=case)

    async def redraft(
        self, place: Place, who: Moderator, id: str, strategy: StrategyName | None = None
    ) -> CommandAnswer:
        """Request another draft of a case, by one of the desk's strategies if named."""
        seen = await self._case(place, id)
        decision = Decision(action=Action.REDRAFT, version=seen.version, strategy=strategy)
        await self._desk.decide(seen.key, decision, who)
        number = await self._number(seen)
        if strategy is None:
            return in_lines(_("Another draft is being written for case {number}.", number=number))
        return in_lines(
            _("Another draft by {strategy} is being written for case {number}.", strategy=strategy, number=number)
        )

    async def after_the_end(
        self, place: Place, who: Moderator, action: Action, id: str, words: str = ""
    ) -> CommandAnswer:
        """Apply `action` to a closed case, with `words` as the reason, and show the result."""
        reason = _fitting(words.strip(), MAX_REASON)
        seen = await self._case(place, id)
        decision = Decision(action=action, version=seen.version, reason=reason or None)
        case = await self._desk.decide(seen.key, decision, who)
        return CommandAnswer((_DONE[action].format(number=await self._number(case)),), case=case)

    async def note(self, place: Place, who: Moderator, id: str, text: str) -> CommandAnswer:
        """Add a note for the next person who looks at a case, and show the case."""
        text = _fitting(text, MAX_NOTE)
        case = await self._desk.note((await self._case(place, id)).key, text, who)
        return CommandAnswer((_("Noted on case {number}.", number=await self._number(case)),), case=case)

    async def case(self, place: Place, id: str) -> CommandAnswer:
        """Show one case, by its number or its key."""
        return CommandAnswer((), case=await self._case(place, id))

    async def suggested_cases(self, place: Place, typed: str) -> list[tuple[int, Case]]:
        """Return the oldest open cases whose number begins with what was typed, each with its number."""
        cases = await self._own_cases.list(place.server, CaseQuery(limit=SUGGESTED), SUGGESTED)
        numbered = [(await self._ledger.cards.number_of(case.key), case) for case in cases]
        return [(number, case) for number, case in numbered if str(number).startswith(typed.strip().removeprefix("#"))]

    async def suggested_platforms(self, place: Place, typed: str) -> list[str]:
        """Return the platforms of the newest cases whose name contains what was typed."""
        query = CaseQuery(states=(), limit=LOOKED_THROUGH, oldest_first=False)
        names = dict.fromkeys(case.post.platform for case in await self._own_cases.list(place.server, query))
        return [name for name in names if typed.lower() in name.lower()]

    async def show_intents(self, place: Place) -> CommandAnswer:
        """List the intents set on a server, narrowest scope first."""
        intents = await self._ledger.moderator_settings.intents(place.surface, place.server)
        order = list(ScopeKind)
        lines = [
            _(
                "{scope}: {intent}, set by {who} on {time}",
                scope=scope_line(item.kind, item.scope),
                intent=INTENT_NAMES[item.intent],
                who=item.who,
                time=utc(item.at),
            )
            for item in sorted(intents, key=lambda item: (order.index(item.kind), item.scope))
        ]
        if not lines:
            return in_lines(_("No intent is set here."))
        return in_lines(_("The narrowest that fits a case holds."), *lines)

    async def set_intent(
        self, place: Place, who: Moderator, intent: Intent | None, named: Mapping[ScopeKind, str]
    ) -> CommandAnswer:
        """Set the intent of the named scope, or clear it with None; an unnamed channel is the current one."""
        require_lead(who, _("set an intent"))
        kind, name = named_scope(named)
        where = scope(kind, (name or place.channel) if kind is ScopeKind.CHANNEL else name)
        await self._ledger.moderator_settings.set_intent(place.surface, place.server, kind, where, intent, who.name)
        holds = INTENT_NAMES[intent] if intent else _("no intent of its own any more")
        return in_lines(_("{scope}: {intent}. It holds for new drafts.", scope=scope_line(kind, where), intent=holds))

    async def draft(self, text: str, intent: Intent | None) -> CommandAnswer:
        """Draft a reply to a text, with its evidence; no case is created."""
        draft, grounding, reason = await self._pipeline_cli.draft(text, intent)
        evidence = evidence_lines(grounding)
        if draft is None or not draft.text:
            reason = translate_stored((draft.note if draft else "") or reason)
            return CommandAnswer((defuse(_("No draft: {reason}", reason=reason), 2 * MAX_LINE),), evidence=evidence)
        return CommandAnswer((), quote=defuse(draft.text, MAX_DRAFT), evidence=evidence)

    async def evidence(self, query: str, group: TargetGroup | None) -> CommandAnswer:
        """Search the knowledge base."""
        statements = await self._pipeline_cli.evidence(query, group)
        if not statements:
            return CommandAnswer((_("Nothing fits. Try other words, or without a group."),))
        lines = tuple(evidence_line(item) for item in statements)
        return CommandAnswer((defuse(_("Evidence for: {query}", query=query), MAX_LINE),), evidence=lines)

    async def pause(self, place: Place, who: Moderator, *, on: bool, hours: float | None = None) -> CommandAnswer:
        """Stop new cards in a channel, or allow them again."""
        require_lead(who, _("pause or resume a channel"))
        until = _until(hours) if on else None
        await self._ledger.moderator_settings.switch(
            place.surface, place.server, SwitchKind.PAUSED, place.channel, who.name, on=on, until=until
        )
        if not on:
            return in_lines(_("Resumed: what waited gets its cards."))
        if until is None:
            return in_lines(_("Paused: new cases wait in the queue."))
        return in_lines(_("Paused until {time}: new cases wait in the queue.", time=utc(until)))

    async def mute(
        self, place: Place, who: Moderator, platform: str, *, on: bool, hours: float | None = None
    ) -> CommandAnswer:
        """Stop the cards of a platform's posts on a server, or allow them again."""
        require_lead(who, _("mute a source"))
        platform = platform.strip()
        if not 0 < len(platform) <= MAX_PLATFORM:
            raise BadInput(_("Which source? Name the platform as the cards do."))
        until = _until(hours) if on else None
        await self._ledger.moderator_settings.switch(
            place.surface, place.server, SwitchKind.MUTED, platform, who.name, on=on, until=until
        )
        if not on:
            return in_lines(_("{platform} is no longer muted here.", platform=platform))
        if until is None:
            return in_lines(_("{platform} is muted here.", platform=platform))
        return in_lines(_("{platform} is muted until {time} here.", platform=platform, time=utc(until)))

    async def assign(self, place: Place, who: Moderator, id: str, assignee: Moderator) -> CommandAnswer:
        """Assign a case to a moderator; everyone may assign cases to themselves."""
        seen = await self._case(place, id)
        key = seen.key
        decision = Decision(action=Action.ASSIGN, version=seen.version, assignee=assignee.name)
        await self._desk.decide(key, decision, who)
        return in_lines(_("Case {number} is assigned to {who}.", number=await self._number(seen), who=assignee.name))

    async def hide(self, who: Moderator, group: TargetGroup, *, hidden: bool) -> CommandAnswer:
        """Leave a group out of the moderator's own queue, or include it again."""
        await self._ledger.moderator_settings.hide(who.name, group, hidden=hidden)
        message = (
            N_("Posts against {group} are no longer in your queue. Nobody else is told.")
            if hidden
            else N_("Posts against {group} are in your queue again. Nobody else is told.")
        )
        return in_lines(_(message, group=GROUP_WORDS[group]))

    async def language(self, who: Moderator, chosen: str | None) -> CommandAnswer:
        """Choose the moderator's language, here and on the page; None leaves it to each client."""
        if chosen is not None and chosen not in LANGUAGES:
            raise BadInput(
                _("There is no language “{name}”; choose one of {names}.", name=chosen[:20], names=", ".join(LANGUAGES))
            )
        await self._languages.choose(who.name, chosen)
        if chosen is None:
            return in_lines(_("No language of your own any more: your app's or browser's holds, else the server's."))
        with speaking(chosen):
            return in_lines(_("Your language here and on the page is now: {language}.", language=LANGUAGES[chosen]))

    async def settings(self, place: Place) -> CommandAnswer:
        """Describe how a server is used."""
        server = self._servers[place.server]
        switched = await self._ledger.moderator_settings.switched(place.surface, place.server)
        language = LANGUAGES[self._languages.of_server(place.server)]
        return in_lines(
            _("Cases go to {channel} unless a rule says otherwise.", channel=server.channel)
            if server.channel
            else _("Cases go to no channel unless a rule says otherwise."),
            *(_("Rule: {cases} go to {place}.", cases=criteria(rule), place=rule.channel) for rule in server.rules),
            _("Ids of leads: {leads}, of admins: {admins}, of reviewers: {reviewers}.",
              leads=len(server.leads), admins=len(server.admins), reviewers=len(server.reviewers)),
            _("Language of cards and notices: {language}.", language=language),
            *(switch_line(item) for item in switched),
        )  # fmt: skip

    async def export(self, place: Place, who: Moderator, period: str = "4w") -> CommandAnswer:
        """Return the decisions of a period as CSV, without the posts."""
        require_lead(who, _("export decisions"))
        statistics = await self._ledger.statistics.since(now() - stats.period(period), self._counted(place))
        file = Attachment(f"rejoinder-{now():%Y-%m-%d}.csv", stats.table(statistics.decided))
        summary = ngettext(
            "{n} decision since {time} is in {file}.", "{n} decisions since {time} are in {file}.",
            len(statistics.decided), time=utc(statistics.since), file=file.name,
        )  # fmt: skip
        return CommandAnswer((summary,), attachment=file)

    async def stats(self, place: Place, period: str = "7d") -> CommandAnswer:
        """Return the figures of a period, with a chart if there is anything to draw."""
        shown_on = self._counted(place)
        pending = len(await self._own_cases.list(place.server, CaseQuery(limit=LOOKED_THROUGH))) if shown_on else None
        figures = await stats.figures(self._ledger, stats.period(period), shown_on, pending)
        lines = tuple(stats.in_words(figures).splitlines())
        if not figures.by_intent:
            return CommandAnswer(lines)
        picture = await asyncio.to_thread(stats.picture, figures)
        return CommandAnswer(lines, attachment=Attachment("rejoinder-stats.png", picture))

    def _counted(self, place: Place) -> tuple[str, str] | None:
        """Return the surface and server to whose cards the figures of a place are limited, or None for all cases."""
        return None if self._own_cases.include_all(place.server) else (place.surface, place.server)

    async def _number(self, case: Case) -> str:
        """Return a case's short number as it is typed, independent of language."""
        return str(await self._ledger.cards.number_of(case.key))

    async def _case(self, place: Place, id: str) -> Case:
        id = id.strip().removeprefix("#")
        if not id:
            raise BadInput(_("Which case? Give its number, as on its card."))
        return await self._own_cases.find(place.server, id)


def _fitting(words: str, limit: int) -> str:
    """Return `words`. Raises BadInput if they are too long: what a colleague reads must not end in the middle."""
    if len(words) > limit:
        raise BadInput(
            _("Nothing was done: your text has {n} characters; at most {limit} fit.", n=len(words), limit=limit)
        )
    return words


def _until(hours: float | None) -> datetime | None:
    if hours is not None and not 0 < hours <= 24 * 365:
        raise BadInput(_("The hours must be more than 0 and at most a year's."))
    return None if hours is None else now() + timedelta(hours=hours)
