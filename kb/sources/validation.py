"""Distinguish documents from what servers send in their place.

Servers of public documents answer scripts with a challenge page, send HTML at the address of a PDF, report errors with
status 200, or cut files short. Each of these has a name here, and none is ever stored.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from io import BytesIO

_HEAD = 4096
_TAIL = 8192
_LONGEST_SHOWN = 120
_CHALLENGES = (
    b"awswaf.com/",
    b"AwsWafIntegration",
    b"gokuProps",
    b"/cdn-cgi/challenge-platform/",
    b"_Incapsula_Resource",
)
_OUT_OF_TIME = re.compile(rb"S1T00|S1TAT|SR171|timed? ?out|timeout", re.IGNORECASE)
_ROOT = re.compile(rb"<([A-Za-z_][\w.:-]*)[\s>/]")


class Reason(StrEnum):
    """Why an answer is not a document."""

    CHALLENGE = "challenge page"
    WRONG_FORMAT = "wrong format"
    EMPTY = "empty answer"
    ENDPOINT_ERROR = "endpoint error"
    UNREADABLE = "unreadable answer"
    CHOICES = "multiple choices"
    TRUNCATED = "truncated"
    TOO_LARGE = "too large"
    DISALLOWED = "disallowed by robots.txt"
    FOREIGN = "foreign address"
    MISSING = "missing"
    FORBIDDEN = "forbidden"
    BUSY = "server busy"
    BROKEN = "server error"
    TIMEOUT = "out of time"
    UNREACHABLE = "unreachable"
    CLOSED = "host left alone"

    @property
    def transient(self) -> bool:
        """Tell whether asking again soon may help."""
        return self in _TRANSIENT

    @property
    def permanent(self) -> bool:
        """Tell whether the same request would get the same answer tomorrow."""
        return self in _PERMANENT

    @property
    def blames_host(self) -> bool:
        """Tell whether the host itself refuses, whatever is requested."""
        return self in _HOSTS_DOING


_TRANSIENT = {Reason.TRUNCATED, Reason.BUSY, Reason.BROKEN, Reason.TIMEOUT, Reason.UNREACHABLE}
_PERMANENT = {
    Reason.WRONG_FORMAT,
    Reason.EMPTY,
    Reason.CHOICES,
    Reason.TOO_LARGE,
    Reason.DISALLOWED,
    Reason.FOREIGN,
    Reason.MISSING,
    Reason.FORBIDDEN,
}
_HOSTS_DOING = {Reason.CHALLENGE, Reason.BUSY, Reason.UNREACHABLE, Reason.CLOSED}


@dataclass(frozen=True)
class Refusal:
    """An answer that is not a document: the reason, the address, and what was received."""

    reason: Reason
    url: str
    detail: str
    body: bytes = field(default=b"", repr=False)

    def __str__(self) -> str:
        return f"{self.reason}: {self.description}"

    @property
    def description(self) -> str:
        """Return what was received and from where; a long address is cut."""
        place = self.url if len(self.url) <= _LONGEST_SHOWN else f"{self.url[:_LONGEST_SHOWN]}…"
        return f"{self.detail} ({place})"


class Format(StrEnum):
    """The format of a body by its first bytes; the value is the file extension."""

    PDF = "pdf"
    HTML = "html"
    XML = "xml"
    JSON = "json"
    DOCX = "docx"
    TEXT = "txt"


def recognise(content: bytes) -> Format | None:
    """Return the format of a body, whatever its server declares; None if it is unknown."""
    head = content[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if b"%PDF-" in head[:1024]:
        return Format.PDF
    if head.startswith(b"PK\x03\x04"):
        return Format.DOCX
    if head[:1] in (b"{", b"["):
        return Format.JSON
    if re.search(rb"<!doctype html|<html[\s>]", head, re.IGNORECASE):
        return Format.HTML
    if head.startswith(b"<"):
        return Format.XML
    return Format.TEXT if head and b"\0" not in head else None


def examine(
    url: str, status: int, headers: Mapping[str, str], content: bytes, formats: Collection[Format]
) -> Refusal | None:
    """Return why an answer is not a complete document in one of these formats; None if it is one."""
    refused = _challenged(url, headers, content) or _by_status(url, status, headers, content)
    if refused:
        return refused
    if not content.strip():
        return Refusal(Reason.EMPTY, url, "status 200 with an empty body")
    return _endpoint_error(url, headers, content) or _by_format(url, headers, content, formats)


def _challenged(url: str, headers: Mapping[str, str], content: bytes) -> Refusal | None:
    if headers.get("x-amzn-waf-action") or any(mark in content[:20_000] for mark in _CHALLENGES):
        return Refusal(Reason.CHALLENGE, url, "the server wants to see a browser run a script")
    return None


def _by_status(url: str, status: int, headers: Mapping[str, str], content: bytes) -> Refusal | None:
    if status == 200:
        return None
    if content.startswith(b"Virtuoso "):
        return _endpoint_error(url, headers, content)
    reasons = {
        202: Reason.EMPTY,
        204: Reason.EMPTY,
        300: Reason.CHOICES,
        401: Reason.FORBIDDEN,
        403: Reason.FORBIDDEN,
        451: Reason.FORBIDDEN,
        404: Reason.MISSING,
        406: Reason.MISSING,
        410: Reason.MISSING,
        408: Reason.TIMEOUT,
        429: Reason.BUSY,
        503: Reason.BUSY,
        504: Reason.TIMEOUT,
    }
    reason = reasons.get(status, Reason.BROKEN if status >= 500 else Reason.UNREADABLE)
    return Refusal(reason, url, f"status {status}", body=content if reason is Reason.CHOICES else b"")


def _endpoint_error(url: str, headers: Mapping[str, str], content: bytes) -> Refusal | None:
    """Recognise Virtuoso's errors, sent as text with status 200, and its partial results."""
    if content.startswith(b"Virtuoso "):
        line = content.splitlines()[0][:200]
        reason = Reason.TIMEOUT if _OUT_OF_TIME.search(line) else Reason.ENDPOINT_ERROR
        return Refusal(reason, url, line.decode("utf-8", "replace"))
    if headers.get("x-sql-state"):
        return Refusal(Reason.TIMEOUT, url, f"a partial result, SQL state {headers['x-sql-state']}")
    return None


def _by_format(url: str, headers: Mapping[str, str], content: bytes, formats: Collection[Format]) -> Refusal | None:
    actual = recognise(content)
    if actual not in formats:
        expected = " or ".join(sorted(form.upper() for form in formats))
        declared = headers.get("content-type", "no content type")
        return Refusal(
            Reason.WRONG_FORMAT,
            url,
            f"{actual.upper() if actual else 'something else'} in place of {expected} (called {declared})",
        )
    if actual and not _is_whole(content, actual):
        return Refusal(Reason.TRUNCATED, url, f"the {actual.upper()} has no end; {len(content):,} bytes came")
    return None


def _is_whole(content: bytes, form: Format) -> bool:
    tail = content[-_TAIL:]
    if form is Format.PDF:
        return b"%%EOF" in tail
    if form is Format.DOCX:
        return zipfile.is_zipfile(BytesIO(content))
    if form is Format.HTML:
        return b"</html" in tail.lower() or b"<html" not in content[:_HEAD].lower()
    if form is Format.XML:
        bare = re.sub(rb"<[?!].*?>", b"", content[:_HEAD], flags=re.DOTALL)
        root = _ROOT.search(bare)
        return root is None or b"</" + root[1] in tail or content.rstrip().endswith(b"/>")
    return True
