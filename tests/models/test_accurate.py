"""The torch models of the `accurate` extra, exercised with tiny random weights that the test writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain import Evidence
from core.errors import BadSettings, ModelUnavailable
from core.settings import EmbeddingSettings, KnowledgeBaseSettings
from kb import build
from kb.rerank import RankedEvidence, ScoreReranker
from kb.search import Searcher
from models.bge import BgeM3Embedder, BgeReranker
from models.embed import Embedder
from models.embedders import open_embedder
from models.sbert import SbertEmbedder
from models.torch_model import TorchModel
from tests.factories import make_evidence, make_source

# The libraries warn about each other's deprecations.
pytestmark = pytest.mark.filterwarnings("default")

WORDS = ["every", "moon", "zorblaxian", "pays", "taxes", "women", "vote", "equal", "pay", "in", "public"]
SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 64, "max_position_embeddings": 514, "type_vocab_size": 1}  # fmt: skip
ODD = ["", " ", "🙂" * 50, "a\x00b", "bad \ud800 surrogate", "word " * 2000]


def _evidence(name: str, text: str) -> Evidence:
    return make_evidence(name, text, source=make_source(symbol=name))


def _save_tokenizer(folder: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=model,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=512,
    ).save_pretrained(folder)


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[[str], str]:
    """Write a tiny random model of a kind and return its folder."""
    torch = pytest.importorskip("torch", reason="the `accurate` extra (torch) is not installed")
    transformers = pytest.importorskip("transformers", reason="the `accurate` extra is not installed")

    def write(kind: str) -> str:
        pytest.importorskip("sentence_transformers" if kind == "sbert" else "FlagEmbedding")
        folder = tmp_path / f"tiny-{kind}"
        torch.manual_seed(0)
        config = transformers.XLMRobertaConfig(**SIZES, pad_token_id=1, bos_token_id=0, eos_token_id=2, num_labels=1)
        name = "XLMRobertaForSequenceClassification" if kind == "reranker" else "XLMRobertaModel"
        getattr(transformers, name)(config).save_pretrained(folder)
        _save_tokenizer(folder)
        if kind == "bge-m3":
            torch.save(torch.nn.Linear(32, 32).state_dict(), folder / "colbert_linear.pt")
            torch.save(torch.nn.Linear(32, 1).state_dict(), folder / "sparse_linear.pt")
        return str(folder)

    return write


@pytest.fixture(params=["sbert", "bge-m3"])
async def embedder(request: pytest.FixtureRequest, tiny: Callable[[str], str]) -> AsyncIterator[Embedder]:
    kinds: dict[str, Callable[[str], Embedder]] = {"sbert": SbertEmbedder, "bge-m3": BgeM3Embedder}
    opened = kinds[request.param](tiny(request.param))
    yield opened
    await opened.close()


def test_the_settings_open_them() -> None:
    pytest.importorskip("FlagEmbedding", reason="the `accurate` extra is not installed")
    pytest.importorskip("sentence_transformers", reason="the `accurate` extra is not installed")
    assert open_embedder(EmbeddingSettings(kind="sbert", model="some/model")).name == "sbert/some/model"
    assert open_embedder(EmbeddingSettings(kind="bge-m3")).name == "bge-m3/BAAI/bge-m3"


async def test_vectors_are_unit_rows_of_float32(embedder: Embedder) -> None:
    for embed in (embedder.queries, embedder.passages):
        vectors = await embed(["every moon pays taxes", "women vote"])
        assert vectors.dtype == np.float32
        assert vectors.shape == (2, embedder.dimension) == (2, 32)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
        assert not np.allclose(vectors[0], vectors[1])


async def test_no_text_gives_no_rows_and_any_text_gives_one(embedder: Embedder) -> None:
    assert (await embedder.queries([])).shape[0] == 0
    vectors = await embedder.passages(ODD)
    assert vectors.shape == (len(ODD), 32)
    assert np.isfinite(vectors).all()


async def test_many_tasks_get_what_one_gets(embedder: Embedder) -> None:
    texts = [f"{word} vote" for word in WORDS]
    alone = await embedder.queries(texts)
    together = await asyncio.gather(*(embedder.queries([text]) for text in texts))
    assert np.allclose(np.concatenate(together), alone, atol=1e-4)


async def test_the_name_is_of_the_kind_and_the_model_without_a_path(embedder: Embedder) -> None:
    kind = "bge-m3" if isinstance(embedder, BgeM3Embedder) else "sbert"
    assert embedder.name == f"{kind}/tiny-{kind}"


async def test_a_knowledge_base_is_built_and_searched(embedder: Embedder, tmp_path: Path) -> None:
    statements = [_evidence("a", "every zorblaxian pays taxes"), _evidence("b", "women vote"),
                  _evidence("c", "equal pay in public")]  # fmt: skip
    await build.build(statements, embedder, tmp_path / "kb")
    kinds = ["dense", "words", "hybrid"] + (["sparse"] if isinstance(embedder, BgeM3Embedder) else [])
    for kind in kinds:
        settings = KnowledgeBaseSettings.model_validate({"min_relevance": 0.0, "retriever": kind})
        searcher = Searcher.open(tmp_path / "kb", embedder, settings)
        evidence = await searcher.search("women vote")
        ids = [statement.id for statement in evidence]
        if kind == "sparse":  # random weights of words: which statements share one is chance, that they exist is not
            assert set(ids) <= {"a", "b", "c"}
        else:
            assert ids[0] == "b", kind
        searcher.close()


async def test_a_model_without_sparse_weights_has_no_sparse_retriever(
    tiny: Callable[[str], str], tmp_path: Path
) -> None:
    embedder = SbertEmbedder(tiny("sbert"))
    await build.build([_evidence("a", "women vote")], embedder, tmp_path / "kb")
    with pytest.raises(BadSettings, match="does not weigh words"):
        Searcher.open(tmp_path / "kb", embedder, KnowledgeBaseSettings(retriever="sparse"))
    await embedder.close()


async def test_token_weights_name_the_tokens_of_the_text(tiny: Callable[[str], str]) -> None:
    embedder = BgeM3Embedder(tiny("bge-m3"))
    weights = (await embedder.token_weights(["women vote", "moon"]))[0]
    assert set(weights) <= {5 + WORDS.index("women"), 5 + WORDS.index("vote")}
    assert await embedder.token_weights([]) == []
    await embedder.close()


async def test_the_reranker_scores_every_text_and_orders_by_them(tiny: Callable[[str], str]) -> None:
    reranker = BgeReranker(tiny("reranker"))
    texts = ["every moon pays taxes", "women vote", "", "equal pay " * 500]
    scores = await reranker.scores("women vote", texts)
    assert len(scores) == 4
    assert all(0 <= score <= 1 for score in scores)
    assert len(await reranker.scores("women", ["vote"])) == 1
    assert await reranker.scores("women", []) == []
    candidates = [RankedEvidence(_evidence(str(n), text)) for n, text in enumerate(texts)]
    ordered = await ScoreReranker(reranker).rerank("women vote", candidates)
    assert [ranked.evidence.id for ranked in ordered] == [str(n) for n in np.argsort(-np.array(scores), kind="stable")]
    await reranker.close()


async def test_a_folder_without_a_model_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="the `accurate` extra is not installed")
    (tmp_path / "empty").mkdir()
    embedder = SbertEmbedder(str(tmp_path / "empty"))
    with pytest.raises(ModelUnavailable, match="sbert/empty can't be loaded"):
        await embedder.queries(["women vote"])
    await embedder.close()


async def test_without_the_extra_the_error_says_how_to_install_it() -> None:
    with pytest.raises(BadSettings, match=r"sbert/x needs no_such_package.*rejoinder\[accurate\]"):
        TorchModel[Any]("sbert/x", "no_such_package", lambda: None)
