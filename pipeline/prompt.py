"""Build the messages that ask a chat model for a reply, with the flagged post fenced off as untrusted data."""

from __future__ import annotations

import re
import secrets

from core.domain import Evidence, Intent
from models.chat import Message, quoted
from pipeline.guard import GuardContext
from pipeline.guard.lexicon import table
from pipeline.languages import packs

MAX_POST = 1200
MAX_EVIDENCE = 600
MAX_HINT = 300
"""Most characters of each that reach the model; in any script, the whole prompt must fit into 2048 tokens."""

_FENCE = re.compile(r"[`#=*_|]{3,}|-{3,}")
_ROLE = re.compile(r"(?im)^\s*(?:system|assistant|user|human|ai)\s*:")


def messages(ctx: GuardContext, hint: str = "", *, mark: str | None = None) -> list[Message]:
    """Return system prompt, one worked example for the intent, and the task; `mark`, or a new one, fences the post.

    Everything but the last message depends on the intent alone. Post, evidence and hint are neutralised: chat-template
    tokens in them have no effect.
    """
    texts = table("prompts")
    example = texts["example"]
    fence = mark or new_mark()
    return [
        Message("system", str(texts["system"]).strip()),
        Message("user", _task(example["post"], example["evidence"], ctx.intent, "English", "", "post-000000")),
        Message("assistant", str(example["replies"][ctx.intent])),
        Message(
            "user",
            _task(
                ctx.post.text,
                [with_source(item) for item in ctx.evidence],
                ctx.intent,
                language_name(ctx.reply_language),
                hint,
                fence,
            ),
        ),
    ]


def new_mark() -> str:
    """Return a mark that a post's author can't predict; it is short, because each of its signs is a token or more."""
    return f"post-{secrets.token_hex(3)}"


def fenced(post: str, mark: str) -> str:
    """Return a post, neutralised and cut, between two lines with `mark`; a heading announces the mark."""
    text = harmless(post, MAX_POST).replace(mark, "")
    return str(table("prompts")["task"]["post"]).format(fence=mark, text=text)


def wish(hint: str) -> str:
    """Return a moderator's hint as a line for the model; an empty hint gives an empty text."""
    wording = str(table("prompts")["task"]["wish"])
    return wording.format(hint=harmless(hint, MAX_HINT)) if hint.strip() else ""


def with_source(evidence: Evidence) -> str:
    """Return a statement, or its summary, with its source."""
    source = evidence.source
    text = (evidence.summary or evidence.text)[: MAX_EVIDENCE - 100]
    wording = str(table("prompts")["task"]["source"])
    return wording.format(text=text, institution=source.institution, symbol=source.symbol, year=source.year)


def language_name(code: str) -> str:
    """Return a language's English name, or its code where the name isn't listed."""
    return packs()[code].name if code in packs() else str(table("languages").get(code, code))


def harmless(text: str, limit: int) -> str:
    """Return `text` cut to `limit` characters, without anything that could pass for a chat template or our fence."""
    cut = text if len(text) <= limit else text[:limit] + " …"
    return quoted(_ROLE.sub("", _FENCE.sub(" ", cut)), len(cut))


def _task(post: str, evidence: list[str], intent: Intent, language: str, hint: str, fence: str) -> str:
    texts = table("prompts")
    wording = texts["task"]
    statements = [f"[{k}] {harmless(text, MAX_EVIDENCE)}" for k, text in enumerate(evidence, 1)]
    return str(wording["message"].strip()).format(
        evidence="\n".join(statements) or wording["no_evidence"],
        post=fenced(post, fence),
        task=texts["intents"][intent],
        wish=wish(hint),
        language=language,
    )
