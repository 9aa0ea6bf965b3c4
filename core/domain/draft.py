"""Drafts: the request, the candidates, the results of the checks, and what a moderator is shown."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from core.domain.record import Intent, Moment, Record, StrategyName, Text, now

MAX_DRAFTS = 2**31 - 1
"""Highest draft number that the ledger's column can hold."""

DraftNumber = Annotated[int, Field(ge=1, le=MAX_DRAFTS)]


class Check(Record):
    """One result of the guard: the measured value, its limit, and whether it passed.

    If a hard check fails, the draft is not shown, and a text needs an override to be approved.
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
    """Who wrote a text."""

    MODEL = "model"
    COMPOSER = "composer"
    NONE = "none"


class Candidate(Record):
    """One reply that was considered: who wrote it, the results of its checks, and its reward, 0 to 1.

    Costly checks are skipped once the reply can no longer pass; the reward then lacks their share. For texts on file,
    `claim` is the id of the claim that the text answers, and `facts` are the ids of the evidence that it quotes word
    for word.
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
    """Two replies and a judge's scores for them, 0 to 10, in both orders of presentation or in one.

    `in_order` are the scores with `first` shown first, `turned` those with `second` shown first, None if they were not
    asked for. Both give the score of `first` first. The reply with the higher sum wins.
    """

    first: str
    second: str
    in_order: tuple[float, float]
    turned: tuple[float, float] | None = None


class DraftRequest(Record):
    """The draft that a case needs next.

    If `strategy` is None, the case's plan names the strategy; a case without a plan uses the workers' setting. `avoid`
    contains the case's earlier drafts and, while a draft is being made, earlier replies to the same author in other
    cases. The other posts of the thread are in the post's `context`; cases from version 0.1.0 also have them in
    `avoid`.
    """

    number: DraftNumber = 1
    intent: Intent = Intent.INFORMATIVE
    hint: str = ""
    avoid: tuple[str, ...] = ()
    strategy: StrategyName | None = None


class Draft(Record):
    """One draft, as a moderator is shown it. If `origin` is `none`, the text is empty and `note` says why nothing fits.

    `considered` counts all replies that were judged. `candidates` keeps as many of them as fit
    (`pipeline.draft.bounded`) for evaluation and learning: the shown one first, the others in the order in which they
    were made. Drafts from earlier versions have none. `duels` are those of the strategy `tournament`.
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
