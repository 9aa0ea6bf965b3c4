"""Gather examples from all closed cases, without repeats and contradictions, and only if enough people decided."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from core.domain import Intent
from core.errors import BadInput
from ledger.decided_cases import DecidedCase
from training.decisions.reading import Rejected, lesson_of
from training.decisions.records import (
    EXAMPLES,
    PREFERENCES,
    VERDICTS,
    Example,
    Outcome,
    Preference,
    Verdict,
    write_lines,
)

ExampleOrPreference = TypeVar("ExampleOrPreference", Example, Preference)
ExampleKey = tuple[str, Intent, str]
PreferenceKey = tuple[str, Intent, str, str]


@dataclass
class Gathered:
    """The examples gathered so far, keyed by their folded texts and intent, which identify repeats."""

    cases: int = 0
    repeats: int = 0
    contradictions: int = 0
    examples: dict[ExampleKey, Example] = field(default_factory=dict)
    preferences: dict[PreferenceKey, Preference] = field(default_factory=dict)
    rejected: dict[ExampleKey, Rejected] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)

    def add(self, decided: DecidedCase) -> None:
        """Add a case's examples; a repeat only adds its raters to the first occurrence."""
        self.cases += 1
        lesson = lesson_of(decided)
        for example in lesson.examples:
            key = _key(example)
            earlier = self.examples.get(key)
            self.repeats += earlier is not None
            self.examples[key] = example if earlier is None else _with_raters(earlier, example.raters)
        for preference in lesson.preferences:
            self.prefer(preference)
        for rejected in lesson.rejected:
            self.rejected.setdefault(_key(rejected.example), rejected)
        self.verdicts.extend(lesson.verdicts)

    def prefer(self, preference: Preference) -> None:
        """Add a preference, or only its raters if it is known; equal texts count as a contradiction."""
        texts = (preference.post, preference.chosen, preference.rejected)
        post, chosen, rejected = map(folded, texts)
        if chosen == rejected:
            self.contradictions += 1
            return
        key = (post, preference.intent, chosen, rejected)
        earlier = self.preferences.get(key)
        self.repeats += earlier is not None
        raters = () if earlier is None else earlier.raters
        self.preferences[key] = _with_raters(preference, raters)

    def finish(self) -> None:
        """Pair rejected drafts with replies sent to the same text, then drop preferences that contradict each other."""
        sent: dict[tuple[str, Intent], list[Example]] = defaultdict(list)
        for (post, intent, _), example in self.examples.items():
            sent[post, intent].append(example)
        for (post, intent, _), rejected in self.rejected.items():
            for example in sent[post, intent]:
                self.prefer(_paired(rejected, example))
        for key in list(self.preferences):
            post, intent, chosen, worse = key
            opposite = (post, intent, worse, chosen)
            if key in self.preferences and opposite in self.preferences:
                del self.preferences[key], self.preferences[opposite]
                self.contradictions += 1

    def raters(self) -> Counter[str]:
        """Count each person's decisions."""
        verdicts = Counter(verdict.rater for verdict in self.verdicts)
        return verdicts + Counter(rater for example in self.examples.values() for rater in example.raters)


async def gather(decided_cases: AsyncIterable[DecidedCase], least_raters: int) -> Gathered:
    """Return the examples from all closed cases; raises BadInput if fewer than `least_raters` people decided them."""
    gathered = Gathered()
    async for decided in decided_cases:
        gathered.add(decided)
    gathered.finish()
    require_raters(gathered.raters(), least_raters)
    return gathered


def require_raters(raters: Iterable[str], least: int) -> None:
    """Raise BadInput if too few people decided: a model would learn, and reveal, one person's taste."""
    people = len(set(raters))
    if people < least:
        raise BadInput(
            f"The decisions are of {people} moderators, and {least} are the least: fewer would be one person's taste. "
            "Wait for more decisions, or lower --min-raters."
        )


def write(gathered: Gathered, out: Path) -> None:
    """Write the three files, sorted so that the order does not reveal case keys."""
    out.mkdir(parents=True, exist_ok=True)
    examples = sorted(gathered.examples.values(), key=lambda line: (line.post, line.reply))
    preferences = sorted(gathered.preferences.values(), key=lambda line: (line.post, line.chosen, line.rejected))
    verdicts = sorted(gathered.verdicts, key=lambda line: (line.case, line.outcome, line.counter, line.fact))
    write_lines(out / EXAMPLES, examples)
    write_lines(out / PREFERENCES, preferences)
    write_lines(out / VERDICTS, verdicts)


def folded(text: str) -> str:
    """Return a text without differences of case and spacing, to recognise repeats."""
    return " ".join(text.casefold().split())


def _key(example: Example) -> ExampleKey:
    return folded(example.post), example.intent, folded(example.reply)


def _with_raters(line: ExampleOrPreference, raters: tuple[str, ...]) -> ExampleOrPreference:
    return line.model_copy(update={"raters": tuple(sorted({*line.raters, *raters}))})


def _paired(rejected: Rejected, example: Example) -> Preference:
    return Preference(
        post=example.post,
        language=example.language,
        groups=example.groups,
        intent=example.intent,
        chosen=example.reply,
        rejected=rejected.example.reply,
        outcome=Outcome.REJECTED,
        reason=rejected.reason,
        raters=tuple(sorted({*example.raters, *rejected.example.raters})),
    )
