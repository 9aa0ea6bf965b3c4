"""BERTScore by an encoder in transformers' format: a tiny random one, beside the published implementation."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput
from evaluation.metrics.bertscore import BertScore
from evaluation.metrics.encoder import Encoder
from tests.evaluation.runs import make_sample

pytest.importorskip("torch", reason="the `accurate` extra is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a random BERT whose words are letters."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    letters = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase), "."]
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=5 + len(letters), hidden_size=32, intermediate_size=64, num_hidden_layers=3, num_attention_heads=4
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    return folder


async def test_a_texts_states_are_those_of_its_own_tokens_whatever_stands_beside_it(tiny: Path) -> None:
    encoder = Encoder(str(tiny))
    (alone,) = await encoder.token_vectors(["ab c"])
    beside, _ = await encoder.token_vectors(["ab c", "a much longer text than that"])
    assert alone.shape == (3, 32)
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(alone, beside, atol=1e-5)
    encoder.close()


async def test_a_layer_that_is_not_there_is_refused(tiny: Path) -> None:
    encoder = Encoder(str(tiny), layer=9)
    with pytest.raises(BadInput, match="up to 3"):
        await encoder.token_vectors(["a"])
    encoder.close()


async def test_figures_are_those_of_bert_score(tiny: Path) -> None:
    """Its own matching is given our states: left to itself, it also matches tokens with what starts and ends a text."""
    utils = pytest.importorskip("bert_score.utils", reason="bert-score is not installed")
    import torch

    encoder = Encoder(str(tiny), layer=2)
    draft, reference = await encoder.token_vectors(["they build bridges.", "no, we all cross."])
    tensors = [(torch.tensor(states)[None], torch.ones(1, len(states))) for states in (reference, draft)]
    published = utils.greedy_cos_idf(*(each for states, mask in tensors for each in (states, mask, mask)))[2].item()
    metric = BertScore(encoder.token_vectors, encoder.name)
    assert await metric.score([make_sample("they build bridges.", references=["no, we all cross."])]) == [
        pytest.approx(published, abs=1e-5)
    ]
    encoder.close()
