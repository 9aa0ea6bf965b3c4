"""What a card leaves out and shows on request: a model's reading of the post, and a tournament's duels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.backing import model_reading
from bot.chat.defuse import defuse
from bot.duels import duel_results, duelling_replies
from bot.translation import _
from core.domain import Case, Draft

MAX_NAME = 60
MAX_TEXT = 450


@dataclass(frozen=True)
class DetailSection:
    """Named texts under a heading, with a note on how far to trust them; all of it is defused."""

    heading: str
    note: str
    lines: tuple[tuple[str, str], ...]


def details(case: Case) -> tuple[DetailSection, ...]:
    """Return what models read in a case's post and how they judged its replies; empty if none did."""
    sections = (_reading(case), *(_duels(case.draft) if case.draft else ()))
    return tuple(section for section in sections if section.lines)


def _reading(case: Case) -> DetailSection:
    return DetailSection(
        _("The model's reading of the post"),
        _("Written by a language model, read by nobody; it may be wrong."),
        _defused(model_reading(case)),
    )


def _duels(draft: Draft) -> tuple[DetailSection, DetailSection]:
    return (
        DetailSection(
            _("Replies that met in duels"),
            _("Only the draft is known to have passed the checks; don't send the others."),
            _defused(duelling_replies(draft)),
        ),
        DetailSection(
            _("Duels"), _("A language model gave each reply 0 to 10 points; it may be wrong."),
            _defused(duel_results(draft)),
        ),
    )  # fmt: skip


def _defused(lines: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    shown = ((defuse(name, MAX_NAME), defuse(text, MAX_TEXT)) for name, text in lines)
    return tuple((name, text) for name, text in shown if text)
