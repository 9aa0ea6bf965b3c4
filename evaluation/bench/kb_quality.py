"""Measure how well the evidence search answers posts: a row for each way to search, and for each part left out."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np

from core.domain import AttackKind, TargetGroup
from core.errors import BadSettings
from core.settings import KnowledgeBaseSettings, TriageSettings
from evaluation.evidence.measures import Figures, measure
from evaluation.evidence.yardstick import (
    FRESH,
    FreshPost,
    Grades,
    Post,
    fitting,
    grades_by_claims,
    read_fresh,
    read_grades,
    read_posts,
    weighted_kappa,
)
from kb.build import build
from kb.claims import matching
from kb.claims.judge import KINDS, shipped_judge
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.matching import ClaimMatcher, Readings
from kb.claims.records import LANGUAGES
from kb.claims.reviews import load_reviews
from kb.query import Vectors
from kb.rerank import MmrReranker, Reranker, ScoreReranker
from kb.search import Searcher
from kb.snapshot import Snapshot
from kb.starter import load_starter
from models.bge import BgeM3Embedder, BgeReranker
from models.chat import ChatClient, ChatModel
from models.e5 import E5Embedder
from models.embed import Embedder
from models.embedders import default_embedder
from models.sbert import SbertEmbedder
from pipeline.ground import SURELY_ATTACKED
from pipeline.normalise import normalise
from pipeline.post_reader import PostReader
from pipeline.scoring import LONGEST_READ, PostScorer

DEFAULT = KnowledgeBaseSettings()
OPEN = KnowledgeBaseSettings(min_relevance=0.0)
UNGATED = KnowledgeBaseSettings(claim_from=0.0, answer_from=0.0)
NO_GATE = KnowledgeBaseSettings(answer_from=0.0)
HALVES = ("calibrate", "report")


@dataclass(frozen=True)
class Models:
    """Optional resources, measured if given.

    `sbert`, `bge` and `bge_reranker` are folders of weights, `chat` is a chat server's base URL, `built` the folder of
    a knowledge base, `data` the folder that holds `datasets`, and `larger` the file of the larger model's weights.
    """

    sbert: str | None = None
    bge: str | None = None
    bge_reranker: str | None = None
    chat: str | None = None
    built: Path | None = None
    data: Path | None = None
    larger: Path | None = None


@dataclass(frozen=True)
class Question:
    """A post as the search receives it: its normalised text, its vectors, and the groups and kind found by triage.

    `attacked` are the groups that it surely attacks, `readings` are for further opinions on its claims.
    """

    post: Post
    text: str
    vector: Vectors
    groups: tuple[TargetGroup, ...]
    kind: AttackKind | None
    readings: Readings = ()
    attacked: tuple[TargetGroup, ...] = ()


Find = Callable[[Question], Awaitable[Sequence[str]]]


@dataclass(frozen=True)
class Row:
    """A way to find evidence, with its results by post id and its median time per post in milliseconds."""

    name: str
    results: dict[str, Sequence[str]]
    ms: float


async def measured_rows(models: Models, questions: list[Question], e5: Embedder) -> list[Row]:
    """Return the results of every way, the default first."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="rejoinder-bench-") as scratch:
        async with AsyncExitStack() as stack:
            folder = Path(scratch)
            rows += await _of_claims(questions, e5, await _searcher(stack, e5, folder / "e5", DEFAULT))
            ways: list[tuple[str, KnowledgeBaseSettings, Reranker | None, ChatModel | None]] = [
                ("statements: e5 + BM25", DEFAULT, None, None),
                ("statements: e5", _with(OPEN, retriever="dense"), None, None),
                ("statements: BM25", _with(OPEN, retriever="words"), None, None),
                ("statements: e5 + BM25, MMR", DEFAULT, MmrReranker(), None),
                ("statements: the post's sentences", _with(DEFAULT, expansion="sentences"), None, None),
            ]
            if models.bge_reranker:
                reranker = BgeReranker(models.bge_reranker)
                stack.push_async_callback(reranker.close)
                ways.append(("statements: BGE reranker", DEFAULT, ScoreReranker(reranker), None))
            if models.chat:
                chat = await stack.enter_async_context(ChatClient(models.chat, "chat", None, 300.0, 2))
                ways.append(("statements: the chat model's queries", _with(DEFAULT, expansion="chat"), None, chat))
                ways.append(("statements: the chat model's order", _with(DEFAULT, reranker="chat"), None, chat))
            for name, settings, reranking, chat_model in ways:
                searcher = await _searcher(stack, e5, folder / "e5", settings, reranking, chat_model)
                rows.append(await _row(name, questions, _statements(searcher)))
            if models.built:
                searcher = await _searcher(stack, e5, models.built, DEFAULT)
                rows.append(await _row(f"statements: among {_size(models.built):,}", questions, _statements(searcher)))
            rows += await _of_other_embedders(models, questions, folder, stack)
    return rows


