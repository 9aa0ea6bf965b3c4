"""Counter-claims that name two groups, for a post that insults both; to speak of one would leave out the other."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import lru_cache
from importlib.resources import files

from core.domain import AttackKind, Intent, Record, TargetGroup
from kb.claims.loading import ClaimFiles
from kb.claims.records import FiledClaim, Language, Line, Lines, Name

FILE = "two_groups.toml"


class TwoGroups(Record):
    """Counter-claims with places for two groups, the names of groups to put there (`people`), and facts."""

    facts: tuple[Name, ...]
    people: dict[Language, dict[TargetGroup, Line]]
    counter: dict[Intent, Lines]

    def counters(self, first: TargetGroup, second: TargetGroup) -> dict[Intent, Lines]:
        """Return the counter-claims for two groups that `people` names, by intent and language."""
        return {
            intent: {
                language: tuple(_filled_in(text, names[first], names[second]) for text in by_language[language])
                for language, names in self.people.items()
            }
            for intent, by_language in self.counter.items()
        }


def _filled_in(text: str, first: str, second: str) -> str:
    filled = text.format(first=first, second=second)
    return filled[0].upper() + filled[1:]


@lru_cache(maxsize=1)
def two_groups() -> TwoGroups:
    """Return the counter-claims that the package ships."""
    return TwoGroups.model_validate(tomllib.loads(files("kb").joinpath(f"data/{FILE}").read_text("utf-8")))


def naming_both(claim: FiledClaim, attacked: Collection[TargetGroup], on_file: ClaimFiles) -> FiledClaim:
    """Return an insult's entry as it answers a post that surely attacks the groups `attacked`.

    If one of these is not the entry's own, the counter-claims name both groups, and the facts speak of everyone. A
    claim of another kind is returned unchanged.
    """
    shipped, own = two_groups(), on_file.group_of(claim)
    named = shipped.people["en"]
    other = next((group for group in attacked if group is not own and group in named), None)
    if claim.kind is not AttackKind.INSULT or own not in named or other is None:
        return claim
    return claim.model_copy(update={"counter": shipped.counters(own, other), "facts": shipped.facts})
