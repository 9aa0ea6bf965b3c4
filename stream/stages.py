"""What each stage does with one message, without Kafka: decode, work, move the case, say what goes downstream.

Every stage is idempotent: a message may come again after a crash (at-least-once). Where the case is further along, the
work is not done again: what the ledger has is sent on if the next stage may lack it, and dropped otherwise. Of two at
once the ledger's answer decides: MOVED or AGAIN send downstream, LATE drops.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import BaseModel

from core.domain import CaseState, Draft, DraftRequest, FlaggedPost, Grounding, Intent, StrategyName, Triage
from core.lifecycle import STAGES, StageName, goes_on
from ledger import Ledger, Step
from stream.messages import Grounded, Triaged, decode


@dataclass(frozen=True)
class Outgoing:
    """One message for the topic that the stage writes to."""

    key: str
    record: BaseModel


class Stage(Protocol):
    """One step of a case; `core.lifecycle.STAGES` has the topics it reads and writes.

    `handle` gets the message's bytes and returns what to send on, or None. It may wait as long as its model needs. It
    raises BadMessage for bytes that are not its record, Unavailable when a part is away (the message is tried again),
    anything else is a fault of the message or of the stage. It must never move a case without being able to do so
    again: a normal return does not mean that the message will not come back. `last_attempt` says that the message goes
    to dead letters after this.
    """

    name: ClassVar[StageName]

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Do the step for one message."""


class PostTriager(Protocol):
    """The part that finds out whom a post attacks; `pipeline.triage.Triager` is the product's."""

    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        """Return the verdict; raises ModelUnavailable or ModelRefused."""


class EvidenceFinder(Protocol):
    """The part that finds the evidence for a post; `pipeline.ground.Grounder` is the product's."""

    async def ground(
        self, post: FlaggedPost, triage: Triage, *, strategy: StrategyName | None = None, last_attempt: bool = False
    ) -> Grounding:
        """Return the evidence, best first, as a strategy plans it; raises BadInput, ModelUnavailable or ModelRefused.

        On the last attempt no chat model is needed.
        """


class ReplyDrafter(Protocol):
    """The part that writes a reply; `pipeline.draft.Drafter` is the product's."""

    async def draft(
        self, post: FlaggedPost, triage: Triage, grounding: Grounding, request: DraftRequest,
        *, last_attempt: bool = False,
    ) -> Draft:  # fmt: skip
        """Return the draft that is asked for; raises ModelUnavailable unless it is the last attempt."""


class TriageStage:
    """The stage that finds out whom a post attacks, and whether a reply is called for."""

    name: ClassVar = StageName.TRIAGE

    def __init__(self, ledger: Ledger, triager: PostTriager) -> None:
        self._ledger = ledger
        self._triager = triager

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Triage one flagged post; dismissed and escalated ones end here."""
        filed = await self._ledger.stages.on_file(decode(value, FlaggedPost))
        if filed.state is not STAGES[self.name].takes:
            return _to_ground(filed.post, filed.triage) if filed.triage and filed.state is CaseState.TRIAGED else None
        triage = await self._triager.triage(filed.post, duplicate_of=filed.duplicate_of)
        step = await self._ledger.stages.triage(filed.post, triage)
        return _to_ground(filed.post, triage) if goes_on(triage.route) and step is not Step.LATE else None


def _to_ground(post: FlaggedPost, triage: Triage) -> Outgoing:
    post = post.model_copy(update={"author_id": None, "thread_id": None})
    return Outgoing(post.key, Triaged(post=post, triage=triage))


ChooseIntent = Callable[[FlaggedPost, Triage], Awaitable[Intent | None]]
"""Find the intent that moderators set for a case; None when they set none for it."""


class GroundStage:
    """The stage that finds the evidence for a post, and chooses the intent of its draft."""

    name: ClassVar = StageName.GROUND

    def __init__(
        self, ledger: Ledger, grounder: EvidenceFinder, default_intent: Intent, choose: ChooseIntent | None = None
    ) -> None:
        self._ledger = ledger
        self._grounder = grounder
        self._intent = default_intent
        self._choose = choose

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Ground one triaged post and ask for its first draft, or for the redraft that the case waits for."""
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
    """The stage that writes the reply that is asked for; of a post in doubt, why there is none yet."""

    name: ClassVar = StageName.DRAFT

    def __init__(self, ledger: Ledger, drafter: ReplyDrafter) -> None:
        self._ledger = ledger
        self._drafter = drafter

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Draft for one grounded post, unless that draft is no longer wanted."""
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
        """Return the request, to avoid also what author and thread were answered elsewhere; that is stored nowhere."""
        replies = await self._ledger.replies.near(message.post.key)
        avoid = tuple(dict.fromkeys((*message.request.avoid, *replies)))
        return message.request.model_copy(update={"avoid": avoid})


class DeskStage:
    """The stage that puts a draft into the moderators' queue."""

    name: ClassVar = StageName.DESK

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        """Queue one draft; the ledger keeps it to one draft a request."""
        await self._ledger.stages.draft(decode(value, Draft))
        return None
