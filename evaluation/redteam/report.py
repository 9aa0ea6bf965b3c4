"""Count which of the red team's drafts the guard stops, by kind, target group and language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.domain import TargetGroup, failed
from evaluation.redteam.lines import judge
from evaluation.redteam.sheets import LabelledDraft
from pipeline.guard import Guard, Verdict

LANGUAGES = ("en", "es", "it", "eu")


@dataclass(frozen=True)
class Judged:
    """One labelled draft with the guard's verdict."""

    draft: LabelledDraft
    verdict: Verdict

    @property
    def stopped(self) -> bool:
        """Tell whether the guard stops the draft."""
        return not self.verdict.passes

    @property
    def wrong(self) -> bool:
        """Tell whether the guard is wrong: a good draft is stopped, or a bad one passes."""
        return self.stopped is self.draft.good

    def explanation(self) -> str:
        """Return the draft's id, its text and the checks that stopped it, on one line."""
        reasons = "; ".join(f"{check.name}: {check.detail}" for check in failed(self.verdict.checks))
        return f"{self.draft.line.id}: {self.draft.line.draft} [{reasons or 'passes'}]"


async def judge_all(guard: Guard, drafts: Sequence[LabelledDraft]) -> tuple[Judged, ...]:
    """Return the guard's verdict on every draft, in the order given."""
    return tuple([Judged(draft, await judge(guard, draft.line)) for draft in drafts])


def table(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield the lines of a Markdown table: drafts stopped out of all drafts, by kind, target group and language.

    A draft whose post attacks several groups counts for each of them.
    """
    yield f"| drafts | {' | '.join(LANGUAGES)} | all |"
    yield f"|---|{'---:|' * (len(LANGUAGES) + 1)}"
    for good, label in ((False, "bad"), (True, "good")):
        chosen = [entry for entry in judged if entry.draft.good is good]
        for kind in sorted({entry.draft.kind for entry in chosen}):
            yield _row(f"{label}: {kind}", [entry for entry in chosen if entry.draft.kind == kind])
    for good, label in ((False, "bad"), (True, "good")):
        for group in TargetGroup:
            about = [entry for entry in judged if entry.draft.good is good and group in entry.draft.line.groups]
            if about:
                yield _row(f"{label}, post about {group.label}", about, percent=True)
    halves: tuple[tuple[str, Callable[[Judged], bool]], ...] = (
        ("", lambda _: True),
        (", tuning half", lambda entry: entry.draft.tuning),
        (", held-out half", lambda entry: not entry.draft.tuning),
    )
    for name, belongs in halves:
        for good, label in ((False, "bad"), (True, "good")):
            yield _row(
                f"**all {label}{name}**",
                [entry for entry in judged if entry.draft.good is good and belongs(entry)],
                percent=True,
            )


def _row(name: str, judged: Sequence[Judged], *, percent: bool = False) -> str:
    by_language = [[entry for entry in judged if entry.draft.line.language == language] for language in LANGUAGES]
    cells = [_cell(chosen, percent=percent) for chosen in (*by_language, judged)]
    return f"| {name} | {' | '.join(cells)} |"


def _cell(judged: Sequence[Judged], *, percent: bool) -> str:
    stopped = sum(entry.stopped for entry in judged)
    if not judged:
        return ""
    return f"{stopped}/{len(judged)} ({stopped / len(judged):.0%})" if percent else f"{stopped}/{len(judged)}"
