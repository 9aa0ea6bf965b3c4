from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain import AttackKind
from evaluation.evidence.yardstick import FRESH, read_fresh, read_posts
from kb.claims.judge import FEATURES, KINDS, Judge, shipped_judge
from kb.claims.loading import load_claims
from kb.claims.matching import Wording, wordings_of
from kb.claims.records import LANGUAGES
from training.claims.attack import own_judged, read_judged
from training.claims.data import (
    ATTACK_NOBODY,
    ATTACKS,
    EACH_LANGUAGE,
    LABELS,
    Post,
    harmless,
    read_labelled,
    read_twins,
    wordings_as_posts,
)
from training.claims.own_posts import read_own_posts
from training.claims.train import like, save
from training.claims.unseen import UNSEEN
from training.heads.data import letters
from training.heads.sample import Part

REPO = Path(__file__).parents[2]
DATA = REPO / "../shared/data"
ROWS = [line.split("\t") for line in LABELS.read_text("utf-8").splitlines() if not line.startswith("#")]


def test_every_label_names_a_kind_and_claims_on_file() -> None:
    known = set(load_claims().claims) | {"-"}
    assert len(ROWS) >= 800
    assert {kind for _, kind, _ in ROWS} <= {*map(str, AttackKind), "none"}
    assert not {name for _, _, names in ROWS for name in names.split(",")} - known


def test_labelled_posts_are_found_in_the_data_sets() -> None:
    if not DATA.is_dir():
        pytest.skip("the data sets (../shared/data) are not beside this checkout")
    assert len(read_labelled(DATA)) == len(ROWS)


def test_unseen_posts_name_claims_on_file_and_none_is_learned_from_or_part_of_the_yardstick() -> None:
    rows = [line.split("\t") for line in UNSEEN.read_text("utf-8").splitlines() if not line.startswith("#")]
    known = set(load_claims().claims) | {"-"}
    assert len(rows) >= 4_000
    assert not {name for _, _, names in rows for name in names.split(",")} - known
    held_out = set((REPO / "evaluation" / "evidence" / "held_out.txt").read_text("utf-8").split())
    assert not {key for key, _, _ in rows} & ({key for key, _, _ in ROWS} | held_out)


def test_twins_make_claims_of_their_group_or_none_in_every_language() -> None:
    files, twins = load_claims(), read_twins()
    assert len({twin.text for twin in twins}) == len(twins) > 5_000
    assert {name for twin in twins for name in twin.claims} <= set(files.claims)
    assert {twin.kind for twin in twins} == ATTACKS | ATTACK_NOBODY
    for twin in twins:
        assert bool(twin.claims) == (twin.kind == "makes"), twin
        assert {files.group_of(files.claims[name]) for name in twin.claims} <= {twin.group}
    assert {(twin.language, twin.part) for twin in twins if not twin.hateful} == {
        (language, part) for language in LANGUAGES for part in (Part.TRAIN, Part.REPORT)
    }


def test_own_posts_are_labelled_in_every_language_and_part() -> None:
    files, posts = load_claims(), read_own_posts()
    assert len({post.text for post in posts}) == len(posts) > 4_000
    assert {name for post in posts for name in post.claims} <= set(files.claims)
    for post in posts:
        assert post.hateful == (post.kind != "-"), post
        assert post.hateful or not post.claims, post
        assert post.threatens == (post.attack is AttackKind.THREAT), post
    assert {(post.language, post.part, bool(post.claims)) for post in posts} == {
        (language, part, claimed)
        for language in LANGUAGES
        for part in (Part.TRAIN, Part.REPORT)
        for claimed in (True, False)
    }


def test_no_post_of_our_own_is_a_wording_or_measured_on_or_written_twice() -> None:
    files = load_claims()
    fresh = [post for name in FRESH for post in read_fresh(files, name)]
    texts = [post.text for post in (*read_posts(None), *fresh)] + [wording.text for wording in wordings_of(files)]
    others, twins = set(map(letters, texts)), {letters(twin.text) for twin in read_twins()}
    assert not others & twins
    known = others | twins
    assert not [post for post in read_own_posts() if letters(post.text) in known]


def test_sentences_of_our_own_stand_for_posts_in_every_language() -> None:
    files = load_claims()
    posts = wordings_as_posts(files, wordings_of(files))
    assert len(posts) == 3 * EACH_LANGUAGE
    assert posts == wordings_as_posts(files, wordings_of(files))
    assert all(post.claims and not post.labelled for post in posts)
    assert {post.language for post in harmless()} == set(LANGUAGES)
    assert len({post.id for post in [*posts, *harmless()]}) == len(posts) + len(harmless())


def test_a_sentence_of_our_own_attacks_when_it_makes_a_claim_and_is_left_out_by_its_id() -> None:
    claim = Post("they own the harbour", AttackKind.CLAIM, frozenset({"a"}), labelled=False, id="wording:1")
    talk = Post("the harbour is closed", None, frozenset(), labelled=False, id="harmless:en-1")
    labelled = replace(claim, labelled=True, id="mlma:1")
    assert [(each.share, each.id) for each in own_judged([claim, talk, labelled])] == [
        (1.0, "wording:1"), (0.0, "harmless:en-1"),
    ]  # fmt: skip


def test_what_readers_judged_holds_no_post_that_is_measured_on() -> None:
    if not DATA.is_dir():
        pytest.skip("the data sets (../shared/data) are not beside this checkout")
    judged = read_judged(DATA)
    flags = (DATA / "flags" / "real_posts.jsonl").read_text("utf-8").splitlines()
    flagged = {f"hatexplain:{row['post_id']}_{row['platform']}" for row in map(json.loads, flags)}
    yardstick = {post.id for post in read_posts(DATA)}
    assert len(judged) > 8000
    assert not {each.id for each in judged} & (yardstick | flagged)
    assert {each.language for each in judged} == set(LANGUAGES)
    assert {0.0, 1.0} < {each.share for each in judged}


def test_a_wording_s_like_are_one_of_its_claim_in_each_language() -> None:
    wordings = [Wording("boats", "en", "a"), Wording("boats", "es", "b"), Wording("boats", "es", "c"),
                Wording("oars", "it", "d")]  # fmt: skip
    vectors = np.array([[1, 0], [0, 1], [1, 0], [1, 0]], np.float32)
    assert like(0, wordings, vectors) == [0, 2]


def test_a_judge_is_the_same_after_saving(tmp_path: Path) -> None:
    judge = shipped_judge()
    save(judge, tmp_path / "judge.npz")
    with np.load(tmp_path / "judge.npz") as data:
        again = Judge.read(data)
    assert (again.claims, again.embedder, again.bias) == (judge.claims, judge.embedder, judge.bias)
    assert np.array_equal(again.posts, judge.posts)
    assert (len(judge.weights), len(judge.kinds)) == (len(FEATURES), len(KINDS))
