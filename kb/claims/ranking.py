"""Rank claims, counter-claims and facts by what moderators were found to approve, and for which posts.

A ranker is a list of named weights. `rejoinder train rank` learns one and files it, with a card, under a name; it is
used once `kb.ranker` has that name. Without a ranker, the order is that of the matching and of the files.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from core.domain import Intent, Record, TargetGroup
from core.errors import BadSettings, KnowledgeBaseError, describe_errors
from kb.claims.records import FiledClaim, FiledFact

FOLDER, FILE, CARD = "rankers", "ranker.json", "card.md"
"""Each ranker has a folder under the data folder, with its weights and its card."""
SHORT_FACT = 160
"""Most characters of a fact's English text that counts as short."""


@dataclass(frozen=True)
class Occasion:
    """The post for which a choice is made: the language of its reply, and the group that it surely attacks."""

    language: str
    group: TargetGroup | None


class Weights(Record):
    """A ranker's file: a digest of what it was learned from, and the weight of each feature, as log odds."""

    learned_from: str
    weights: dict[str, float]


@dataclass(frozen=True)
class ClaimRanker:
    """Weights of features by name; an unknown feature weighs 0, so that new entries are neither raised nor lowered."""

    weights: Mapping[str, float]

    def in_order(
        self, claims: Sequence[FiledClaim], scores: Mapping[str, float], occasion: Occasion
    ) -> list[FiledClaim]:
        """Return claims, the likeliest to be approved first, given their probabilities by id; ties keep their order."""
        return sorted(claims, key=lambda claim: -(_log_odds(scores[claim.id]) + self.claim(claim, occasion)))

    def claim(self, claim: FiledClaim, occasion: Occasion) -> float:
        """Return how much likelier than others an answer to a claim is to be approved, as log odds."""
        return self._sum(claim_features(claim, occasion))

    def counter(self, claim: FiledClaim, text: str, intent: Intent, occasion: Occasion) -> float:
        """Return the same for a counter-claim."""
        return self._sum(counter_features(claim, text, intent, occasion))

    def fact(self, claim: FiledClaim, fact: FiledFact, occasion: Occasion) -> float:
        """Return the same for a fact that answers a claim."""
        return self._sum(fact_features(claim, fact, occasion))

    def _sum(self, features: tuple[str, ...]) -> float:
        return sum(self.weights.get(feature, 0.0) for feature in features) if self.weights else 0.0


COLD = ClaimRanker({})
"""The ranker that has learned nothing and leaves every order as it is."""


def claim_features(claim: FiledClaim, occasion: Occasion) -> tuple[str, ...]:
    """Return the features of a claim for a post."""
    return (f"claim:{claim.id}", f"claim.kind:{claim.kind}", f"claim.kind:{claim.kind}|group:{occasion.group}")


def counter_features(claim: FiledClaim, text: str, intent: Intent, occasion: Occasion) -> tuple[str, ...]:
    """Return the features of a counter-claim for a post."""
    asks = "asks" if text.rstrip().endswith("?") else "states"
    return (
        f"counter:{hashlib.sha256(text.encode()).hexdigest()[:12]}",
        f"counter.form:{intent}|{asks}",
        f"counter.form:{intent}|{asks}|group:{occasion.group}",
        f"counter.kind:{intent}|{claim.kind}",
    )


def fact_features(claim: FiledClaim, fact: FiledFact, occasion: Occasion) -> tuple[str, ...]:
    """Return the features of a fact for a post and the claim that it answers."""
    properties = (
        f"fact.kind:{fact.kind}",
        f"fact.region:{fact.region.casefold()}",
        f"fact.institution:{fact.institution}",
        f"fact.strength:{fact.strength}",
        f"fact.length:{'short' if len(fact.text['en']) <= SHORT_FACT else 'long'}",
        f"fact.figures:{'some' if fact.figures else 'none'}",
    )
    return (
        f"fact:{fact.id}",
        f"fact:{fact.id}|claim:{claim.id}",
        *properties,
        *(f"{each}|group:{occasion.group}" for each in properties),
        f"fact.kind:{fact.kind}|claim.kind:{claim.kind}",
    )


def load_ranker(data_dir: Path, name: str) -> ClaimRanker:
    """Return the ranker with this name, or COLD for an empty name.

    Raises BadSettings that lists the names on file, and KnowledgeBaseError for a file that can't be read.
    """
    if not name:
        return COLD
    if name not in names_on_file(data_dir):
        known = ", ".join(names_on_file(data_dir)) or "none; make one with `rejoinder train rank`"
        raise BadSettings(f"kb.ranker is {name!r}, and no such ranker is on file under {data_dir / FOLDER} ({known}).")
    path = data_dir / FOLDER / name / FILE
    try:
        return ClaimRanker(Weights.model_validate_json(path.read_text(encoding="utf-8")).weights)
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeBaseError(f"{path} can't be read: {error}. Learn it anew, or empty kb.ranker.") from error
    except ValidationError as error:
        raise KnowledgeBaseError(f"{path}: {describe_errors(error)}. Learn it anew, or empty kb.ranker.") from error


def names_on_file(data_dir: Path) -> list[str]:
    """Return the names of the rankers on file."""
    return sorted(path.parent.name for path in (data_dir / FOLDER).glob(f"*/{FILE}"))


def save_ranker(folder: Path, weights: Weights) -> Path:
    """Write a ranker's file and return its path; the same weights give the same bytes."""
    path = folder / FILE
    path.write_text(json.dumps(weights.model_dump(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(bounded / (1 - bounded))
