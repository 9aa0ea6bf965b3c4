"""Weigh the results of checks together, so that no single doubtful one decides about sentences that a model wrote.

Each check errs by itself, and a reply has to pass two dozen. Where both readers of pairs have judged a reply's free
sentences, checks that measure by words or likelihood are weighed with them, and what they say together decides. Checks
of form, figures, names, exchanged words, agreement, insults, toxicity and repetition stand by themselves. The weights
are fitted to labelled drafts (`rejoinder train weighing`); figures and limits are in `pipeline/data/weighing.md`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from core.domain import Check, failed
from core.errors import WeightsError
from pipeline.guard.judged import UNREAD, judged_parts, reads_evidence, unjudged
from pipeline.guard.material import Material

FILE = "weighing.toml"
NAME = "overall"
"""The name of the check that says what all others come to."""
READERS = ("opposes", "grounded")
"""The checks whose probabilities count; where one of them is missing, nothing is weighed."""
WEAKEST = "weakest"
"""The weight of the lower of the readers' log odds."""
FLAGS = ("supported", "overclaim", "echo", "garbled", "fits", "topic")
"""The checks whose failures count."""
COPIED_CLAUSE, OPPOSITE = 1.0, 0.0
"""Values at which failures of `echo` and `supported` stand: a clause of the post, the opposite of the evidence."""
SUREST = 0.996
"""Highest probability that counts as such, so that a reader that is sure does not outweigh all else."""


@dataclass(frozen=True)
class Weights:
    """Weights of the readers' log odds and of failures, by name, for the log odds that a reply is fit to show."""

    bias: float
    readers: Mapping[str, float]
    failures: Mapping[str, float]

    def probability(self, readers: Mapping[str, float], failures: Iterable[str]) -> float:
        """Return the probability, 0 to 1, that a reply is fit to show."""
        log_odds = readings(readers)
        total = self.bias + sum(self.readers[name] * value for name, value in log_odds.items())
        return 1 / (1 + math.exp(-total - sum(self.failures[name] for name in failures)))


@dataclass(frozen=True)
class Weighing:
    """The weighing of checks: weights and limits for languages that the larger model reads, and for others."""

    limit: float
    reread_limit: float = 1.0
    reread: frozenset[str] = frozenset()
    """Languages (ISO 639-1) in which the larger model reads beside the layers."""

    def may_weigh(self, reply: Material) -> bool:
        """Tell whether the reply has sentences that readers judge, and evidence that they can read."""
        return bool(judged_parts(reply)) and reads_evidence(reply)

    def weigh(self, checks: Sequence[Check], reply: Material) -> tuple[Check, ...]:
        """Return the checks with what they come to, the check NAME, at the end; if it passes, the others are advice.

        They are returned as they are if a failure stands, if a reader could not read the reply, or if none needed to.
        """
        read = {check.name: check.value for check in checks if check.name in READERS}
        if len(read) < len(READERS) or UNREAD in read.values() or not self.may_weigh(reply):
            return tuple(checks)
        if unjudged(checks) or firm_failures(checks):
            return tuple(checks)
        reread = reply.language in self.reread
        weights = shipped_weights()["reread" if reread else "layers"]
        limit = self.reread_limit if reread else self.limit
        failures = [check.name for check in failed(checks)]
        overall = _overall(weights.probability(read, failures), limit)
        if overall.passed:
            checks = [each.model_copy(update={"hard": False}) if each.name in failures else each for each in checks]
        return *checks, overall


def _overall(probability: float, limit: float) -> Check:
    detail = f"Fit to show with a probability of {probability:.0%}; {limit:.0%} is the least."
    return Check(
        name=NAME,
        passed=probability >= limit,
        value=round(probability, 3),
        threshold=limit,
        hard=True,
        detail=detail,
    )


def may_outweigh(check: Check) -> bool:
    """Tell whether a failure of this check may be outweighed by what the others say."""
    return check.name in FLAGS and (check.name, check.value) not in (("echo", COPIED_CLAUSE), ("supported", OPPOSITE))


def firm_failures(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return the failures that stand, whatever else is found."""
    return tuple(check for check in failed(checks) if not may_outweigh(check))


def outweighed(checks: Iterable[Check]) -> frozenset[str]:
    """Return the names of the failures that a weighing has made advice."""
    listed = list(checks)
    if not any(check.name == NAME and check.passed for check in listed):
        return frozenset()
    return frozenset(check.name for check in listed if check.name in FLAGS and not check.passed and not check.hard)


def readings(readers: Mapping[str, float]) -> dict[str, float]:
    """Return the log odds of the readers' probabilities, and the lowest as WEAKEST."""
    log_odds = {name: _log_odds(readers[name]) for name in READERS}
    return {**log_odds, WEAKEST: min(log_odds.values())}


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1 - SUREST), SUREST)
    return math.log(bounded / (1 - bounded))


@lru_cache(maxsize=1)
def shipped_weights() -> Mapping[str, Weights]:
    """Return the shipped weights: `reread` where the larger model reads too, `layers` elsewhere.

    Raises WeightsError for a file that is missing or damaged.
    """
    file = files("pipeline") / "data" / FILE
    try:
        return {name: Weights(**entry) for name, entry in tomllib.loads(file.read_text("utf-8")).items()}
    except (OSError, TypeError, ValueError) as error:
        raise WeightsError(
            f"The weights of checks can't be read from {file} ({error}): install Rejoinder again."
        ) from error