async def _of_claims(questions: list[Question], e5: Embedder, searcher: Searcher) -> list[Row]:
    files_on_file, reviews = load_claims(), load_reviews(files("kb"))
    shipped = await ClaimMatcher.open(files_on_file, reviews, e5, DEFAULT)
    ungated = await ClaimMatcher.open(files_on_file, reviews, e5, UNGATED)
    no_gate = await ClaimMatcher.open(files_on_file, reviews, e5, NO_GATE)
    nearest = ClaimMatcher(files_on_file, reviews, *await matching.embedded(files_on_file, e5), None, DEFAULT)

    async def production(question: Question) -> Sequence[str]:
        return await _matched(shipped)(question) or await _statements(searcher, DEFAULT.paragraph_from)(question)

    async def open_tail(question: Question) -> Sequence[str]:
        return await _matched(shipped)(question) or await _statements(searcher)(question)

    return [
        await _row("claims, then near statements (default)", questions, production),
        await _row("claims, then any statements", questions, open_tail),
        await _row("claims alone", questions, _matched(shipped)),
        await _row("claims, without asking whether anything answers", questions, _matched(no_gate)),
        await _row("claims, no limit", questions, _matched(ungated)),
        await _row("claims, the surest alone", questions, _matched(shipped, most=1)),
        await _row("claims, without the larger model", questions, _matched(shipped, opinions=1)),
        await _row("claims, the judge alone", questions, _matched(shipped, opinions=0)),
        await _row("claims, nearest wording (no judge)", questions, _matched(nearest)),
    ]


async def _of_other_embedders(
    models: Models, questions: list[Question], folder: Path, stack: AsyncExitStack
) -> list[Row]:
    embedders: list[tuple[str, Embedder, tuple[str, ...]]] = []
    if models.sbert:
        embedders.append((f"SBERT ({Path(models.sbert).name})", SbertEmbedder(models.sbert), ("dense", "hybrid")))
    if models.bge:
        embedders.append(("BGE-M3", BgeM3Embedder(models.bge), ("dense", "sparse", "hybrid")))
    rows = []
    for name, embedder, retrievers in embedders:
        stack.push_async_callback(embedder.close)
        vectors = await embedder.queries([question.text for question in questions])
        embedded = [replace(question, vector=vector) for question, vector in zip(questions, vectors, strict=True)]
        for retriever in retrievers:
            settings = _with(OPEN, retriever=retriever)
            searcher = await _searcher(stack, embedder, folder / embedder.name.replace("/", "-"), settings)
            rows.append(await _row(f"statements: {name}, {retriever}", embedded, _statements(searcher)))
    return rows


async def _searcher(
    stack: AsyncExitStack,
    embedder: Embedder,
    folder: Path,
    settings: KnowledgeBaseSettings,
    reranker: Reranker | None = None,
    chat: ChatModel | None = None,
) -> Searcher:
    if not folder.exists():
        await build([statement.evidence() for statement in load_starter()], embedder, folder)
    searcher = Searcher.open(folder, embedder, settings, chat=chat, reranker=reranker)
    stack.callback(searcher.close)
    return searcher


def _statements(searcher: Searcher, least: float = -1.0) -> Find:
    async def find(question: Question) -> Sequence[str]:
        best = await searcher.search(question.text, vector=question.vector, groups=question.groups)
        return [evidence.id for evidence in best if evidence.score >= least]

    return find


def _matched(matcher: ClaimMatcher, *, most: int | None = None, opinions: int | None = None) -> Find:
    async def find(question: Question) -> Sequence[str]:
        readings = question.readings[:opinions]
        claims, facts = matcher.match(
            question.text, question.vector, question.groups, question.post.language, readings, question.attacked
        )
        chosen = {claim.id for claim in claims[:most]}
        return [fact.id for fact in facts if chosen & set(fact.claims)]

    return find


async def _row(name: str, questions: Iterable[Question], find: Find) -> Row:
    results, spent = {}, []
    for question in questions:
        began = time.perf_counter()
        results[question.post.id] = await find(question)
        spent.append(time.perf_counter() - began)
    return Row(name, results, 1000 * float(np.median(spent)))


async def read_questions(
    posts: Sequence[Post], embedder: Embedder, post_reader: PostReader | None = None
) -> list[Question]:
    """Return the posts as triage reads them; raises BadSettings for an embedder that its heads don't fit."""
    if not isinstance(embedder, E5Embedder):
        raise BadSettings(f"Triage's heads read {E5Embedder.name}, not {embedder.name}.")
    scorer = PostScorer(post_reader)
    judge, threshold = shipped_judge(), TriageSettings().group_threshold
    questions = []
    for post in posts:
        text = normalise(post.text)
        reading = await embedder.read(text[:LONGEST_READ])
        scored = await scorer.score(post.text, text, reading, post.language)
        listed = scored.scores.attacked(threshold)
        groups = tuple(score.group for score in listed)
        attacked = tuple(score.group for score in listed if score.score >= SURELY_ATTACKED)
        kind = KINDS[int(judge.kind_probabilities(reading.vector, post.language).argmax())]
        questions.append(
            Question(post, text[:LONGEST_READ], reading.vector, groups, kind, (scored.summed, scored.reread), attacked)
        )
    return questions


