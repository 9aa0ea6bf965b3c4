"""The error tree. Each message says what happened, to what, and what to do.

RejoinderError
├── BadInput              somebody sent something that can't be used; sending it again won't help
│   └── BadMessage        bytes on a topic that are not the record the topic carries
├── Unauthenticated       nobody knows who calls
├── Forbidden             the caller's role does not allow it
├── BadSettings           a setting is missing or contradicts another
├── Unavailable           a part is away; trying again later may help
│   ├── BrokerUnavailable
│   ├── LedgerUnavailable
│   ├── ModelUnavailable
│   └── ChatUnavailable
├── ChannelLost           a chat channel is gone, or closed to the bot
├── CardGone              a card's message was deleted in the chat
├── CardRefused           the chat does not take a card
├── ModelRefused          a model server answered, and the answer can't be used
├── WeightsError          weights could not be fetched, stored or verified
├── KnowledgeBaseError    the knowledge base is missing, torn or foreign
└── CaseConflict          the case is not where the caller believed
    ├── CaseNotFound
    ├── StaleVersion      somebody was faster; carries the case as it is now
    ├── ClaimedByOther    another moderator holds the case
    ├── NotAllowed        the action makes no sense in the case's state
    └── FailsChecks       the text fails hard checks and no override was given
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.domain import Case, Check


class RejoinderError(Exception):
    """Be the root of every error Rejoinder raises on purpose."""


class BadInput(RejoinderError):
    """Say that somebody sent something unusable; sending it again won't help."""


class BadMessage(BadInput):
    """Say that bytes on a topic are not the record the topic carries."""


class Unauthenticated(RejoinderError):
    """Say that a caller gave no token or a wrong one."""


class Forbidden(RejoinderError):
    """Say that the caller's role does not allow the action."""


class BadSettings(RejoinderError):
    """Say that a setting is missing or contradicts another."""


class Unavailable(RejoinderError):
    """Say that a part is away; trying again later may help."""


class BrokerUnavailable(Unavailable):
    """Say that the Kafka broker can't be reached."""


class LedgerUnavailable(Unavailable):
    """Say that the ledger's database can't be reached."""


class ModelUnavailable(Unavailable):
    """Say that a model server can't be reached or did not answer in time."""


class ChatUnavailable(Unavailable):
    """Say that Discord or Slack can't be reached, or asks to wait."""


class ChannelLost(RejoinderError):
    """Say that a chat channel was deleted (`gone`), or that the bot may not use it any more."""

    def __init__(self, message: str, *, gone: bool) -> None:
        super().__init__(message)
        self.gone = gone


class CardGone(RejoinderError):
    """Say that a card's message was deleted in the chat."""


class CardRefused(RejoinderError):
    """Say that the chat does not take a card, and would not take it again."""


class ModelRefused(RejoinderError):
    """Say that a model server answered, and the answer can't be used."""


class WeightsError(RejoinderError):
    """Say that weights could not be fetched, stored or verified."""


class KnowledgeBaseError(RejoinderError):
    """Say that the knowledge base is missing, torn or foreign."""


class CaseConflict(RejoinderError):
    """Say that a case is not where the caller believed; `case` is how it stands now, where it is known."""

    def __init__(self, message: str, case: Case | None = None) -> None:
        super().__init__(message)
        self.case = case


class CaseNotFound(CaseConflict):
    """Say that no case has this key."""


class StaleVersion(CaseConflict):
    """Say that somebody was faster."""


class ClaimedByOther(CaseConflict):
    """Say that another moderator holds the case."""


class NotAllowed(CaseConflict):
    """Say that the action makes no sense in the case's state."""


class FailsChecks(CaseConflict):
    """Say that a text fails hard checks; `checks` holds all of them."""

    def __init__(self, message: str, checks: tuple[Check, ...], case: Case | None = None) -> None:
        super().__init__(message, case)
        self.checks = checks
