"""One decision on many cases: each case is compared and set separately, and each failure is reported."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, FailFast, Field, model_validator

from bot.desk import Desk
from bot.http_errors import answer_body, brief
from bot.permissions import Moderator
from core.domain import MAX_TEXT, Action, Decision, Text
from core.errors import RejoinderError

MOST_AT_ONCE = 100
ON_MANY = (Action.APPROVE, Action.REJECT, Action.DISMISS, Action.ASSIGN, Action.UNDO)


class SeenCase(BaseModel):
    """A case as it was on the screen: its version and, for an approval, the reply."""

    key: str
    version: int
    text: Annotated[Text, Field(max_length=MAX_TEXT)] | None = None


class ManyDecisions(BaseModel):
    """A decision on several cases, with one reason; `uncovered` means that the post they share was uncovered."""

    action: Action
    cases: Annotated[tuple[SeenCase, ...], Field(max_length=MOST_AT_ONCE), FailFast()]
    reason: Annotated[Text, Field(max_length=500)] | None = None
    assignee: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    uncovered: bool | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.action not in ON_MANY:
            raise ValueError(f"can't be done to many cases at once; what can is {', '.join(ON_MANY)}")
        if not self.cases:
            raise ValueError("names no cases")
        if self.action is Action.APPROVE and any(seen.text is None for seen in self.cases):
            raise ValueError("needs the text of each reply, as it was shown")
        return self

    def decision(self, seen: SeenCase) -> Decision:
        """Return the decision on one of the cases."""
        return Decision(
            action=self.action, version=seen.version, text=seen.text, reason=self.reason, assignee=self.assignee,
            uncovered=self.uncovered,
        )  # fmt: skip


async def decide_many(desk: Desk, many: ManyDecisions, who: Moderator) -> list[dict[str, Any]]:
    """Decide on each case in turn and return the results in the same order.

    A case that has changed, is claimed by another moderator or fails its checks stays as it is; the others are still
    decided.
    """
    return [await _decide(desk, seen, many.decision(seen), who) for seen in many.cases]


async def _decide(desk: Desk, seen: SeenCase, decision: Decision, who: Moderator) -> dict[str, Any]:
    try:
        case = await desk.decide(seen.key, decision, who)
    except RejoinderError as error:
        return {"key": seen.key, "done": False, **answer_body(error)}
    return {"done": True, **brief(case)}
