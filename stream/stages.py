"""What each stage does with one message, independent of Kafka: decode, work, move the case, return the next message.

Every stage is idempotent, because a message may be delivered again after a crash (at-least-once). If the case has
already moved on, the work is not repeated: the stored result is sent again if the next stage may lack it, and otherwise
the message is dropped. If two workers process the same message, the ledger's answer decides: MOVED and AGAIN send
downstream, LATE drops.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import BaseModel

from core.domain import CaseState, Draft, DraftRequest, FlaggedPost, Grounding, Intent, StrategyName, Triage
from core.lifecycle import STAGES, StageName, goes_on
from ledger import Ledger, OnFile, Step
from stream.messages import Grounded, Triaged, decode


@dataclass(frozen=True)
class Outgoing:
    """One message for the topic that a stage writes to."""

    key: str
    record: BaseModel


class Stage(Protocol):
    """One step of a case; `core.lifecycle.STAGES` has the topics it reads and writes.

    `handle` receives the message's bytes and returns the message for the next stage, or None. It may wait for as long
    as its model takes. `last_attempt` means that the message becomes a dead letter if this try fails.

    It raises BadMessage for bytes that are not its record, and Unavailable if a component is unavailable (the message
    is tried again); any other error counts as a fault of the message or of the stage.

    A normal return does not mean that the message will not be delivered again, so `handle` must be able to repeat
    whatever it does to a case.
    """

    name: ClassVar[StageName]

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Do this stage's step for one message."""


class PostTriager(Protocol):
    """A component that finds out whom a post attacks; in production, `pipeline.triage.Triager`."""

    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        """Return the triage of a post. Raises ModelUnavailable or ModelRefused."""


class EvidenceFinder(Protocol):
    """A component that finds the evidence for a post; in production, `pipeline.ground.Grounder`."""

    async def ground(
        self, post: FlaggedPost, triage: Triage, *, strategy: StrategyName | None = None, last_attempt: bool = False
    ) -> Grounding:
        """Return the evidence that a strategy plans, best first. Raises BadInput, ModelUnavailable or ModelRefused.

        On the last attempt no chat model is needed.
        """


class ReplyDrafter(Protocol):
    """A component that writes replies; in production, `pipeline.draft.Drafter`."""

    async def draft(
        self, post: FlaggedPost, triage: Triage, grounding: Grounding, request: DraftRequest,
        *, last_attempt: bool = False,
    ) -> Draft:  # fmt: skip
        """Return the requested draft. Raises ModelUnavailable unless it is the last attempt."""


class TriageStage:
    """The stage that finds out whom a post attacks and whether it needs a reply."""

    name: ClassVar = StageName.TRIAGE

    def __init__(self, ledger: Ledger, triager: PostTriager) -> None:
        self._ledger = ledger
        self._triager = triager

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Triage one flagged post; dismissed and escalated posts go no further."""
        filed = await self._ledger.stages.on_file(decode(value, FlaggedPost))
        if filed.state is not STAGES[self.name].takes:
            return _to_ground(filed, filed.triage) if filed.triage and filed.state is CaseState.TRIAGED else None
        triage = await self._triager.triage(filed.post, duplicate_of=filed.duplicate_of)
        step = await self._ledger.stages.triage(filed.post, triage)
        return _to_ground(filed, triage) if goes_on(triage.route) and step is not Step.LATE else None


def _to_ground(filed: OnFile, triage: Triage) -> Outgoing:
    # No later stage needs to know who wrote it where; the ledger has it, from which it can be erased.
    post = filed.post.model_copy(update={"author_id": None, "thread_id": None})
    return Outgoing(post.key, Triaged(post=post, triage=triage, number=filed.number))


ChooseIntent = Callable[[FlaggedPost, Triage], Awaitable[Intent | None]]
"""A function that returns the intent that moderators set for such a case, or None if they set none."""


class GroundStage:
    """The stage that finds the evidence for a post and chooses the intent of its draft."""

    name: ClassVar = StageName.GROUND

    def __init__(
        self, ledger: Ledger, grounder: EvidenceFinder, default_intent: Intent, choose: ChooseIntent | None = None
    ) -> None:
        self._ledger = ledger
        self._grounder = grounder
        self._intent = default_intent
        self._choose = choose

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Ground one triaged post and request its first draft, or the redraft that the case is waiting for."""
        message = decode(value, Triaged)
        case = await self._ledger.cases.get(message.post.key)
        request = case.request
        if case.state is not STAGES[self.name].takes:
            grounded = Grounded.of(case, request) if case.state is CaseState.GROUNDED else None
            return Outgoing(case.key, grounded) if grounded else None
        grounding = await self._grounder.ground(
            message.post, message.triage, strategy=request.strategy, last_attempt=last_attempt
        )
        if request.number == 1:
            chosen = await self._choose(message.post, message.triage) if self._choose else None
            request = request.model_copy(update={"intent": chosen or self._intent})
        if await self._ledger.stages.ground(message.post.key, grounding, request) is Step.LATE:
            return None
        grounded = Grounded(post=message.post, triage=message.triage, grounding=grounding, request=request)
        return Outgoing(message.post.key, grounded)


class DraftStage:
    """The stage that writes the requested reply; for a post in doubt, a draft that says why there is no reply yet."""

    name: ClassVar = StageName.DRAFT

    def __init__(self, ledger: Ledger, drafter: ReplyDrafter) -> None:
        self._ledger = ledger
        self._drafter = drafter

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Draft a reply to one grounded post, unless this draft is no longer wanted."""
        message = decode(value, Grounded)
        if not await self._ledger.stages.is_asked_for(message.post.key, message.request.number):
            return None
        draft = await self._drafter.draft(
            message.post,
            message.triage,
            message.grounding,
            await self._unlike_earlier(message),
            last_attempt=last_attempt,
        )
        return Outgoing(message.post.key, draft)

    async def _unlike_earlier(self, message: Grounded) -> DraftRequest:
        """Return the request with replies to the same author or thread added to `avoid`; the addition is not stored."""
        replies = await self._ledger.replies.near(message.post.key)
        avoid = tuple(dict.fromkeys((*message.request.avoid, *replies)))
        return message.request.model_copy(update={"avoid": avoid})


class DeskStage:
    """The stage that puts a draft into the moderators' queue."""

    name: ClassVar = StageName.DESK

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Queue one draft; the ledger accepts only one per request."""
        await self._ledger.stages.draft(decode(value, Draft))
        return None
