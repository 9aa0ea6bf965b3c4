"""What a reranker learns from and is measured by, and the real training on a tiny random cross-encoder."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from core.settings import Settings
from evaluation.evidence.yardstick import read_posts
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.records import FiledClaim
from rejoinder.cli import main
from training.reranking.measure import measure
from training.reranking.pairs import NEGATIVES, RankingQuestion, filed_questions, graded_questions


class Scattered:
    """An Embedder that puts each text in a direction of chance, the same each time."""

    name, dimension = "scattered", 8

    async def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(8, np.float32) for text in texts]
        return np.stack(rows)

    passages = queries

    async def close(self) -> None:
        pass


def claims_worded(files: ClaimFiles, wording: str) -> list[FiledClaim]:
    return [claim for claim in files.claims.values() if any(wording in texts for texts in claim.wordings.values())]


async def test_each_wording_stands_beside_its_fact_and_facts_of_other_claims() -> None:
    files = load_claims()
    learned, held_out = await filed_questions(files, ["en", "eu"], 60, 1, Scattered())
    assert len(learned) == 60 and len(held_out) == 12
    by_text = {text: name for name, fact in files.facts.items() for text in fact.text.values()}
    asked_of: list[set[str]] = []
    for part in (learned, held_out):
        asked_of.append(set())
        for question in part:
            right, *wrong = (by_text[text] for text in question.texts)
            # A wording may stand with claims about several groups.
            [claim, *_] = (claim for claim in claims_worded(files, question.query) if right in claim.facts)
            assert len(wrong) == NEGATIVES and not set(wrong) & set(claim.facts)
            asked_of[-1].add(claim.id)
    assert not asked_of[0] & asked_of[1]


async def test_the_same_seed_gives_the_same_questions() -> None:
    files = load_claims()
    drawn = [await filed_questions(files, ["it"], 20, seed, Scattered()) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_no_graded_post_is_among_the_wordings() -> None:
    files = load_claims()
    wordings = {text for claim in files.claims.values() for texts in claim.wordings.values() for text in texts}
    graded = graded_questions(files, None)
    assert graded and not wordings & {question.query for question in graded}
    assert {question.query for question in graded} <= {post.text for post in read_posts(None)}


def test_figures_of_an_order_computed_by_hand() -> None:
    scores = {"a": 0.0, "b": np.log(3), "c": 0.0, "d": -50.0}
    question = RankingQuestion("q", ("a", "b", "c", "d"), (2.0, 1.0, 0.0, 0.0))
    figures = measure([question], lambda pairs: [float(scores[text]) for _, text in pairs])
    # In the order b, a, c: 1 + 2 / log2(3), of 2 + 1 / log2(3) at best; "a" has one of five parts.
    assert figures.best_first == 0
    assert figures.ndcg == pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))
    assert figures.loss == pytest.approx(np.log(5))


def test_without_torch_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "training.reranking.train", raising=False)
    result = CliRunner().invoke(main, ["train", "reranker", "--model", "m"])
    assert result.exit_code == 1 and "rejoinder[train]" in result.output


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Write a random cross-encoder of BERT's family with a tokenizer of letters."""
    pytest.importorskip("sentence_transformers", reason="the `train` extra is not installed")
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path / "tiny"
    folder.mkdir()
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(pieces))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=256, num_labels=1, initializer_range=0.1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=256).save_pretrained(folder)
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_reranker_is_tuned_measured_and_filed(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("models.embedders.default_embedder", Scattered)
    asked = ["train", "reranker", "--model", str(tiny), "--languages", "en", "--questions", "8", "--rate", "0.005"]
    result = CliRunner().invoke(main, [*asked, "--epochs", "30"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    folder = Settings(data_dir=tmp_path / "data").data_dir / "rerankers" / "claims"
    card = (folder / "card.md").read_text()
    losses = dict(re.findall(r"^\| claims learned from, (before|after) .* \| ([\d.]+) \|$", card, re.MULTILINE))
    assert float(losses["after"]) < float(losses["before"])
    assert re.search(r"^\| graded posts, after \| \d+ \|", card, re.MULTILINE)
    # As the `bge` reranker of the settings loads it.
    AutoTokenizer.from_pretrained(folder / "model")
    loaded = AutoModelForSequenceClassification.from_pretrained(folder / "model")
    assert loaded.config.num_labels == 1
    nowhere = CliRunner().invoke(main, [*asked, "--name", "other", "--model", str(tmp_path / "nowhere")])
    assert nowhere.exit_code == 1 and "nowhere can't be loaded" in nowhere.output
    again = CliRunner().invoke(main, asked)
    assert again.exit_code == 1 and "--replace" in again.output
