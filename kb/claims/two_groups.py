"""Counter-claims that name two groups, for a post that insults both; to speak of one would leave out the other."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import lru_cache
from importlib.resources import files
from itertools import permutations

from core.domain import AttackKind, Intent, Record, TargetGroup
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.records import FiledClaim, Language, Line, Lines, Name
from kb.claims.reviews import Reviews, mark

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

    def with_filled_in(self, reviews: Reviews) -> Reviews:
        """Return the reviews with those of each pair's sentences of which a speaker has read the common form."""
        return reviews.with_read(
            (_filled_in(text, names[first], names[second]), language)
            for language, names in self.people.items()
            for by_language in self.counter.values()
            for text in by_language[language]
            if mark(text, language) in reviews.marks
            for first, second in permutations(names, 2)
        )


def _filled_in(text: str, first: str, second: str) -> str:
    filled = text.format(first=first, second=second)
    return filled[0].upper() + filled[1:]


@lru_cache(maxsize=1)
def two_groups() -> TwoGroups:
    """Return the counter-claims that the package ships."""
    return TwoGroups.model_validate(tomllib.loads(files("kb").joinpath(f"data/{FILE}").read_text("utf-8")))


def naming_both(
    claim: FiledClaim, groups: Collection[TargetGroup], attacked: Collection[TargetGroup], on_file: ClaimFiles
) -> FiledClaim:
    """Return an insult's entry as it answers a post on `groups`, of which it surely attacks those in `attacked`.

    If the entry's group is one of `groups` and another group is surely attacked, the counter-claims name both, and the
    facts speak of everyone. Women are never the other group: coarse words for them are thrown at anybody, and readers
    found women named where no one meant them (docs/drafting.md). A claim of another kind is returned unchanged, and so
    is one from a folder of one's own, whose words its curators have chosen.
    """
    if load_claims().claims.get(claim.id) is not claim:
        return claim
    shipped, own = two_groups(), on_file.group_of(claim)
    nameable = shipped.people["en"].keys() - {own, TargetGroup.WOMEN}
    other = next((group for group in attacked if group in nameable), None)
    if claim.kind is not AttackKind.INSULT or own not in groups or own is TargetGroup.OTHER or other is None:
        return claim
    return claim.model_copy(update={"counter": shipped.counters(own, other), "facts": shipped.facts})
