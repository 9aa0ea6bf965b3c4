"""Rehearse the learning loop: scripted moderators decide, `train pairs` and `train rank` learn from it.

The gain is measured on unseen posts. Posts are wordings of claims on file; everything else is the product itself:
pipeline, desk, ledger, and the commands as a user types them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bot.desk import Desk
from bot.permissions import Moderator
from core.domain import (
    Action,
    Decision,
    Draft,
    DraftRequest,
    FlaggedPost,
    Grounding,
    GroupScore,
    Origin,
    Route,
    TargetGroup,
    Triage,
)
from core.errors import RejoinderError
from core.settings import DeskSettings, DraftSettings, KnowledgeBaseSettings, Settings
from evaluation.significance import Difference, Interval, interval, paired
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.records import FactKind, FiledFact
from ledger import Ledger
from rejoinder.assembly import Pipeline, open_ledger, open_pipeline
from rejoinder.guard_assembly import open_guard

NAME = "rehearsal"
SHORT = 200
"""Most characters of a fact that the moderator who likes short facts likes."""
LIKED, DISLIKED = 0.9, 0.3
"""The probabilities that a moderator approves a draft that meets their taste, and one that doesn't."""


@dataclass(frozen=True)
class Taste:
    """A scripted moderator's taste: whether they like a fact in the reply to a post against a group."""

    name: str
    likes: Callable[[FiledFact, TargetGroup], bool]


TASTES = (
    Taste("rules-first", lambda fact, group: fact.kind is FactKind.NORM),
    Taste(
        "figures-for-migrants",
        lambda fact, group: (fact.kind is FactKind.FINDING) == (group is TargetGroup.MIGRANTS),
    ),
    Taste("short", lambda fact, group: len(fact.text["en"]) <= SHORT),
)
"""Like people's, these tastes overlap only in part."""


@dataclass(frozen=True)
class Rehearsal:
    """The result: acceptance of drafts for unseen posts, over all tastes, before and after learning from the decisions.

    `changed` is the share of unseen posts whose draft has another fact afterwards.
    """

    decided: int
    unseen: int
    before: Interval
    after: Interval
    difference: Difference
    changed: float

    def table(self) -> str:
        """Return the figures as lines of text."""
        gain = self.difference.interval
        return (
            f"{self.decided} cases decided by {len(TASTES)} scripted moderators; {self.unseen} unseen posts, drafted "
            f"twice, each judged by all.\n"
            f"accepted before: {_written(self.before)}\naccepted after:  {_written(self.after)}\n"
            f"difference:      {_written(gain)}, p = {self.difference.p:.4f} (paired permutation test); "
            f"{self.changed:.0%} of the drafts changed"
        )


async def rehearse(folder: Path, cases: int, unseen: int, seed: int) -> Rehearsal:
    """Let moderators decide `cases`, train on them with the real commands, and draft for `unseen` other posts."""
    settings = Settings(data_dir=folder, desk=DeskSettings(undo_s=0), draft=DraftSettings(strategy="compose"))
    posts = _posts(seed)
    async with open_pipeline(settings, STAGES) as pipeline, open_ledger(settings, migrating=True) as ledger:
        decided, used = await _decide(pipeline, ledger, settings, posts, cases, seed)
    commands = (["pairs", "--out", str(folder / "pairs")], ["rank", str(folder / "pairs"), "--name", NAME])
    for command in commands:
        _run_command(["train", *command], folder)
    held_out = posts[used : used + unseen]
    cold = await _drafts(settings, held_out)
    ranked = KnowledgeBaseSettings(ranker=NAME)
    warm = await _drafts(settings.model_copy(update={"kb": ranked}), held_out)
    return _compared(decided, held_out, cold, warm, seed)


STAGES = ("triage", "ground", "draft")


def _posts(seed: int) -> list[tuple[FlaggedPost, TargetGroup]]:
    """Return all English wordings on file as posts, in random order, each with the group of its claim."""
    files = load_claims()
    wordings = [(text, files.group_of(claim)) for claim in files.claims.values() for text in claim.wordings["en"]]
    Random(seed).shuffle(wordings)
    return [
        (FlaggedPost(platform="rehearsal", post_id=f"{number:05}", text=text), group)
        for number, (text, group) in enumerate(wordings)
    ]


