"""The error tree. Each message says what happened, to what, and what to do.

RejoinderError
├── BadInput              input that can't be used; sending it again won't help
│   └── BadMessage        bytes on a topic that are not the record the topic carries
│       ├── UnsignedMessage   a record between stages that no stage has signed
│       └── DeadlyMessage     a message that took down one worker after another
├── MessageTooLarge       a message larger than the broker accepts; sending it again won't help
├── Unauthenticated       the caller is unknown
├── Forbidden             the caller's role does not allow the action
├── BadSettings           a setting is missing or contradicts another
│   └── EmptyLedger           a ledger whose tables have not been created yet
├── TooManyRequests       too many calls in a short time; try again later
├── Unavailable           a component is unavailable; trying again later may help
│   ├── BrokerUnavailable
│   ├── LedgerUnavailable
│   ├── ModelUnavailable
│   │   └── EmbedderUnavailable   no text can be embedded; no post can be processed
│   └── ChatUnavailable
├── ChannelLost           a chat channel was deleted, or is closed to the bot
├── CardGone              a card's message was deleted in the chat
├── CardRefused           the chat rejects a card
├── ModelRefused          a model server answered, but the answer can't be used
│   └── TooSlow           work with a model exceeded its time limit
├── WeightsError          weights could not be fetched, stored or verified
├── KnowledgeBaseError    the knowledge base is missing, corrupt or incompatible
└── CaseConflict          the case is not in the state the caller assumed
    ├── CaseNotFound
    ├── StaleVersion      somebody else was faster; carries the case in its current state
    ├── ClaimedByOther    another moderator has claimed the case
    ├── NotAllowed        the action is not possible in the case's state
    └── FailsChecks       the text fails hard checks and no override was given
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

    from core.domain import Case, Check


class RejoinderError(Exception):
    """The base class of all errors that Rejoinder raises on purpose."""


class BadInput(RejoinderError):
    """Input that can't be used; sending it again won't help."""


class BadMessage(BadInput):
    """Bytes on a topic that are not the record the topic carries."""


class UnsignedMessage(BadMessage):
    """A record between stages that no stage has signed; what it says about a case can't be trusted."""


class DeadlyMessage(BadMessage):
    """A message that took down one worker after another before they could finish it."""


class MessageTooLarge(RejoinderError):
    """A message larger than the broker accepts; sending it again won't help.

    `places` are the indexes of the messages in the batch that were too large; all others were sent.
    """

    def __init__(self, message: str, places: tuple[int, ...] = (0,)) -> None:
        super().__init__(message)
        self.places = places


class Unauthenticated(RejoinderError):
    """A call without a token, or with a wrong one."""


class TooManyRequests(RejoinderError):
    """Too many calls in a short time; the next one is allowed after `wait_s` seconds."""

    def __init__(self, what: str, wait_s: float) -> None:
        self.wait_s = max(1, math.ceil(wait_s))
        super().__init__(f"{what}; try again in {self.wait_s} s.")


class Forbidden(RejoinderError):
    """An action that the caller's role does not allow."""


class BadSettings(RejoinderError):
    """A setting that is missing or contradicts another."""


class EmptyLedger(BadSettings):
    """A ledger whose tables have not been created yet."""

    def __init__(self) -> None:
        super().__init__(
            "the ledger has no tables yet; its processes make them when they start, as does: rejoinder ledger migrate"
        )


class Unavailable(RejoinderError):
    """A component that is unavailable; trying again later may help."""


class BrokerUnavailable(Unavailable):
    """A Kafka broker that can't be reached."""


class LedgerUnavailable(Unavailable):
    """A ledger whose database can't be reached."""


class ModelUnavailable(Unavailable):
    """A model server that can't be reached or did not answer in time."""


class EmbedderUnavailable(ModelUnavailable):
    """An embedding server that fails for every text; without it no post can be processed."""


class ChatUnavailable(Unavailable):
    """Discord or Slack can't be reached, or asks the bot to wait."""


class ChannelLost(RejoinderError):
    """A chat channel that was deleted (`gone`), or that the bot may not use any more."""

    def __init__(self, message: str, *, gone: bool) -> None:
        super().__init__(message)
        self.gone = gone


class CardGone(RejoinderError):
    """A card whose message was deleted in the chat."""


class CardRefused(RejoinderError):
    """A card that the chat rejects; sending it again won't help."""


class ModelRefused(RejoinderError):
    """A model server's answer that can't be used."""


class TooSlow(ModelRefused):
    """Work with a model that exceeded its time limit."""


class WeightsError(RejoinderError):
    """Weights that could not be fetched, stored or verified."""


class KnowledgeBaseError(RejoinderError):
    """A knowledge base that is missing, corrupt or incompatible."""


class CaseConflict(RejoinderError):
    """A case that is not in the state the caller assumed; `case` is its current state, if known."""

    def __init__(self, message: str, case: Case | None = None) -> None:
        super().__init__(message)
        self.case = case


class CaseNotFound(CaseConflict):
    """A case key that does not exist."""


class StaleVersion(CaseConflict):
    """A case that somebody else has changed since the caller read it."""


class ClaimedByOther(CaseConflict):
    """A case that another moderator has claimed."""


class NotAllowed(CaseConflict):
    """An action that is not possible in the case's state."""


class FailsChecks(CaseConflict):
    """A text that fails hard checks; `checks` has the results of all checks."""

    def __init__(self, message: str, checks: tuple[Check, ...], case: Case | None = None) -> None:
        super().__init__(message, case)
        self.checks = checks


_MOST_DESCRIBED = 5


def describe_errors(error: ValidationError, whole: str = "the record") -> str:
    """Describe in one line which fields are wrong and why, without repeating their content.

    `whole` is the subject of errors that concern no single field.
    """
    return "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or whole}: {_describe(item['type'], item['msg'])}"
        for item in error.errors(include_url=False, include_input=False)[:_MOST_DESCRIBED]
    )


def _describe(kind: str, message: str) -> str:
    return "is missing" if kind == "missing" else message.removeprefix("Value error, ")
