"""The error tree. Each message says what happened, to what, and what to do.

RejoinderError
├── BadInput              somebody sent something that can't be used; sending it again won't help
│   └── BadMessage        bytes on a topic that are not the record the topic carries
│       ├── UnsignedMessage   a record between stages that none of them has signed
│       └── DeadlyMessage     a message that worker after worker ended on
├── MessageTooLarge       a message that the broker does not take; it never will
├── Unauthenticated       nobody knows who calls
├── Forbidden             the caller's role does not allow it
├── BadSettings           a setting is missing or contradicts another
│   └── EmptyLedger           a ledger whose tables no process has made yet
├── TooManyRequests       a call that comes too soon after others; later it may be made
├── Unavailable           a part is away; trying again later may help
│   ├── BrokerUnavailable
│   ├── LedgerUnavailable
│   ├── ModelUnavailable
│   │   └── EmbedderUnavailable   nothing can be embedded, whatever the text; nothing goes on without
│   └── ChatUnavailable
├── ChannelLost           a chat channel is gone, or closed to the bot
├── CardGone              a card's message was deleted in the chat
├── CardRefused           the chat does not take a card
├── ModelRefused          a model server answered, and the answer can't be used
│   └── TooSlow           work with a model took longer than it may
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

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

    from core.domain import Case, Check


class RejoinderError(Exception):
    """The root of every error Rejoinder raises on purpose."""


class BadInput(RejoinderError):
    """Something unusable that somebody sent; sending it again won't help."""


class BadMessage(BadInput):
    """Bytes on a topic that are not the record the topic carries."""


class UnsignedMessage(BadMessage):
    """A record between stages that none of them has signed; it says nothing about the case it names."""


class DeadlyMessage(BadMessage):
    """A message that worker after worker ended on, before it could be worked on."""


class MessageTooLarge(RejoinderError):
    """A message larger than the broker takes; sending it again won't help.

    `places` are the indexes of those too large among the messages sent at once; all others were sent.
    """

    def __init__(self, message: str, places: tuple[int, ...] = (0,)) -> None:
        super().__init__(message)
        self.places = places


class Unauthenticated(RejoinderError):
    """A call without a token, or with a wrong one."""


class TooManyRequests(RejoinderError):
    """A call that comes too soon after others; `wait_s` seconds later it may be made."""

    def __init__(self, what: str, wait_s: float) -> None:
        self.wait_s = max(1, math.ceil(wait_s))
        super().__init__(f"{what}; try again in {self.wait_s} s.")


class Forbidden(RejoinderError):
    """An action that the caller's role does not allow."""


class BadSettings(RejoinderError):
    """A setting that is missing or contradicts another."""


class EmptyLedger(BadSettings):
    """A ledger whose tables no process has made yet."""

    def __init__(self) -> None:
        super().__init__(
            "the ledger has no tables yet; its processes make them when they start, as does: rejoinder ledger migrate"
        )


class Unavailable(RejoinderError):
    """A part that is away; trying again later may help."""


class BrokerUnavailable(Unavailable):
    """A Kafka broker that can't be reached."""


class LedgerUnavailable(Unavailable):
    """A ledger whose database can't be reached."""


class ModelUnavailable(Unavailable):
    """A model server that can't be reached or did not answer in time."""


class EmbedderUnavailable(ModelUnavailable):
    """An embedding server that is away whatever it is asked; no post can be worked on without it."""


class ChatUnavailable(Unavailable):
    """Discord or Slack out of reach, or asking to wait."""


class ChannelLost(RejoinderError):
    """A chat channel that was deleted (`gone`), or that the bot may not use any more."""

    def __init__(self, message: str, *, gone: bool) -> None:
        super().__init__(message)
        self.gone = gone


class CardGone(RejoinderError):
    """A card whose message was deleted in the chat."""


class CardRefused(RejoinderError):
    """A card that the chat does not take, and would not take again."""


class ModelRefused(RejoinderError):
    """An answer of a model server that can't be used."""


class TooSlow(ModelRefused):
    """Work with a model that took longer than it may."""


class WeightsError(RejoinderError):
    """Weights that could not be fetched, stored or verified."""


class KnowledgeBaseError(RejoinderError):
    """A knowledge base that is missing, torn or foreign."""


class CaseConflict(RejoinderError):
    """A case that is not where the caller believed; `case` is how it stands now, where that is known."""

    def __init__(self, message: str, case: Case | None = None) -> None:
        super().__init__(message)
        self.case = case


class CaseNotFound(CaseConflict):
    """A key that no case has."""


class StaleVersion(CaseConflict):
    """A version that somebody else has changed in the meantime."""


class ClaimedByOther(CaseConflict):
    """A case that another moderator holds."""


class NotAllowed(CaseConflict):
    """An action that makes no sense in the case's state."""


class FailsChecks(CaseConflict):
    """A text that fails hard checks; `checks` has the result of every check."""

    def __init__(self, message: str, checks: tuple[Check, ...], case: Case | None = None) -> None:
        super().__init__(message, case)
        self.checks = checks


_MOST_DESCRIBED = 5


def describe_errors(error: ValidationError, whole: str = "the record") -> str:
    """Say in one line which fields are wrong and why, without repeating their content.

    `whole` names what an error of no single field is about.
    """
    return "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or whole}: {_describe(item['type'], item['msg'])}"
        for item in error.errors(include_url=False, include_input=False)[:_MOST_DESCRIBED]
    )


def _describe(kind: str, message: str) -> str:
    return "is missing" if kind == "missing" else message.removeprefix("Value error, ")
