"""The yardstick as it is on file: whole, halved, and never learned from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from core.errors import BadInput
from evaluation.evidence.yardstick import FRESH, HERE, grades_by_claims, read_fresh, read_grades, read_posts
from kb.claims.loading import load_claims
from training.claims.data import LABELS

DATA = Path(__file__).parents[3] / "../shared/data"


def _ids(path: Path) -> set[str]:
    return {line.split("\t")[0] for line in path.read_text("utf-8").splitlines() if not line.startswith("#")}


def test_sixty_posts_are_written_out_and_both_halves_have_their_share() -> None:
    posts = read_posts(None)
    assert Counter(post.language for post in posts) == {"es": 20, "it": 20, "eu": 20}
    assert len({post.id for post in posts}) == 60
    assert 20 <= Counter(post.half for post in posts)["report"] <= 40


def test_the_other_posts_are_found_in_the_data_sets() -> None:
    if not DATA.is_dir():
        pytest.skip("the data sets (../shared/data) are not beside this checkout")
    posts = read_posts(DATA)
    assert len(posts) == 240
    assert _ids(HERE / "groups.tsv") == _ids(HERE / "held_out.txt")


def test_no_post_of_the_yardstick_is_learned_from() -> None:
    assert not _ids(LABELS) & (_ids(HERE / "held_out.txt") | {post.id for post in read_posts(None)})


def test_every_grade_is_of_a_post_on_the_yardstick_and_given_twice() -> None:
    ids = _ids(HERE / "held_out.txt") | {post.id for post in read_posts(None)}
    assert all(
        post in ids and len(grades) == 2 and set(grades) <= {0, 1, 2} for (post, _), grades in read_grades().items()
    )


def test_a_post_that_no_data_set_has_is_named(tmp_path: Path) -> None:
    (tmp_path / "written.toml").write_text("post = []", encoding="utf-8")
    (tmp_path / "groups.tsv").write_text("mlma:gone\twomen\n", encoding="utf-8")
    if not DATA.is_dir():
        pytest.skip("the data sets (../shared/data) are not beside this checkout")
    with pytest.raises(BadInput, match="mlma:gone"):
        read_posts(DATA, tmp_path)


EACH_OF_FOUR = "en", "es", "it", "eu"
SETS = [
    ("fresh", dict.fromkeys(EACH_OF_FOUR, 15), 20),
    ("second_fresh", dict.fromkeys(EACH_OF_FOUR, 30), 40),
    ("third_fresh", dict.fromkeys(EACH_OF_FOUR, 30), 41),
    ("fourth_fresh", {"en": 119}, 56),
    ("fifth_fresh", {"en": 84, "es": 32, "it": 32, "eu": 32}, 79),
]


def test_each_fresh_set_is_counted_and_no_post_is_in_two() -> None:
    assert tuple(name for name, _, _ in SETS) == FRESH
    posts = [post for name in FRESH for post in read_fresh(load_claims(), name)]
    assert len({post.id for post in posts}) == len({post.text for post in posts}) == len(posts)


@pytest.mark.parametrize(("name", "by_language", "unanswered"), SETS)
def test_fresh_posts_name_claims_on_file_and_a_third_has_no_answer(
    name: str, by_language: dict[str, int], unanswered: int
) -> None:
    posts = read_fresh(load_claims(), name)
    assert Counter(post.language for post in posts) == by_language
    assert sum(not post.claims for post in posts) == unanswered
    wordings = {text for claim in load_claims().claims.values() for texts in claim.wordings.values() for text in texts}
    assert not {post.text for post in posts} & (wordings | {post.text for post in read_posts(None)})


def test_a_fresh_post_of_a_claim_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "fresh.toml").write_text('[[post]]\nid = "fresh:en-01"\ntext = "?"\nclaims = ["moon-cheese"]', "utf-8")
    with pytest.raises(BadInput, match=r"fresh:en-01.*moon-cheese"):
        read_fresh(load_claims(), folder=tmp_path)


def test_facts_of_the_named_claims_fit_a_fresh_post_and_whatever_else_is_shown_does_not() -> None:
    files = load_claims()
    post = next(post for post in read_fresh(files) if post.claims == {"women-pay-gap-myth"})
    facts = files.claims["women-pay-gap-myth"].facts
    grades = grades_by_claims([post], files, {post.id: [facts[0], "elsewhere"]})
    assert grades == {(post.id, "elsewhere"): (0,)} | {(post.id, fact): (2,) for fact in facts}
