"""Searches of the knowledge base from the desk's page, and the statements found."""

from __future__ import annotations

from collections import OrderedDict

from bot.pipeline_cli import PipelineCli
from bot.translation import _
from core.domain import Evidence, TargetGroup
from core.errors import BadInput

REMEMBERED = 1_000


class EvidenceSearch:
    """The knowledge base, searched through the command line.

    The results are remembered, so that a page refers to a statement by its id alone and can't invent one.
    """

    def __init__(self, pipeline_cli: PipelineCli) -> None:
        self._pipeline_cli = pipeline_cli
        self._statements: OrderedDict[str, Evidence] = OrderedDict()

    async def search(self, query: str, group: TargetGroup | None) -> list[Evidence]:
        """Return the statements that answer a query best. Raises BadInput, or Unavailable without an answer."""
        statements = await self._pipeline_cli.evidence(query, group)
        for piece in statements:
            self._statements[piece.id] = piece
            self._statements.move_to_end(piece.id)
        while len(self._statements) > REMEMBERED:
            self._statements.popitem(last=False)
        return statements

    def statement(self, id: str) -> Evidence:
        """Return a statement that a search found. Raises BadInput for any other."""
        if id not in self._statements:
            raise BadInput(_("This statement is not known any more; search for it again and choose it then."))
        return self._statements[id]
