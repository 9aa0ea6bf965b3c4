from __future__ import annotations

import tomllib
from importlib import resources
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from core.domain import AttackKind
from evaluation.evidence.yardstick import FRESH, read_fresh
from kb.claims.loading import load_claims
from kb.claims.records import LANGUAGES as CLAIM_LANGUAGES
from pipeline.threats import ThreatHead
from training.heads.data import letters
from training.heads.forums import LABELS as FORUMS
from training.heads.forums import read_forums
from training.threats.data import (
    SUITES,
    Sample,
    disguised,
    read_again,
    read_by_two,
    read_samples,
    suites,
    twins,
    wordings,
    written,
)
from training.threats.model_card import safety_rows, self_harm_rows
from training.threats.train import save, train

PACKAGE = Path(__file__).parents[2] / "training" / "threats"
DATA = Path(__file__).parents[3] / "shared" / "data"
HELD_OUT = Path(__file__).parents[2] / "evaluation" / "evidence" / "held_out.txt"


def test_sentences_of_a_template_are_all_seen_or_none_is() -> None:
    parts: dict[str, set[bool]] = {}
    for sample in written():
        parts.setdefault(sample.source, set()).add(sample.held_out)
        assert "{" not in sample.text
    assert {len(part) for part in parts.values()} == {1}
    assert {True} in parts.values()


@pytest.mark.parametrize("file", SUITES.values())
def test_no_sentence_of_a_suite_is_trained_on(file: str) -> None:
    lines = (PACKAGE / file).read_text("utf-8").splitlines()
    suite = {line.casefold() for line in lines if line[-1:] not in ("", "'", "]") and line[0] != "#"}
    assert len(suite) >= 150
    assert not suite & {sample.text.casefold() for sample in written()}


def test_wordings_of_claims_teach_that_hostile_words_are_no_threat() -> None:
    threats = {claim.id for claim in load_claims().claims.values() if claim.kind is AttackKind.THREAT}
    samples = list(wordings())
    assert len(samples) > 8_000
    assert {sample.threat for sample in samples} == {False}
    assert not threats & {sample.source for sample in samples}


def test_twins_threaten_and_do_not_in_every_language_and_repeat_nothing_that_is_measured_on() -> None:
    samples = list(twins())
    assert {(each.language, each.threat, each.held_out) for each in samples} == set(
        product(CLAIM_LANGUAGES, (True, False), (True, False))
    )
    fresh = {letters(post.text) for name in FRESH for post in read_fresh(load_claims(), name)}
    measured = fresh | {letters(sample.text) for sample in suites()}
    assert not [each for each in samples if letters(each.text) in measured]


def ids(file: str) -> list[str]:
    lines = (PACKAGE / file).read_text("utf-8").splitlines()
    return [line.split()[1] for line in lines if not line.startswith("#")]


def test_a_label_of_two_readers_counts_and_a_post_on_which_they_differ_is_left_out() -> None:
    names = {line.split()[0]: line.split()[1] for line in (PACKAGE / "second_reading.txt").read_text().splitlines()}
    threat, unclear = names["threat"], names["unclear"]

    def post(source: str, *, threat: bool, held_out: bool = True) -> Sample:
        return Sample("…", threat, "posts", "a kind", source, held_out)

    read = read_by_two(
        [
            post(threat, threat=False),
            post(unclear, threat=True),
            post("hatexplain:0", threat=True),
            post("hatexplain:1", threat=False),
            post("hatexplain:2", threat=True, held_out=False),
        ]
    )
    assert [(sample.threat, sample.kind) for sample in read] == [
        (True, "threat"), (False, "no threat"), (False, "a kind"), (True, "a kind"),
    ]  # fmt: skip


def test_no_post_is_read_again_for_training_that_two_readers_read_for_measuring() -> None:
    again = ids("read_again.txt")
    assert len(again) == len(set(again)) > 10_000
    measured = (*ids("second_reading.txt"), *HELD_OUT.read_text("utf-8").split())
    # Flagged posts are listed without their data set's name, HateXplain.
    assert not {name.removeprefix("hatexplain:") for name in again} & {
        name.removeprefix("hatexplain:") for name in measured
    }


