"""Fetch UN documents by symbol from the Official Document System.

`https://documents.un.org/api/symbol/access?s=A/RES/80/193&l=en&t=pdf`. For a symbol or language that it does not have,
the system answers with status 200 and a web page.
"""

from __future__ import annotations

from kb.sources.fetch import Answer, Client
from kb.sources.validation import Format, Reason, Refusal

BASE = "https://documents.un.org"


class SymbolDocuments:
    """The Official Document System."""

    def __init__(self, client: Client, base: str = BASE) -> None:
        self._client = client
        self._base = base

    async def fetch(self, symbol: str, language: str) -> Answer | Refusal:
        """Return the PDF for a symbol in a language."""
        answer = await self._client.get(
            f"{self._base}/api/symbol/access", {Format.PDF}, params={"s": symbol, "l": language, "t": "pdf"}
        )
        if isinstance(answer, Refusal) and answer.reason is Reason.WRONG_FORMAT:
            return Refusal(Reason.MISSING, answer.url, f"no document {symbol} in '{language}': {answer.detail}")
        return answer


def citation(symbol: str, language: str = "en") -> str:
    """Return the address to cite, which is never fetched."""
    return f"https://docs.un.org/{language}/{symbol}"


def type_of(symbol: str, title: str, statement: str) -> str:
    """Return a document's type, from its symbol if that shows it, else from its title statement."""
    parts, words = f"/{symbol}/", f"{title} {statement}".casefold()
    by_symbol = (
        ("/L.", "draft"),
        ("/PV.", "meeting"),
        ("/SR.", "meeting"),
        ("/RES/", "resolution"),
        ("/DEC/", "decision"),
        ("/GC/", "general-comment"),
        ("/CO/", "observations"),
    )
    by_words = (
        ("general comment", "general-comment"),
        ("general recommendation", "general-comment"),
        ("concluding observations", "observations"),
        ("draft resolution", "draft"),
        ("letter", "letter"),
        ("note verbale", "letter"),
        ("report", "report"),
        ("decision", "decision"),
    )
    return next((kind for mark, kind in by_symbol if mark in parts), None) or next(
        (kind for mark, kind in by_words if mark in words), "other"
    )
