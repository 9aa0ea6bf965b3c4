"""The pairs that the layers for pairs learn from: written for texts that are there, and kept apart by source."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from kb.claims.loading import load_claims
from kb.claims.records import LANGUAGES
from training.heads.sample import Part

data = pytest.importorskip("training.pair_layers.data")
DATA_SETS = {"hatexplain", "mlma", "edos", "davidson"}
SHARED = Path(__file__).parents[3] / "shared" / "data"


def answers(path: Path) -> Iterator[tuple[str, str, str, str, str]]:
    for row in data.rows(path):
        name, language, answer, kind, sentence = row
        yield name, language, answer, kind, sentence


@pytest.mark.parametrize("path", [data.FOLLOWS_FILE, data.OPPOSES_FILE], ids=lambda path: path.stem)
def test_each_sentence_is_there_once_with_a_yes_or_a_no(path: Path) -> None:
    rows = list(answers(path))
    assert {answer for _, _, answer, _, _ in rows} == {"0", "1"}
    assert {language for _, language, _, _, _ in rows} == set(LANGUAGES)
    assert max(Counter((name, sentence) for name, _, _, _, sentence in rows).values()) == 1
    assert all(sentence == " ".join(sentence.split()) and kind for _, _, _, kind, sentence in rows)


@pytest.mark.parametrize("path", [data.FOLLOWS_FILE, data.OPPOSES_FILE], ids=lambda path: path.stem)
def test_each_text_has_sentences_of_both_answers(path: Path) -> None:
    by_text = defaultdict(set)
    for name, _, answer, _, _ in answers(path):
        by_text[name].add(answer)
    assert [name for name, both in by_text.items() if len(both) < 2] == []


def test_each_sentence_stands_beside_evidence_that_is_there() -> None:
    evidence = data.read_evidence(load_claims())
    named = {(name, language) for name, language, _, _, _ in answers(data.FOLLOWS_FILE)}
    assert named - set(evidence) == set(), "take the sentences of removed facts out of follows.tsv"


def test_each_draft_answers_a_scene_with_evidence_that_is_there_and_is_labelled_once() -> None:
    evidence = data.read_evidence(load_claims())
    scenes = {scene: (language, numbers.split(",")) for scene, language, numbers, _ in data.rows(data.SCENES_FILE)}
    drafts = list(data.rows(data.DRAFTS_FILE))
    assert {language for language, _ in scenes.values()} == set(LANGUAGES)
    named = {(number, language) for language, numbers in scenes.values() for number in numbers}
    assert named - set(evidence) == set(), "take the scenes of removed facts out of scenes.tsv and drafts.tsv"
    assert {scene for scene, *_ in drafts} == set(scenes)
    assert {(stands, follows) for _, _, stands, follows, _ in drafts} == {*product("01", "01")}
    assert max(Counter((scene, sentence) for scene, _, _, _, sentence in drafts).values()) == 1


def test_each_claim_that_sentences_answer_has_that_wording() -> None:
    wordings = {
        (claim.id, str(language)): texts
        for claim in load_claims().claims.values()
        for language, texts in claim.wordings.items()
    }
    for name, language, _, _, _ in answers(data.OPPOSES_FILE):
        claim, _, number = name.rpartition(":")
        assert claim in DATA_SETS or wordings[claim, language][int(number)]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data sets of `../shared` are absent")
def test_what_is_reported_on_is_not_learned_from() -> None:
    pairs = data.read_pairs(SHARED)
    taught = {pair.first for pair in pairs if pair.part is Part.TRAIN and pair.question == data.OPPOSES}
    apart = [pair for pair in pairs if pair.part is not Part.TRAIN]
    assert 0.05 < len(apart) / len(pairs) < 0.15
    assert {pair.question for pair in apart} == {data.OPPOSES, data.FOLLOWS}
    written = {(pair.first, pair.second) for pair in pairs if pair.part is Part.TRAIN}
    assert not [pair for pair in apart if (pair.first, pair.second) in written and pair.first not in taught]