async def _answer(
    pipeline: Pipeline, post: FlaggedPost, group: TargetGroup
) -> tuple[Triage, Grounding, DraftRequest, Draft]:
    """Draft for a post as the workers do, but also for posts that triage would dismiss or leave to people."""
    assert pipeline.triager and pipeline.grounder and pipeline.drafter
    triage = await pipeline.triager.triage(post)
    groups = triage.groups or (GroupScore(group=group, score=1.0),)
    triage = triage.model_copy(update={"route": Route.DRAFT, "groups": groups})
    grounding = await pipeline.grounder.ground(post, triage)
    request = DraftRequest()
    return triage, grounding, request, await pipeline.drafter.draft(post, triage, grounding, request)


async def _decide(
    pipeline: Pipeline, ledger: Ledger, settings: Settings, posts: Sequence[tuple[FlaggedPost, TargetGroup]],
    cases: int, seed: int,
) -> tuple[int, int]:  # fmt: skip
    """Bring posts to the desk until `cases` are decided; returns the numbers of decided cases and of posts used."""
    desk, files, decided, used = Desk(ledger, open_guard(settings), settings.desk), load_claims(), 0, 0
    for post, group in posts:
        if decided == cases:
            break
        used += 1
        triage, grounding, request, draft = await _answer(pipeline, post, group)
        fact = _fact_of(draft, files)
        if fact is None:
            continue
        await ledger.stages.receive([post])
        await ledger.stages.triage(post, triage)
        await ledger.stages.ground(post.key, grounding, request)
        await ledger.stages.draft(draft)
        taste = TASTES[decided % len(TASTES)]
        case = await desk.case(post.key)
        if _accepts(taste, fact, triage.groups[0].group, post, seed):
            decision = Decision(action=Action.APPROVE, version=case.version, override=True)
        else:
            decision = Decision(action=Action.REJECT, version=case.version, reason="evidence")
        await desk.decide(post.key, decision, Moderator(taste.name, "lead"))
        decided += 1
    return decided, used


def _accepts(taste: Taste, fact: FiledFact, group: TargetGroup, post: FlaggedPost, seed: int) -> bool:
    """Tell whether a moderator approves. All drafts of a post share the random draw, so that only taste matters."""
    luck = Random(f"{seed}/{taste.name}/{post.key}").random()
    return luck < (LIKED if taste.likes(fact, group) else DISLIKED)


def _fact_of(draft: Draft, files: ClaimFiles) -> FiledFact | None:
    shown = next((each for each in draft.candidates if each.text == draft.text), None)
    if shown is None or shown.origin is not Origin.COMPOSER or len(shown.facts) != 1:
        return None
    return files.facts.get(shown.facts[0])


async def _drafts(
    settings: Settings, posts: Sequence[tuple[FlaggedPost, TargetGroup]]
) -> list[tuple[FiledFact | None, TargetGroup]]:
    files = load_claims()
    drafts = []
    async with open_pipeline(settings, STAGES) as pipeline:
        for post, group in posts:
            triage, _, _, draft = await _answer(pipeline, post, group)
            drafts.append((_fact_of(draft, files), triage.groups[0].group))
    return drafts


def _compared(
    decided: int, posts: Sequence[tuple[FlaggedPost, TargetGroup]],
    cold: Sequence[tuple[FiledFact | None, TargetGroup]], warm: Sequence[tuple[FiledFact | None, TargetGroup]],
    seed: int,
) -> Rehearsal:  # fmt: skip
    """Have every moderator judge both drafts of each post that has two; a post's value is the share that accept."""
    before, after, changed = [], [], 0
    for (post, _), (old, group), (new, _) in zip(posts, cold, warm, strict=True):
        if old is None or new is None:
            continue
        changed += old.id != new.id
        before.append(sum(_accepts(taste, old, group, post, seed) for taste in TASTES) / len(TASTES))
        after.append(sum(_accepts(taste, new, group, post, seed) for taste in TASTES) / len(TASTES))
    difference = paired(after, before, seed)
    return Rehearsal(
        decided, len(before), interval(before, seed), interval(after, seed), difference, changed / len(before)
    )


def _run_command(arguments: Sequence[str], data_dir: Path) -> None:
    """Run a `rejoinder` command on the rehearsal's data folder; raises RejoinderError with its standard error."""
    result = subprocess.run(
        [sys.executable, "-m", "rejoinder.cli", *arguments],
        env={**os.environ, "REJOINDER_DATA_DIR": str(data_dir)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if result.returncode:
        raise RejoinderError(f"`rejoinder {' '.join(arguments)}` failed: {result.stderr.strip()}")


def _written(figure: Interval) -> str:
    return f"{figure.mean:.3f} ({figure.low:.3f} to {figure.high:.3f})"
