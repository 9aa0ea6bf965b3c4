"""Compare two runs on the same posts: what improved, what got worse, and which changes may be chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.errors import BadInput
from evaluation.records import REFERENCES
from evaluation.report.data import ScoredRun
from evaluation.run import RunFolder
from evaluation.significance import Difference, holm, paired

ALPHA = 0.05


@dataclass(frozen=True)
class Change:
    """How one metric of one system changed between two runs; `p` is corrected for the number of changes tested."""

    system: str
    metric: str
    before: float
    after: float
    difference: Difference
    p: float
    gain: float
    """The improvement as a share of the old value, negative for a loss; 0 for a metric without a better direction."""

    def regressed(self, tolerance: float) -> bool:
        """Tell whether the metric lost more than `tolerance`, a share of its old value, with `p` below ALPHA."""
        return self.gain < -tolerance and self.p < ALPHA


@dataclass(frozen=True)
class Comparison:
    """All changes between two runs."""

    changes: tuple[Change, ...]
    tolerance: float

    @property
    def regressions(self) -> tuple[Change, ...]:
        """Return the changes that count as regressions under this comparison's tolerance."""
        return tuple(change for change in self.changes if change.regressed(self.tolerance))

    def lines(self) -> Iterator[str]:
        """Yield a Markdown table of the changes, then the number of regressions."""
        yield "| system | metric | posts | old | new | difference [95 %] | p (Holm) | |"
        yield "|---|---|---:|---:|---:|---:|---:|---|"
        for change in self.changes:
            spread = change.difference.interval
            worse = "WORSE" if change.regressed(self.tolerance) else ""
            yield (
                f"| {change.system} | {change.metric} | {change.difference.pairs} | {change.before:.3f} | "
                f"{change.after:.3f} | {spread.mean:+.3f} [{spread.low:+.3f}, {spread.high:+.3f}] | {change.p:.4f} | "
                f"{worse} |"
            )
        yield f"\n{len(self.regressions)} of {len(self.changes)} figures got worse."


def compare(old: RunFolder, new: RunFolder, tolerance: float) -> Comparison:
    """Return the change of each metric for each system, over the metrics and systems that both runs have.

    Raises BadInput if a run was not scored, or if the runs answer different posts or have no system in common.
    """
    before, after = ScoredRun.load(old), ScoredRun.load(new)
    if old.manifest().posts_sha256 != new.manifest().posts_sha256:
        raise BadInput(
            f"{old.path} and {new.path} are runs of different posts, so that their figures can't be compared."
        )
    systems = [name for name in before.names if name in after.names and name != REFERENCES]
    if not systems:
        raise BadInput(f"{old.path} and {new.path} have no system in common.")
    raw = list(_changes(before, after, systems))
    corrected = holm([difference.p for _, _, difference, _, _ in raw])
    changes = tuple(
        Change(system, metric, mean_before, mean_after, difference, p, _gain(before, metric, mean_before, mean_after))
        for (system, metric, difference, mean_before, mean_after), p in zip(raw, corrected, strict=True)
    )
    return Comparison(changes, tolerance)


def _changes(
    before: ScoredRun, after: ScoredRun, systems: list[str]
) -> Iterator[tuple[str, str, Difference, float, float]]:
    for system in systems:
        for metric in (name for name in before.columns if name in after.columns):
            old_values, new_values = before.shared(metric, system, after)
            if len(old_values) >= 2:
                difference = paired(new_values, old_values, before.seed)
                yield system, metric, difference, float(old_values.mean()), float(new_values.mean())


def _gain(run: ScoredRun, metric: str, before: float, after: float) -> float:
    better = run.totals["metrics"][metric]["higher_is_better"]
    if better is None:
        return 0.0
    change = (after - before) / max(abs(before), 1e-9)
    return change if better else -change