def test_no_text_that_is_read_again_for_training_is_measured_on() -> None:
    if not DATA.is_dir():
        pytest.skip("the data sets (../shared/data) are not beside this checkout")
    measured = {letters(sample.text) for sample in read_samples(DATA) if sample.held_out}
    again = {letters(text) for text, _ in read_again(DATA)}
    assert len(measured) > 10_000 and len(again) > 10_000
    assert not again & measured


def test_no_post_that_evidence_is_measured_on_was_labelled_for_training() -> None:
    labelled = {*ids("read.txt")}
    labelled |= {line.split()[0] for line in FORUMS.read_text("utf-8").splitlines() if not line.startswith("#")}
    assert labelled
    assert not labelled & set(HELD_OUT.read_text("utf-8").split())


def test_a_disguise_changes_a_sentence_the_same_way_each_time() -> None:
    text = "Somebody should really count those Zorblaxians"
    changed = [disguised(text, turn) for turn in range(12)]
    assert changed == [disguised(text, turn) for turn in range(12)]
    assert len(set(changed)) > 3


def test_the_rules_for_self_harm_and_child_safety_cover_every_language() -> None:
    rows = list(safety_rows())
    assert len(rows) == 8
    for row in rows:
        meant, caught, _, alarms = map(int, row.strip("| ").split(" | ")[2:])
        assert caught >= meant - 1
        assert alarms == 0


def test_the_rules_find_what_tells_of_self_harm_in_four_languages() -> None:
    rows = [row.strip("| ").split(" | ") for row in self_harm_rows()]
    assert [row[:2] for row in rows] == [list(key) for key in product(("first", "indirect"), ("en", "es", "it", "eu"))]
    for name, _, risk, found, _, alarms in rows:
        assert int(found) >= int(risk) * {"first": 0.9, "indirect": 0.25}[name]
        assert int(alarms) <= 1


def test_the_rules_for_self_harm_are_mended_on_other_sentences_than_they_are_measured_on() -> None:
    lists = tomllib.loads((PACKAGE / "self_harm.toml").read_text("utf-8"))
    parts = [part for languages in lists.values() for part in languages.values()]
    measured = [text for part in parts for text in (*part["risk"], *part["no_risk"])]
    assert len(measured) == len(set(measured)) == 208
    assert not set(measured) & set((PACKAGE / "safety.toml").read_text("utf-8").splitlines())


def test_the_card_tells_what_the_rules_find_today() -> None:
    card = (resources.files("pipeline") / "data" / "threat.md").read_text("utf-8").splitlines()
    assert {*safety_rows(), *self_harm_rows()} <= set(card)


def test_a_head_learns_and_is_read_back_as_saved(tmp_path: Path) -> None:
    samples = [
        Sample(text, threat, "written", "test", f"{threat} {number}", held_out=False)
        for number in range(8)
        for text, threat in ((f"we should shoot group {number}", True), (f"we should greet group {number}", False))
    ]
    vectors = np.random.default_rng(0).normal(size=(len(samples), 384)).astype(np.float32)
    head, calibration = train(samples, vectors)
    assert calibration.shape == (len(samples),)
    scores = [head.score(sample.text, vector) for sample, vector in zip(samples, vectors, strict=True)]
    assert min(scores[0::2]) > max(scores[1::2])
    save(head, tmp_path / "threat.npz")
    loaded = ThreatHead.load(tmp_path / "threat.npz")
    assert [loaded.score(s.text, v) for s, v in zip(samples, vectors, strict=True)] == pytest.approx(scores, abs=1e-4)


def test_forum_posts_are_found_in_the_data_sets_and_say_whom_they_attack() -> None:
    if not DATA.is_dir():
        pytest.skip("the data sets (../shared/data) are not beside this checkout")
    posts = list(read_forums(DATA))
    assert len(posts) > 6_000
    assert all(post.text for post in posts)
    assert all(bool(post.groups) == (post.attack == "hate") for post in posts)
