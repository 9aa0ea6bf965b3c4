"""Drafts: what is asked for, what was considered, what the checks say, and what a moderator is shown."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from core.domain.record import Intent, Moment, Record, StrategyName, Text, now

MAX_DRAFTS = 2**31 - 1
"""Highest number of a draft that the ledger's column holds."""

DraftNumber = Annotated[int, Field(ge=1, le=MAX_DRAFTS)]


class Check(Record):
    """One result of the guard: what was measured, its limit, and whether it passed.

    A failed hard check keeps a draft from being shown, and a text from being approved without an override.
    """

    name: str
    passed: bool
    value: float
    threshold: float
    hard: bool = True
    detail: str = ""


def failed(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return the hard checks that failed."""
    return tuple(check for check in checks if check.hard and not check.passed)


class Origin(StrEnum):
    """The author of a text."""

    MODEL = "model"
    COMPOSER = "composer"
    NONE = "none"


class Candidate(Record):
    """One reply that was considered: who wrote it, what the checks say, and its reward, 0 to 1.

    A costly check is missing where a cheap hard one had failed already; the reward then lacks what it adds. `claim` is
    the id of the claim it answers, `facts` those of the evidence that it states word for word, for texts on file.
    """

    text: str
    origin: Origin
    checks: tuple[Check, ...]
    reward: float = 0.0
    strategy: str = ""
    model: str = ""
    claim: str = ""
    facts: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Tell whether every hard check passed."""
        return not failed(self.checks)


class Duel(Record):
    """Two replies as a judge scored them, 0 to 10: `in_order` with the first one shown first, `turned` the other way.

    Both pairs give the first reply's score first. The one with the higher sum wins.
    """

    first: str
    second: str
    in_order: tuple[float, float]
    turned: tuple[float, float]


class DraftRequest(Record):
    """The draft a case asks for.

    With `strategy` none the case's plan says which one drafts, and the settings of the workers for a case without.

    `avoid` has this case's earlier drafts and, while it is drafted, what its author was answered in other cases. What
    the thread says is in the post's `context`; cases of version 0.1.0 have that in `avoid` too.
    """

    number: DraftNumber = 1
    intent: Intent = Intent.INFORMATIVE
    hint: str = ""
    avoid: tuple[str, ...] = ()
    strategy: StrategyName | None = None


class Draft(Record):
    """What a moderator is shown. With `origin` none the text is empty and `note` says why nothing fits.

    `considered` counts every reply that was judged; `candidates` keeps them for evaluation and learning, the one shown
    first and then in the order they were made, as far as they fit (`pipeline.draft.bounded`). Drafts made by earlier
    versions have none. `duels` are those of a tournament.
    """

    case_key: Text
    number: DraftNumber
    text: str
    intent: Intent
    origin: Origin
    model: str
    language: str
    checks: tuple[Check, ...]
    considered: int = 0
    candidates: tuple[Candidate, ...] = ()
    duels: tuple[Duel, ...] = ()
    note: str = ""
    created_at: Moment = Field(default_factory=now)


def is_edited(text: str, draft: Draft | None) -> bool:
    """Tell whether an approved text differs from the draft that its moderator was shown."""
    return draft is None or text != draft.text
