"""The web desk's page and files, with a strict content security policy on every response.

The page itself contains no case: its script calls the API and inserts the results as text only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bot.language_api import LanguageApi, remember_language
from bot.reasons import REASONS
from bot.translation import LANGUAGES, N_, Wordings, _, script_messages, speaking
from bot.wording import GROUP_WORDS, IN_DOUBT, INTENT_NAMES, INTENT_WORDS, STRATEGY_WORDS
from core.domain import Action, CaseState, Route, StrategyName
from core.lifecycle import DECISIONS, ENDED, ROUTES, STAGES, UNFINISHED, StageName

HERE = Path(__file__).parent

HEADERS: Mapping[str, str] = MappingProxyType({
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
})  # fmt: skip

(WAITING,) = DECISIONS[Action.APPROVE].takes
"""The state of a case that waits for a moderator."""
DRAFTING = STAGES[StageName.DRAFT].takes
"""The state of a case whose draft is being written."""
ALARMING = ROUTES[Route.ESCALATE]
"""The state of a case that leads are notified of at once."""
STATE_WORDS = Wordings(
    {
        CaseState.RECEIVED: N_("received, waits for triage"),
        CaseState.TRIAGED: N_("triaged, waits for evidence"),
        CaseState.GROUNDED: N_("a draft is being written"),
        CaseState.PENDING: N_("waits for a decision"),
        CaseState.APPROVED: N_("approved"),
        CaseState.RELEASED: N_("released"),
        CaseState.REJECTED: N_("rejected"),
        CaseState.DISMISSED: N_("dismissed: no reply is called for"),
        CaseState.ESCALATED: N_("escalated: people act, nothing is drafted"),
        CaseState.FAILED: N_("failed"),
    }
)


@dataclass(frozen=True)
class QueueFilter:
    """One filter of the queue: cases in these states.

    If a flag is set, True lists only cases with it (in doubt, handled, appealed) and False only those without.
    """

    words: str
    states: tuple[CaseState, ...]
    doubtful: bool | None = None
    handled: bool | None = None
    appealed: bool | None = None

    @property
    def label(self) -> str:
        """The filter's name, in the current language."""
        return _(self.words)

    @property
    def flags(self) -> dict[str, bool]:
        """The flags that are set, by name."""
        named = {"doubtful": self.doubtful, "handled": self.handled, "appealed": self.appealed}
        return {name: value for name, value in named.items() if value is not None}


QUEUE_FILTERS = {
    "waiting": QueueFilter(N_("Waiting"), (WAITING,), doubtful=False),
    "doubtful": QueueFilter(IN_DOUBT, (WAITING,), doubtful=True),
    "appeals": QueueFilter(N_("Appeals"), ENDED, appealed=True),
    "approved": QueueFilter(N_("Approved, leaving soon"), (CaseState.APPROVED,)),
    "released": QueueFilter(N_("Released"), (CaseState.RELEASED,)),
    "rejected": QueueFilter(N_("Rejected"), (CaseState.REJECTED,)),
    "dismissed": QueueFilter(N_("Dismissed"), (CaseState.DISMISSED,)),
    "escalated": QueueFilter(N_("Escalated to people"), (ALARMING,), handled=False),
    "handled": QueueFilter(N_("Escalated, handled"), (ALARMING,), handled=True),
    "failed": QueueFilter(N_("Failed"), (CaseState.FAILED,)),
    "unfinished": QueueFilter(N_("Being worked on"), UNFINISHED),
}
"""The filters of the queue by name; every case matches one."""


class Pages:
    """The desk's page, rendered once for each language, and its files."""

    def __init__(
        self, *, confirm_covered: bool = False, record_uncovering: bool = False,
        strategies: Sequence[StrategyName] = (),
    ) -> None:  # fmt: skip
        self._pages: dict[str, str] = {}
        environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals["_"] = _in_markup
        self._desk = partial(
            environment.get_template("desk.html").render,
            languages=LANGUAGES,
            groups=GROUP_WORDS,
            intents=INTENT_WORDS,
            intent_names=INTENT_NAMES,
            strategies=strategies,
            strategy_words=STRATEGY_WORDS,
            reasons=REASONS,
            states=STATE_WORDS,
            queue_filters=QUEUE_FILTERS,
            waiting=WAITING,
            drafting=DRAFTING,
            alarming=ALARMING,
            confirm_covered=confirm_covered,
            record_uncovering=record_uncovering,
        )

    def add_routes(self, app: web.Application, languages: LanguageApi) -> None:
        """Add the page at `/`, in the language that `languages` chooses, and its files below `/static`."""

        async def show(request: web.Request) -> web.Response:
            language = await languages.of_page(request)
            response = web.Response(text=self.html(language), content_type="text/html")
            response.headers["Content-Language"] = language
            remember_language(response, request, language)
            return response

        app.router.add_get("/", show)
        app.router.add_static("/static", HERE / "static")
        app.on_response_prepare.append(harden)

    def html(self, language: str) -> str:
        """Return the page in a language."""
        if language not in self._pages:
            with speaking(language):
                self._pages[language] = self._desk(
                    language=language,
                    messages=json.dumps(script_messages(language), ensure_ascii=False),
                )
        return self._pages[language]


def _in_markup(message: str, **values: object) -> Markup:
    """Return a translated message for a template; values that are markup, such as a key's symbol, are not escaped."""
    return Markup.escape(_(message)).format(**values)


async def harden(request: web.Request, response: web.StreamResponse) -> None:
    """Set the security headers; nothing is cached except static files, which are revalidated each time."""
    response.headers.update(HEADERS)
    response.headers["Cache-Control"] = "no-cache" if request.path.startswith("/static/") else "no-store"
