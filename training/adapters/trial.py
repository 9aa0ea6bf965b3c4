"""Draft for unseen posts with a model and with its adapter on top, as a run that `rejoinder evaluate` scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from core.domain import Intent
from core.settings import Settings
from evaluation.generate import reference_drafts
from evaluation.lines import append_lines
from evaluation.records import REFERENCES, EvaluationPost, System, SystemDraft
from evaluation.run import RunFolder
from models.chat import ChatModel, Message
from rejoinder.chat_assembly import chat_client
from training.adapters.examples import REPLY_TOKENS, question

BARE = "bare"
"""The strategy's name in reports: the prompt that adapters are trained on, without the rest of the pipeline."""
TEMPERATURE = 0.5


def systems(model: str, adapter: Path) -> tuple[System, System]:
    """Return the two systems: the model alone, and with the adapter."""
    return (
        System(strategy=BARE, model=model, retriever="none"),
        System(strategy=BARE, model=f"{model}+{adapter.stem}", retriever="none"),
    )


async def try_adapter(
    run: RunFolder, posts: Sequence[EvaluationPost], adapter: Path, settings: Settings, advance: Callable[[], None]
) -> None:
    """Append the drafts that both systems don't have yet.

    One server serves both: it loads the adapter once, and each request switches it on or off. Raises ModelUnavailable
    if the server can't start.
    """
    known = {(draft.system, draft.post_id) for draft in run.drafts()}
    if not any(name == REFERENCES for name, _ in known):
        append_lines(run.drafts_path, reference_drafts(posts))
    # Settings key adapters by intent; any intent will do as the name by which requests select this one.
    (name,) = loaded = {Intent.INFORMATIVE: adapter}
    chat = settings.chat.model_copy(update={"adapters": loaded})
    log_file = settings.data_dir / "logs" / "chat-server.log"
    async with chat_client(settings.model_copy(update={"chat": chat}), log_file) as client:
        assert client is not None
        for number, post in enumerate(posts):
            for system, switched_on in zip(systems(settings.chat.model, adapter), (None, name), strict=True):
                if (system.name, post.id) not in known:
                    draft = await _draft(client, system, post, switched_on, run.manifest().seed + number)
                    append_lines(run.drafts_path, [draft])
                advance()


async def _draft(
    client: ChatModel, system: System, post: EvaluationPost, adapter: str | None, seed: int
) -> SystemDraft:
    begun = time.perf_counter()
    language = post.language or "en"
    task = question(post.text, language, post.groups, post.intent)
    (completion, *_) = await client.complete(
        [Message("user", task)], temperature=TEMPERATURE, max_tokens=REPLY_TOKENS, seed=seed, adapter=adapter
    )
    return SystemDraft(
        post_id=post.id, system=system.name, text=" ".join(completion.text.split()), language=language,
        intent=post.intent, groups=post.groups, writer=BARE, seconds=round(time.perf_counter() - begun, 3),
    )  # fmt: skip
