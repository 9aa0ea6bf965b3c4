"""Read drafts from JSON Lines, and judge them with the guard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.domain import Evidence, FlaggedPost, Intent, Source, TargetGroup
from core.errors import describe_errors
from pipeline.guard import Guard, GuardContext, Verdict

PLATFORM = "forum"
"""The platform of every post; a platform's limit decides how long a draft may be."""


class Statement(BaseModel):
    """One piece of a draft's evidence, with its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    institution: str = ""
    title: str = ""
    symbol: str = ""
    year: int = 0

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: object) -> object:
        """Treat fields that are null as left out, so that their defaults apply."""
        return {name: value for name, value in data.items() if value is not None} if isinstance(data, dict) else data


class DraftLine(BaseModel):
    """One draft to judge, with its post and its evidence; `language` is ISO 639-1."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    language: str = Field(pattern=r"^[a-z]{2,3}$")
    groups: tuple[TargetGroup, ...] = ()
    intent: Intent = Intent.INFORMATIVE
    post: str
    evidence: tuple[Statement, ...] = ()
    draft: str

    def context(self) -> GuardContext:
        """Return the context that the draft is judged in; raises ValidationError for a post that is not valid."""
        return GuardContext(
            post=FlaggedPost(platform=PLATFORM, post_id="1", text=self.post),
            language=self.language,
            intent=self.intent,
            evidence=tuple(self._evidence(number, statement) for number, statement in enumerate(self.evidence, 1)),
            groups=self.groups,
        )

    def _evidence(self, number: int, statement: Statement) -> Evidence:
        source = Source(
            institution=statement.institution,
            title=statement.title,
            symbol=statement.symbol,
            locator="",
            year=statement.year,
            url="",
        )
        return Evidence(id=str(number), text=statement.text, groups=self.groups, source=source, language=self.language)


@dataclass(frozen=True)
class BadLine:
    """A line that is not a valid draft: its number, counted from 1, and what is wrong with it."""

    number: int
    message: str


def read(lines: Iterable[bytes]) -> Iterator[DraftLine | BadLine]:
    """Yield each line's draft, or a BadLine; blank lines are skipped."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            draft = DraftLine.model_validate_json(line)
            draft.context()
            yield draft
        except ValidationError as error:
            yield BadLine(number, describe_errors(error, "the line"))


async def judge(guard: Guard, draft: DraftLine) -> Verdict:
    """Return the guard's verdict on one draft."""
    (verdict,) = await guard.judge([draft.draft], draft.context())
    return verdict
