"""What triage must do with real flags that nothing was trained on or calibrated with, all of its parts together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.domain import Route, Triage
from core.settings import Settings, TriageSettings
from models import catalog, weights
from models.embed import Embedder
from models.mpnet import NAME
from pipeline.post_reader import PostReader
from pipeline.triage import Triager
from tests.factories import make_post

pytest.importorskip("sklearn", reason="the data sets are read by what trains")
from sklearn.metrics import f1_score

from training.heads.data import part_of_flag
from training.heads.sample import Part

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

FLAGS = Path(__file__).parents[4] / "shared" / "data" / "flags"
FEWEST = 5
"""Fewest posts of a group that counts in macro-F1, as on the model cards."""


def flags_to_report() -> list[dict[str, Any]]:
    """Return the flagged posts that figures are reported on, with their labels and targets."""
    if not FLAGS.is_dir():
        pytest.skip("the flagged posts (../shared/data/flags) are not beside this checkout")
    posts, labels = (
        [json.loads(line) for line in (FLAGS / name).read_text("utf-8").splitlines()]
        for name in ("real_posts.jsonl", "real_posts.labels.jsonl")
    )
    flags = [post | label for post, label in zip(posts, labels, strict=True)]
    return [flag for flag in flags if part_of_flag(f"{flag['post_id']}_{flag['platform']}") is Part.REPORT]


def larger_model() -> PostReader:
    """Load the reader of posts; skips the test if its weights were not fetched."""
    entry, folder = catalog.find(NAME), Settings().weights_dir
    if not weights.installed(entry, folder):
        pytest.skip(f"the larger model was not fetched: rejoinder models pull {NAME}")
    return PostReader.load(folder / entry.file)


def surest(triage: Triage) -> str:
    """Return the group that triage names first; a post without one is never right."""
    return triage.groups[0].group.value if triage.groups else "none"


def macro_f1(named: Sequence[tuple[Collection[str], str]]) -> float:
    """Return the mean F1 of the groups, of the posts that attack one group."""
    pairs = [(next(iter(targets)), group) for targets, group in named if len(targets) == 1]
    often = [group for group, count in Counter(target for target, _ in pairs).items() if count >= FEWEST]
    return float(f1_score(*zip(*pairs, strict=True), labels=often, average="macro"))


@pytest.mark.parametrize(
    ("rereads", "right", "f1"), [(True, 0.94, 0.88), (False, 0.88, 0.87)], ids=["larger model", "small models"]
)
async def test_flags_reach_the_right_group_and_harmless_ones_get_no_draft(
    embedder: Embedder, rereads: bool, right: float, f1: float
) -> None:
    flags = flags_to_report()
    triager = Triager(embedder, TriageSettings(), larger_model() if rereads else None)
    found = [await triager.triage(make_post(text=flag["text"], language=flag["language"])) for flag in flags]

    attacks = [
        (flag["targets"], surest(triage))
        for flag, triage in zip(flags, found, strict=True)
        if flag["targets"] and flag["label"] != "normal"
    ]
    assert len(attacks) > 350
    assert sum(group in targets for targets, group in attacks) / len(attacks) >= right
    assert macro_f1(attacks) >= f1

    held_back: dict[str, list[bool]] = {"normal": [], "offensive": [], "hate": []}
    for flag, triage in zip(flags, found, strict=True):
        held_back[flag["label"]].append(triage.route in (Route.DOUBT, Route.DISMISS))
    shares = {label: sum(held) / len(held) for label, held in held_back.items()}
    assert shares["normal"] >= 0.5
    assert shares["hate"] <= 0.05
