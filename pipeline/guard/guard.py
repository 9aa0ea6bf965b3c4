"""Run all checks on a reply, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.domain import Check
from core.settings import GuardSettings
from pipeline.guard import form, harm, leak
from pipeline.guard.echo import no_echo
from pipeline.guard.material import GuardContext, Material, material
from pipeline.guard.names import names
from pipeline.guard.numbers import numbers
from pipeline.guard.repeat import not_repeated
from pipeline.guard.stance import takes_stance
from pipeline.guard.support import supported, uses_evidence

if TYPE_CHECKING:
    from models.toxicity import Toxicity

CHECKS: tuple[Callable[[Material, GuardSettings], Check], ...] = (
    form.not_empty,
    form.length,
    form.two_sentences,
    form.same_language,
    form.plain_characters,
    form.no_mentions,
    form.no_links,
    form.no_markup,
    leak.no_refusal,
    leak.no_leak,
    no_echo,
    takes_stance,
    numbers,
    names,
    supported,
    harm.no_insult,
    not_repeated,
    uses_evidence,
)


class Guard:
    """Judge replies before anybody is shown them, and texts that a moderator edited."""

    def __init__(self, settings: GuardSettings, toxicity: Toxicity) -> None:
        self.settings = settings
        self._toxicity = toxicity

    def check(self, text: str, ctx: GuardContext) -> tuple[Check, ...]:
        """Return every check's result for `text`, always in the same order; the text may be of any length."""
        reply = material(text, ctx)
        toxicity = harm.not_toxic(reply, self.settings, self._toxicity)
        return (*(check(reply, self.settings) for check in CHECKS), toxicity)
