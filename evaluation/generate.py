"""Draft an answer to every post with every system, using the same pipeline code as in service."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import get_args

from core.domain import DraftRequest, FlaggedPost, Grounding, Route, StrategyName, Triage
from core.errors import BadInput
from core.settings import NO_MODEL, KnowledgeBaseSettings, Settings
from evaluation.lines import append_lines
from evaluation.records import REFERENCES, EvaluationPost, System, SystemDraft
from evaluation.run import RunFolder
from rejoinder.assembly import Pipeline, open_pipeline, open_strategies

PLATFORM = "evaluation"
STRATEGIES = tuple(StrategyName)
RETRIEVERS: tuple[str, ...] = get_args(KnowledgeBaseSettings.model_fields["retriever"].annotation)


def combinations(
    strategies: Sequence[str], models: Sequence[str], retrievers: Sequence[str], settings: Settings
) -> tuple[System, ...]:
    """Return every combination of the names as a system.

    A strategy that uses no chat model appears once per retriever, with the model `none`; one that needs a model is
    left out for `none`. Raises BadInput for an unknown strategy or retriever, or if no combination is left.
    """
    for kind, names, known in (("strategy", strategies, STRATEGIES), ("retriever", retrievers, RETRIEVERS)):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise BadInput(f"There is no {kind} {', '.join(unknown)}; there are {', '.join(known)}.")
    systems = dict.fromkeys(_combined(strategies, models, retrievers, settings))
    if not systems:
        raise BadInput(f"{', '.join(strategies)} can't draft without a chat model; name one with --models.")
    return tuple(systems)


def _combined(
    strategies: Sequence[str], models: Sequence[str], retrievers: Sequence[str], settings: Settings
) -> Iterator[System]:
    for strategy, model, retriever in product(strategies, models, retrievers):
        system = System(strategy=strategy, model=model, retriever=retriever)
        if not asks_model(system, settings):
            yield system.model_copy(update={"model": NO_MODEL})
        elif model != NO_MODEL:
            yield system


def asks_model(system: System, settings: Settings) -> bool:
    """Tell whether a system's strategy uses a chat model, to plan or to write."""
    strategy = open_strategies(settings_of(system, settings), None).default
    return strategy.plans_with_model or strategy.writes_with_model


def settings_of(system: System, settings: Settings) -> Settings:
    """Return the settings under which the pipeline runs as that system."""
    parts = {
        "chat": settings.chat.model_copy(update={"model": system.model}),
        "draft": settings.draft.model_copy(update={"strategy": system.strategy}),
        "kb": settings.kb.model_copy(update={"retriever": system.retriever}),
    }
    return settings.model_copy(update=parts)


async def generate(
    run: RunFolder, system: System, posts: Iterable[EvaluationPost], settings: Settings, advance: Callable[[], None]
) -> int:
    """Append the drafts that a system does not have yet, one at a time, and return their number."""
    known = {draft.post_id for draft in run.drafts() if draft.system == system.name}
    owed = [post for post in posts if post.id not in known]
    if not owed:
        return 0
    log_file = Path(settings.data_dir) / "logs" / "chat-server.log"
    async with open_pipeline(settings_of(system, settings), log_file=log_file) as pipeline:
        for post in owed:
            append_lines(run.drafts_path, [await draft_answer(pipeline, system, post)])
            advance()
    return len(owed)


async def draft_answer(pipeline: Pipeline, system: System, post: EvaluationPost) -> SystemDraft:
    """Return a system's draft for a post. The pipeline sees the post's text and language, never its references."""
    assert pipeline.triager and pipeline.grounder and pipeline.drafter
    begun = time.perf_counter()
    flagged = as_flagged(post)
    triage = await pipeline.triager.triage(flagged)
    grounding = await pipeline.grounder.ground(flagged, triage, last_attempt=True)
    # An evaluation needs an answer to every post, even where triage would dismiss it or leave it to people.
    answered = triage.model_copy(update={"route": Route.DRAFT})
    draft = await pipeline.drafter.draft(
        flagged, answered, grounding.requested(), DraftRequest(intent=post.intent), last_attempt=True
    )
    shown = next((candidate for candidate in draft.candidates if candidate.text == draft.text), None)
    return SystemDraft(
        post_id=post.id,
        system=system.name,
        text=draft.text,
        language=draft.language,
        intent=post.intent,
        groups=_groups(post, triage),
        writer=shown.strategy if shown else "",
        passes=bool(draft.text) and not any(check.hard and not check.passed for check in draft.checks),
        counter_claim=_counter_claim(grounding, post),
        evidence=grounding.evidence,
        note=draft.note,
        seconds=round(time.perf_counter() - begun, 3),
    )


def as_flagged(post: EvaluationPost) -> FlaggedPost:
    """Return the post as a platform would send it, with an id of its own, on which the choice of wording depends."""
    # Ids in a user's file may contain spaces, which a platform's post id must not.
    post_id = hashlib.sha256(post.id.encode()).hexdigest()
    return FlaggedPost(platform=PLATFORM, post_id=post_id, text=post.text, language=post.language)


def reference_drafts(posts: Iterable[EvaluationPost]) -> Iterator[SystemDraft]:
    """Yield the first reference of each post as if a system had drafted it."""
    for post in posts:
        if post.references:
            yield SystemDraft(
                post_id=post.id,
                system=REFERENCES,
                text=post.references[0],
                language=post.language or "en",
                intent=post.intent,
                groups=post.groups,
                writer="people",
            )


def _groups(post: EvaluationPost, triage: Triage) -> tuple[str, ...]:
    return tuple(group.value for group in post.groups) or tuple(score.group.value for score in triage.groups[:1])


def _counter_claim(grounding: Grounding, post: EvaluationPost) -> str:
    """Return the sentence that the reply should argue for: the plan's, else the best matching claim's on file."""
    if grounding.plan.counter_claim or not grounding.claims:
        return grounding.plan.counter_claim
    on_file = grounding.claims[0].counter_claims
    return next(
        (counter.text for counter in on_file if counter.intent == post.intent), on_file[0].text if on_file else ""
    )
