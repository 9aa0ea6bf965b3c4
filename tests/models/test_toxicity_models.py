"""What every toxicity model must do; Detoxify runs with tiny random weights that the test writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core.errors import BadSettings, ModelUnavailable
from core.settings import Settings
from models.detoxify_model import DetoxifyModel
from models.toxicity import Toxicity, ToxicityHead
from pipeline.guard import ToxicityCheck
from rejoinder.guard_assembly import open_drafting_guard

# The libraries warn about each other's deprecations.
pytestmark = pytest.mark.filterwarnings("default")

WORDS = ["every", "moon", "is", "free", "idiot", "trash"]
SIZES = {"vocab_size": 16, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 64, "max_position_embeddings": 130, "type_vocab_size": 1}  # fmt: skip
needs_detoxify = pytest.mark.skipif(find_spec("detoxify") is None, reason="the `accurate` extra is not installed")


def _written(folder: Path) -> tuple[Path, Path]:
    """Write a checkpoint as Detoxify's training does, and the configuration and tokenizer beside it."""
    torch = pytest.importorskip("torch")
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    names = {name: number for number, name in enumerate(["<s>", "<pad>", "</s>", "<unk>", *WORDS])}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(names, unk_token="<unk>"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, pad_token="<pad>", unk_token="<unk>", model_max_length=128
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.RobertaConfig(**SIZES, pad_token_id=1, bos_token_id=0, eos_token_id=2, num_labels=2)
    network = transformers.RobertaForSequenceClassification(config)
    config.save_pretrained(folder)
    arch = {"model_type": str(folder), "model_name": "RobertaForSequenceClassification",
            "tokenizer_name": "PreTrainedTokenizerFast", "num_classes": 2}  # fmt: skip
    facts = {"arch": {"args": arch}, "dataset": {"args": {"classes": ["toxicity", "severe_toxicity"]}}}
    torch.save({"config": facts, "state_dict": network.state_dict()}, folder / "tiny.ckpt")
    return folder / "tiny.ckpt", folder


@pytest.fixture(params=["head", pytest.param("detoxify", marks=needs_detoxify)])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Toxicity:
    return ToxicityHead.load() if request.param == "head" else DetoxifyModel("unbiased", *_written(tmp_path))


@pytest.mark.parametrize("text", ["every moon is free", "🙂" * 50, "a\x00b", "bad \ud800 surrogate", "word " * 2000])
def test_any_text_gets_a_probability(model: Toxicity, text: str) -> None:
    assert 0 <= model.score(text) <= 1


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_is_not_toxic(model: Toxicity, text: str) -> None:
    assert model.score(text) == 0


def test_the_same_text_has_the_same_score_from_many_threads(model: Toxicity) -> None:
    expected = model.score("every moon is trash")
    with ThreadPoolExecutor(8) as threads:
        assert {round(score, 5) for score in threads.map(model.score, ["every moon is trash"] * 40)} == {
            round(expected, 5)
        }


def test_the_languages_are_named(model: Toxicity) -> None:
    assert "en" in model.languages


def _settings(**guard: Any) -> Settings:
    return Settings.model_validate({"guard": {"toxicity": "detoxify", **guard}})


@needs_detoxify
async def test_the_settings_open_detoxify_for_drafts(tmp_path: Path) -> None:
    checkpoint, config = _written(tmp_path)
    settings = _settings(judge="none", detoxify_checkpoint=checkpoint, detoxify_config=config)
    async with open_drafting_guard(settings) as guard:
        (toxicity,) = guard.costly
    assert isinstance(toxicity, ToxicityCheck)
    assert isinstance(toxicity.model, DetoxifyModel)


@needs_detoxify
def test_a_torn_checkpoint_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "torn.ckpt").write_bytes(b"torn")
    with pytest.raises(ModelUnavailable, match=r"torn.ckpt can't be loaded"):
        DetoxifyModel("unbiased", tmp_path / "torn.ckpt", tmp_path)


@pytest.mark.skipif(find_spec("detoxify") is not None, reason="the `accurate` extra is installed")
async def test_without_the_extra_the_error_says_what_to_do() -> None:
    with pytest.raises(BadSettings, match=r"rejoinder\[accurate\]"):
        async with open_drafting_guard(_settings()):
            pass
