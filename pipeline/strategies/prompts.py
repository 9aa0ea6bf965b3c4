"""Fill the prompts of the strategies, `pipeline/data/prompts/<strategy>.toml`."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain import FlaggedPost, Intent
from models.chat import Message
from pipeline import prompt
from pipeline.guard.lexicon import table

LONGEST_FIELD = 600
"""Characters of one field, or of one line of a list, that reach the model."""


def request(
    strategy: str,
    name: str,
    *,
    post: FlaggedPost | None = None,
    mark: str = "",
    hint: str = "",
    **fields: str | Sequence[str],
) -> list[Message]:
    """Return system prompt and task of one request of a strategy, with its fields made harmless, lists numbered.

    `{post}` stands between two lines with `mark`, or a new one, `{wish}` is the moderator's hint, on a line or nothing.
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
    """Return what a reply with an intent sets out to do, as an instruction."""
    return str(table("prompts")["intents"][intent])


def _filled(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return prompt.harmless(value, LONGEST_FIELD)
    return "\n".join(f"[{number}] {prompt.harmless(text, LONGEST_FIELD)}" for number, text in enumerate(value, 1))