def facts_of_no_assertion(claims: ClaimFiles) -> frozenset[str]:
    """Return the facts of claims that assert nothing, which may rightly answer many posts."""
    return frozenset(
        name for claim in claims.claims.values() if claim.kind is not AttackKind.CLAIM for name in claim.facts
    )


def table(rows: Sequence[tuple[str, Figures]], first: str) -> str:
    """Return a Markdown table."""
    head = f"| {first} | posts | hit@3 | mean grade | wrong | none: precision | none: recall | ungraded | magnet |"
    lines = [
        f"| {name} | {f.posts} | {f.hit:.2f} | {f.grade:.2f} | {f.wrong:.2f} | {f.none_precision:.2f} "
        f"| {f.none_recall:.2f} | {f.ungraded} | {f.magnet:.2f} {f.magnet_text} |"
        for name, f in rows
    ]
    return "\n".join([head, "|---|" + "--:|" * 7 + "---|", *lines]).replace("nan", "–")


def tables(questions: Sequence[Question], rows: Sequence[Row], grades: Grades) -> Iterable[str]:
    """Yield the tables: every way on each half, then the default by group, kind and language on the reported half."""
    by_half = {half: [question for question in questions if question.post.half == half] for half in HALVES}
    exempt = facts_of_no_assertion(load_claims())

    def figures(row: Row, chosen: Iterable[Question]) -> Figures:
        return measure([question.post for question in chosen], row.results, grades, exempt)

    for half, in_half in by_half.items():
        yield table([(f"{row.name}, {row.ms:.0f} ms", figures(row, in_half)) for row in rows], half)
    reported, default = by_half["report"], rows[0]
    for name, keys in (
        ("group", {g.value: [q for q in reported if g in q.post.groups] for g in TargetGroup}),
        ("kind, as read", {str(k or "none"): [q for q in reported if q.kind == k] for k in KINDS}),
        ("language", {lang: [q for q in reported if q.post.language == lang] for lang in LANGUAGES}),
    ):
        yield table([(key, figures(default, part)) for key, part in keys.items() if part], name)


def fresh_tables(title: str, posts: Sequence[FreshPost], rows: Sequence[Row], files: ClaimFiles) -> Iterable[str]:
    """Yield the tables for posts that nothing was tuned on: every way, then the default by language."""
    exempt = facts_of_no_assertion(files)

    def figures(row: Row, chosen: Sequence[FreshPost]) -> Figures:
        return measure(chosen, row.results, grades_by_claims(chosen, files, row.results), exempt)

    yield table([(row.name, figures(row, posts)) for row in rows], title)
    by_language = {language: [post for post in posts if post.language == language] for language in LANGUAGES}
    of_default = [(language, figures(rows[0], own_posts)) for language, own_posts in by_language.items()]
    yield table(of_default, f"{title}, by language")


async def _measured(models: Models) -> list[str]:
    reader = None if models.larger is None else PostReader.load(models.larger)
    e5, grades, claims = default_embedder(), read_grades(), load_claims()
    fresh = {name.replace("_", " "): read_fresh(claims, name) for name in FRESH}
    try:
        questions = await read_questions([*read_posts(models.data), *chain(*fresh.values())], e5, reader)
        rows = await measured_rows(models, questions, e5)
    finally:
        await e5.close()
    questions = questions[: -sum(map(len, fresh.values()))]
    answerable = sum(fitting(question.post, grades) for question in questions)
    head = (
        f"{len(questions)} posts, {answerable} of which a graded text answers; {len(grades):,} grades, "
        f"weighted kappa of the two readers {weighted_kappa(grades):.2f}."
    )
    of_fresh = (fresh_tables(f"{name} posts", posts, rows, claims) for name, posts in fresh.items())
    return [head, *tables(questions, rows, grades), *chain(*of_fresh)]


def _size(folder: Path) -> int:
    with closing(Snapshot.open(folder)) as snapshot:
        return snapshot.manifest.paragraphs


def _with(settings: KnowledgeBaseSettings, **changes: object) -> KnowledgeBaseSettings:
    return KnowledgeBaseSettings.model_validate(settings.model_dump() | changes)


def run(models: Models) -> None:
    """Measure and print the tables."""
    print("\n\n".join(asyncio.run(_measured(models))) + "\n")
