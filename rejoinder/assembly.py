"""Composition: assemble the parts as the settings require. Its siblings assemble the guard and the chat model."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain import StrategyName
from core.lifecycle import StageName
from core.private_files import required_folder
from core.secrets import author_key
from core.settings import NO_MODEL, ChatWorkspace, Settings
from ledger import Ledger
from rejoinder.chat_assembly import chat_client, chat_turns
from rejoinder.guard_assembly import open_drafting_guard
from rejoinder.reader_assembly import open_post_reader

if TYPE_CHECKING:
    from kb.claims.matching import ClaimMatcher
    from kb.search import Searcher
    from models.chat import ChatClient, ChatModel
    from models.embed import Embedder
    from models.turns import Turns
    from pipeline.draft import Drafter
    from pipeline.ground import Grounder
    from pipeline.strategies import Strategies, Strategy, Writer
    from pipeline.triage import Triager
    from stream.stages import Stage

log = logging.getLogger(__name__)

STAGES = tuple(StageName)
EMBEDDING_STAGES = {StageName.TRIAGE, StageName.GROUND}
"""The stages that embed posts."""


@asynccontextmanager
async def open_ledger(settings: Settings, *, migrating: bool = False) -> AsyncIterator[Ledger]:
    """Open the ledger with the tables of this version: upgraded if `migrating`, otherwise only checked.

    Raises LedgerUnavailable; BadSettings for the tables of another version, EmptyLedger if there are none.
    """
    required_folder(settings.data_dir)
    ledger = await Ledger.open(settings.ledger_url, author_key(settings), making=migrating)
    try:
        await (ledger.migrate() if migrating else ledger.check_schema())
        yield ledger
    finally:
        await ledger.close()


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[Embedder]:
    """Yield the embedder that the settings choose."""
    from models import embedders

    embedder = embedders.open_embedder(settings.embedding)
    try:
        yield embedder
    finally:
        await embedder.close()


def kb_folder(settings: Settings) -> Path:
    """Return the folder of the knowledge base in use."""
    return settings.kb.folder or settings.data_dir / "kb"


async def ensure_starter_indexed(settings: Settings, embedder: Embedder) -> None:
    """Index the starter statements if they are in use and not indexed yet."""
    from kb.build import ensure_starter

    if settings.kb.folder is None:
        await ensure_starter(kb_folder(settings), embedder)


def search_needs_chat(settings: Settings) -> bool:
    """Tell whether the search itself needs the chat model."""
    return "chat" in (settings.kb.reranker, settings.kb.expansion)


@asynccontextmanager
async def open_searcher(
    settings: Settings, embedder: Embedder, chat: ChatModel | None = None
) -> AsyncIterator[Searcher]:
    """Open the knowledge base; on first use the starter set is indexed, which takes a moment.

    With `chat`, the searcher reranks, expands and summarises as the settings require; without, it uses stored
    summaries.
    """
    from kb.search import Searcher
    from kb.summaries import Summariser, SummaryStore

    folder = kb_folder(settings)
    await ensure_starter_indexed(settings, embedder)
    with closing(SummaryStore(folder)) as store:
        writer = chat if settings.kb.summaries == "on-use" else None
        shorten = Summariser(store, settings.chat.model, writer).summary
        with closing(Searcher.open(folder, embedder, settings.kb, chat=chat, shorten=shorten)) as searcher:
            yield searcher


async def open_claims(settings: Settings, embedder: Embedder) -> ClaimMatcher:
    """Return the claims on file, both shipped and own. Raises KnowledgeBaseError if they can't be read.

    They are ranked by `kb.ranker`; raises BadSettings if there is no such ranker. Own entries with errors are left out,
    with a warning for each.
    """
    from importlib.resources import files

    from kb.claims.checking import without_faulty
    from kb.claims.loading import load_claims
    from kb.claims.matching import ClaimMatcher
    from kb.claims.ranking import load_ranker
    from kb.claims.reviews import load_reviews

    on_file, reviews = load_claims(settings.kb.claims), load_reviews(files("kb"))
    if settings.kb.claims is not None:
        on_file, reviews = without_faulty(on_file, settings.kb.claims), reviews | load_reviews(settings.kb.claims)
    ranker = load_ranker(settings.data_dir, settings.kb.ranker)
    return await ClaimMatcher.open(on_file, reviews, embedder, settings.kb, ranker)


def open_strategies(settings: Settings, chat: ChatModel | None, turns: Turns | None = None) -> Strategies:
    """Return the strategies that plan cases or may be requested, with a chat model or without."""
    from models.turns import Turns
    from pipeline.strategies import Strategies, TournamentStrategy, Writer

    draft = settings.draft
    if settings.chat.model == NO_MODEL:
        chat = None
    writer = Writer(chat, turns or chat_turns(settings), settings.guard)
    entrants = _entrants(settings, writer)
    tournament = TournamentStrategy(
        # A tournament takes one turn for all requests of its entrants.
        writer, draft.tournament, lambda model: _entrants(settings, Writer(model, Turns(None, None), settings.guard))
    )  # fmt: skip
    named = {strategy.name: strategy for strategy in (*entrants, tournament)}
    return Strategies(
        default=named[draft.strategy],
        fallback=named[StrategyName.COMPOSE],
        others=tuple(named[name] for name in draft.offered),
    )


def _entrants(settings: Settings, writer: Writer) -> tuple[Strategy, ...]:
    """Return all strategies that write replies themselves, those with the fewest requests first."""
    from pipeline import strategies
    from pipeline.compose import Composer

    draft = settings.draft
    return (
        strategies.ComposeStrategy(Composer(writer.limits)),
        strategies.LockedStrategy(writer, draft.locked),
        strategies.ClaimGuidedStrategy(writer, draft.claim_guided),
        strategies.IntentFramesStrategy(writer, draft.intent_frames, settings.chat.temperature),
        strategies.PlainStrategy(writer, draft.plain),
        strategies.FreeStrategy(writer, settings.chat.sampling),
    )


@dataclass(frozen=True)
class Pipeline:
    """The parts that process one post; None for those whose stage was not requested."""

    triager: Triager | None
    grounder: Grounder | None
    drafter: Drafter | None


@asynccontextmanager
async def open_pipeline(
    settings: Settings, stages: Collection[str] = STAGES, log_file: Path | None = None
) -> AsyncIterator[Pipeline]:
    """Load the parts that `stages` need. Raises RejoinderError if one is not available."""
    from models.cpu import keep_blas_to_one_thread

    keep_blas_to_one_thread()
    async with AsyncExitStack() as stack:
        triager: Triager | None = None
        grounder: Grounder | None = None
        drafter: Drafter | None = None
        chat: ChatClient | None = None
        embedder = await stack.enter_async_context(open_embedder(settings)) if EMBEDDING_STAGES & set(stages) else None
        # Before a chat server starts: if the embedder is unavailable, the server would load its weights for nothing.
        claims = await open_claims(settings, embedder) if embedder is not None and StageName.GROUND in stages else None
        if stages_need_chat(settings, stages, open_strategies(settings, None)):
            chat = await stack.enter_async_context(chat_client(settings, log_file))
        turns = chat_turns(settings)
        strategies = open_strategies(settings, chat, turns)
        if embedder is not None and StageName.TRIAGE in stages:
            from pipeline.triage import Triager

            triager = Triager(embedder, settings.triage, await open_post_reader(settings))
        if embedder is not None and claims is not None:
            from pipeline.ground import Grounder

            searcher = await stack.enter_async_context(open_searcher(settings, embedder, chat))
            grounder = Grounder(searcher, claims, strategies, settings.kb)
        if StageName.DRAFT in stages:
            from pipeline.draft import Drafter

            guard = await stack.enter_async_context(open_drafting_guard(settings, log_file, chat, turns))
            drafter = Drafter(strategies, guard)
        yield Pipeline(triager, grounder, drafter)


def stages_need_chat(settings: Settings, stages: Collection[str], strategies: Strategies) -> bool:
    """Tell whether these stages need the chat model; for summaries alone only an existing endpoint is used."""
    searching = search_needs_chat(settings) or settings.chat.endpoint is not None
    grounding = searching or any(strategy.plans_with_model for strategy in strategies.all)
    drafting = settings.guard.judge == "chat" or any(strategy.writes_with_model for strategy in strategies.all)
    return (StageName.GROUND in stages and grounding) or (StageName.DRAFT in stages and drafting)


def starts_chat_server(settings: Settings) -> bool:
    """Tell whether all stages together need a chat model for which a server must be started here."""
    needs_none = settings.chat.endpoint is not None or settings.chat.model == NO_MODEL
    return not needs_none and stages_need_chat(settings, STAGES, open_strategies(settings, None))


def chat_workspaces(settings: Settings) -> dict[str, Mapping[str, ChatWorkspace]]:
    """Return each chat's servers or workspaces, by the name of the chat."""
    return {"discord": settings.discord.servers, "slack": settings.slack.workspaces}


def build_stages(settings: Settings, ledger: Ledger, pipeline: Pipeline, names: Collection[str]) -> list[Stage]:
    """Return the stream's stages for the requested names."""
    from stream.stages import DeskStage, DraftStage, GroundStage, TriageStage

    stages: list[Stage] = []
    if pipeline.triager is not None:
        stages.append(TriageStage(ledger, pipeline.triager))
    if pipeline.grounder is not None:
        from bot.chat.intents import chooser

        choose = chooser(ledger, chat_workspaces(settings))
        stages.append(GroundStage(ledger, pipeline.grounder, settings.desk.default_intent, choose))
    if pipeline.drafter is not None:
        stages.append(DraftStage(ledger, pipeline.drafter))
    if StageName.DESK in names:
        stages.append(DeskStage(ledger))
    return stages
