"""Settings of how long personal data is kept."""

from __future__ import annotations

from pydantic import Field, model_validator

from core.settings.section import Days, Section


class RetentionSettings(Section):
    """How long personal data is kept in ledger, chats and logs. Unset: for good. 36,500 days are the most."""

    posts_days: Days | None = Field(
        None,
        description="Days after a case's arrival until its texts are deleted, decided or not: post, drafts, reply, "
        "reasons, author.",
    )
    cases_days: Days | None = Field(
        None, description="Days after a case's arrival until all of it is deleted, except for an anonymous tombstone."
    )
    logs_days: Days | None = Field(
        None,
        description="Days that sent messages of the outbox, records of uncovered posts and the log files in the data "
        "folder are kept.",
    )

    @model_validator(mode="after")
    def _check_order(self) -> RetentionSettings:
        if self.posts_days is not None and self.cases_days is not None and self.cases_days < self.posts_days:
            raise ValueError("cases_days is less than posts_days; texts can't outlive their case")
        return self
