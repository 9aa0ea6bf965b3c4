"""Answers to moderators' questions that need models: a draft for a text, evidence for a query.

The bot's process loads no model. Each question is answered by a child process, running the same `rejoinder` command as
in a terminal; only a few run at once, each for a limited time.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from bot.translation import _
from core.domain import Draft, Evidence, Grounding, Intent, TargetGroup
from core.environment import DOORS, MODELS, NETWORK, child_environment
from core.errors import BadInput, Unavailable

AT_ONCE = 2
TIMEOUT_S = 180.0
MAX_TEXT = 3_000
NOT_ASKED = (*DOORS, "REJOINDER_LEDGER__", "REJOINDER_KAFKA__")
"""Settings that the child process does not get: it needs neither cases nor topics."""
PROGRAM = (sys.executable, "-m", "rejoinder.cli")


class PipelineCli:
    """The pipeline, called through the command line; `program` is the command that starts `rejoinder`."""

    def __init__(self, program: Sequence[str] = PROGRAM, timeout_s: float = TIMEOUT_S) -> None:
        self._program = tuple(program)
        self._timeout_s = timeout_s
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def draft(self, text: str, intent: Intent | None) -> tuple[Draft | None, Grounding | None, str]:
        """Return a draft for a text, its evidence, and triage's reason.

        Raises BadInput for a text that is empty or too long, Unavailable without an answer.
        """
        options = ["--intent", intent.value] if intent else []
        answer = await self._ask(_checked(text), "draft", "--json", *options, "-")
        draft = Draft.model_validate(answer["draft"]) if answer.get("draft") else None
        grounding = Grounding.model_validate(answer["grounding"]) if answer.get("grounding") else None
        return draft, grounding, str(answer["triage"]["reason"])

    async def evidence(self, query: str, group: TargetGroup | None) -> list[Evidence]:
        """Return the statements that answer a query best. Raises the same errors as `draft`."""
        options = ["--group", group.value] if group else []
        statements = await self._ask(_checked(query), "kb", "search", "--json", *options, "-")
        return [Evidence.model_validate(item) for item in statements]

    async def _ask(self, text: str, *arguments: str) -> Any:
        # The text is passed through a pipe, because all users of the machine can read a process's arguments.
        async with self._slots:
            child = await asyncio.create_subprocess_exec(
                *self._program, *arguments,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                env=child_environment("REJOINDER_", *NETWORK, *MODELS, without=NOT_ASKED),
            )  # fmt: skip
            try:
                async with asyncio.timeout(self._timeout_s):
                    output, trouble = await child.communicate(text.encode(errors="replace"))
            except TimeoutError:
                raise Unavailable(
                    _("No answer came within {n} s; try again later.", n=round(self._timeout_s))
                ) from None
            finally:
                if child.returncode is None:
                    child.kill()
                    await child.wait()
        if child.returncode != 0:
            raise Unavailable(_("This could not be answered: {why}", why=_last_line(trouble)))
        return json.loads(output)


def _checked(text: str) -> str:
    if not text.strip():
        raise BadInput(_("Nothing was asked; put the text behind the command."))
    if len(text) > MAX_TEXT:
        raise BadInput(_("The text has {n} characters; {most} are the most here.", n=len(text), most=MAX_TEXT))
    return text.replace("\x00", "")


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return (lines[-1] if lines else _("no reason was given")).removeprefix("Error: ")[:300]
