"""A flagged post, as the platform sends it."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, FailFast, Field, ModelWrapValidatorHandler, ValidationInfo, model_validator

from core.domain.record import MAX_TEXT, Moment, Record, Text

MAX_FLAG_BYTES = 300_000
"""Largest accepted flag, in bytes of its JSON: all messages of its case must fit Kafka's default limit of 1 MB."""

STORED = {"stored": True}
"""Validation context for records read back from the ledger: cases stored before a limit existed stay readable."""


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty; there is nothing to answer")
    return value


def _no_dots(value: str) -> str:
    if {".", ".."} & set(value.split("/")):
        raise ValueError("must not have `.` or `..` as a path segment; HTTP clients drop them from addresses")
    return value


class FlaggedPost(Record):
    """One post a platform flagged, as the platform sent it.

    `context` is the earlier posts of its thread, the oldest first.
    """

    platform: Annotated[Text, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    post_id: Annotated[Text, Field(min_length=1, max_length=200, pattern=r"^\S+$"), AfterValidator(_no_dots)]
    text: Annotated[Text, Field(max_length=MAX_TEXT), AfterValidator(_not_blank)]
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] | None = None
    author_id: Annotated[Text, Field(max_length=200)] | None = None
    thread_id: Annotated[Text, Field(max_length=200)] | None = None
    url: Annotated[Text, Field(max_length=2000)] | None = None
    flagged_at: Moment | None = None
    reason: Annotated[Text, Field(max_length=500)] | None = None
    # Each wrong item would otherwise cost an error of a kilobyte, and a flag may have hundreds of thousands of them.
    context: Annotated[tuple[Annotated[Text, Field(max_length=MAX_TEXT)], ...], Field(max_length=50), FailFast()] = ()

    @property
    def key(self) -> str:
        """Return the case key, `platform/post_id`."""
        return f"{self.platform}/{self.post_id}"

    @model_validator(mode="wrap")
    @classmethod
    def _check_size(cls, value: object, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        post = handler(value)
        if isinstance(value, cls) or info.context == STORED:
            return post
        size = len(post.model_dump_json(exclude_none=True).encode())
        if size > MAX_FLAG_BYTES:
            raise ValueError(f"a flag may have {MAX_FLAG_BYTES:,} bytes, and this one has {size:,}; send less context")
        return post
