"""Composition of the guard: that of the moderators' process, and that of drafts with its judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import BadSettings
from core.settings import GuardSettings, Settings
from rejoinder.chat_assembly import chat_client, chat_turns
from rejoinder.reader_assembly import open_pair_reader

if TYPE_CHECKING:
    from models.chat import ChatClient
    from models.turns import Turns
    from pipeline.guard import Guard, GuardCheck, ToxicityCheck
    from pipeline.guard.pair_reader import LatePairReader
    from pipeline.guard.weighing import Weighing

READS_PAIRS = frozenset({"head", "entailment"})
"""The judges that read sentences beside their post and their evidence."""


def open_guard(settings: Settings) -> Guard:
    """Return the guard of the moderators' process, without checks that need a large model: moderators judge instead."""
    from models.toxicity import ToxicityHead
    from pipeline.guard import Guard, ToxicityCheck, word_checks

    toxicity = ToxicityCheck(ToxicityHead.load(), settings.guard)
    return Guard([*word_checks(settings.guard, judged=True), toxicity])


@asynccontextmanager
async def open_drafting_guard(
    settings: Settings,
    log_file: Path | None = None,
    chat: ChatClient | None = None,
    turns: Turns | None = None,
) -> AsyncIterator[Guard]:
    """Yield the guard for drafts, with the judge and the toxicity model that the settings choose.

    If the chat model is the judge, `chat` is used, in `turns` shared with the strategies; without `chat`, a server is
    started unless an endpoint is configured. Raises the errors of DetoxifyModel and OnnxEntailment, and BadSettings if
    the judge is the chat model and there is none.
    """
    from pipeline.guard import Guard, word_checks
    from pipeline.guard.checks import FunctionCheck
    from pipeline.guard.garbled import not_garbled

    async with AsyncExitStack() as stack:
        reader = open_pair_reader(settings) if settings.guard.judge in READS_PAIRS else None
        if reader is not None:
            stack.push_async_callback(reader.close)
        judges = await _judges(settings, stack, log_file, chat, turns or chat_turns(settings), reader)
        toxicity = await asyncio.to_thread(_toxicity, settings.guard)
        garbled = FunctionCheck("garbled", not_garbled, settings.guard)
        checks = [*word_checks(settings.guard, judged=bool(judges)), garbled, toxicity, *judges]
        yield Guard(checks, _weighing(settings, reader))


def _weighing(settings: Settings, reader: LatePairReader | None) -> Weighing | None:
    """Return how the checks are weighed; None if the judge is none that reads pairs."""
    from pipeline.guard.pair_reader import LANGUAGES as READ_AGAIN
    from pipeline.guard.weighing import Weighing

    if settings.guard.judge not in READS_PAIRS:
        return None
    chosen = settings.guard
    return Weighing(chosen.min_overall, chosen.reread_min_overall, READ_AGAIN if reader else frozenset())


def _toxicity(chosen: GuardSettings) -> ToxicityCheck:
    from models.toxicity import ToxicityHead
    from pipeline.guard import ToxicityCheck

    if chosen.toxicity == "head":
        return ToxicityCheck(ToxicityHead.load(), chosen)
    from models.detoxify_model import DetoxifyModel

    model = DetoxifyModel(chosen.detoxify_model, chosen.detoxify_checkpoint, chosen.detoxify_config)
    return ToxicityCheck(model, chosen, costly=True)


async def _judges(
    settings: Settings,
    stack: AsyncExitStack,
    log_file: Path | None,
    chat: ChatClient | None,
    turns: Turns,
    reader: LatePairReader | None,
) -> list[GuardCheck]:
    """Return the checks of the judge that the settings choose; `stack` closes what they need."""
    if settings.guard.judge == "none":
        return []
    if settings.guard.judge == "chat":
        chat = chat or await stack.enter_async_context(chat_client(settings, log_file))
        if chat is None:
            raise BadSettings(
                "guard.judge is `chat`, but chat.model is `none`. Set chat.model, or guard.judge to `head`."
            )
        return _chat_judge(settings, chat, turns)
    checks = _head_judge(settings, stack, reader)
    if settings.guard.judge == "entailment":
        checks.append(await _entailment_check(settings.guard))
    return checks


def _chat_judge(settings: Settings, chat: ChatClient, turns: Turns) -> list[GuardCheck]:
    from models.entailment import ChatEntailment
    from pipeline.guard.entailed import EntailedCheck
    from pipeline.guard.opposition import ChatOpposition, OpposesCheck

    chosen, within_s = settings.guard, settings.guard.judge_timeout_s
    # A turn has as many slots as one draft has replies, so the judge asks at most that many questions at once.
    at_once = settings.chat.candidates
    return [
        OpposesCheck(ChatOpposition(chat, at_once), chosen.min_opposition, chosen.min_harmless, within_s, turns),
        EntailedCheck(ChatEntailment(chat, at_once), chosen.min_entailment, within_s, turns),
    ]


def _head_judge(settings: Settings, stack: AsyncExitStack, reader: LatePairReader | None) -> list[GuardCheck]:
    from models.embedders import e5_embedder
    from pipeline.guard.grounded import GroundedCheck
    from pipeline.guard.opposition import FitsCheck, OpposesCheck, TopicCheck
    from pipeline.guard.pair_judge import PairEntailment, PairJudge, PairOpinions
    from pipeline.guard.pair_reader import LANGUAGES as READ_AGAIN
    from pipeline.guard.sentence_head import FITS, STANCE, HeadJudge, HeadNearness, LateEmbedder

    chosen, within_s = settings.guard, settings.guard.judge_timeout_s
    embedder = LateEmbedder(lambda: e5_embedder(settings.embedding))
    stack.push_async_callback(embedder.close)
    opinions = PairOpinions(embedder, reader)
    opposition = PairJudge(HeadJudge(STANCE, embedder), opinions)
    harmless, grounded = (
        dict.fromkeys(READ_AGAIN if reader else (), limit)
        for limit in (chosen.reread_min_harmless, chosen.reread_min_grounded)
    )
    return [
        OpposesCheck(opposition, chosen.min_opposition, chosen.min_harmless, within_s, least_in=harmless),
        GroundedCheck(PairEntailment(opinions), chosen.min_grounded, within_s, grounded),
        FitsCheck(HeadJudge(FITS, embedder), chosen.min_fit, chosen.min_sentence_fit, within_s),
        TopicCheck(HeadNearness(FITS, embedder), chosen.min_nearness, within_s),
    ]


async def _entailment_check(chosen: GuardSettings) -> GuardCheck:
    from models.entailment import OnnxEntailment
    from pipeline.guard.entailed import EntailedCheck

    model = await asyncio.to_thread(OnnxEntailment.open, chosen)
    return EntailedCheck(model, chosen.min_entailment, chosen.judge_timeout_s)
