"""Fill the strategies' prompts, `pipeline/data/prompts/<strategy>.toml`."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain import FlaggedPost, Intent
from models.chat import Message
from pipeline import prompt
from pipeline.guard.lexicon import table

LONGEST_FIELD = 600
"""Most characters of a field, or of one item of a list, that reach the model."""


def request(
    strategy: str,
    name: str,
    *,
    post: FlaggedPost | None = None,
    mark: str = "",
    hint: str = "",
    **fields: str | Sequence[str],
) -> list[Message]:
    """Return system prompt and task of one request of a strategy; its fields are neutralised, its lists numbered.

    `{post}` is filled with the post between two lines with `mark`, or with a new one; `{wish}` with the moderator's
    hint as a line, or with nothing.
    """
    texts = table(f"prompts/{strategy}")[name]
    filled = {key: _filled(value) for key, value in fields.items()}
    system = str(texts["system"]).strip()
    if post is not None:
        filled["post"] = prompt.fenced(post.text, mark or prompt.new_mark())
        system = f"{system}\n{table('prompts/shared')['untrusted']}"
    task = str(texts["task"]).strip().format(wish=prompt.wish(hint), **filled)
    return [Message("system", system), Message("user", task)]


def aim(intent: Intent) -> str:
    """Return the aim of a reply with this intent, as an instruction."""
    return str(table("prompts")["intents"][intent])


def _filled(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return prompt.harmless(value, LONGEST_FIELD)
    return "\n".join(f"[{number}] {prompt.harmless(text, LONGEST_FIELD)}" for number, text in enumerate(value, 1))
