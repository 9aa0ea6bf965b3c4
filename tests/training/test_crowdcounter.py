"""CrowdCounter as examples to learn from and posts that are not among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.domain import Intent
from core.errors import BadInput
from evaluation.posts.reading import read_posts
from training.adapters.examples import imitations
from training.crowdcounter import LONGEST, POSTS, write
from training.decisions.records import EXAMPLES, Example, read_lines


def row(post: str, reply: str, kind: str = "questions") -> dict[str, Any]:
    return {"hatespeech": post, "counterspeech": reply, "required_types": kind, "total_types": [kind]}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write a data set of this form: sixty posts to learn from, three others, one of both parts."""
    learned = [row(f"Zorblaxians ruin thing {number}.", "Did they?") for number in range(60)]
    learned += [row("Zorblaxians ruin jokes.", "Ha.", "humour"), row("Zorblaxians talk.", "So? " * LONGEST)]
    tested = [row(f"Zorblaxians spoil thing {number}.", "They mend it.", "contradiction") for number in range(3)]
    tested += [
        row("Zorblaxians spoil thing 0.", "Be kind.", "empathy_affiliation"),
        row("zorblaxians  ruin thing 1.", "?"),
    ]
    for name, rows in (("Train", learned), ("Test", tested)):
        (tmp_path / f"{name}.json").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    return tmp_path


def test_sft_and_evaluate_read_what_is_written(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sheet = write(data, out, None, unseen=100, seed=1)
    assert "60 replies" in sheet and "3 posts of the test part" in sheet
    examples = read_lines(out / EXAMPLES, Example)
    assert {example.intent for example in examples} == {Intent.QUESTIONING}
    assert all(imitations(out))
    posts = read_posts(out / POSTS).posts
    assert not {post.text for post in posts} & {example.post for example in examples}
    assert sorted(len(post.references) for post in posts) == [1, 1, 2]


def test_some_examples_are_drawn_by_the_seed(data: Path, tmp_path: Path) -> None:
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        write(data, tmp_path / name, 20, unseen=1, seed=seed)
    first, again, other = ((tmp_path / name / EXAMPLES).read_text() for name in ("first", "again", "other"))
    assert first == again != other and len(first.splitlines()) == 20


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"Train\.json"):
        write(tmp_path, tmp_path / "out", None, unseen=1, seed=1)
