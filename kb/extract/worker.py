"""Read one document in a worker process, from the file to its paragraphs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from core.domain import Evidence, Source, clean
from core.errors import BadInput
from kb.extract.documents import SourceDocument
from kb.extract.formats import read
from kb.extract.harvest import SketchedParagraph
from kb.extract.near_duplicates import bands
from kb.extract.passages import Reading
from kb.extract.structure import blocks_of
from kb.extract.subjects import GroupTerms, language_in, language_of
from kb.paragraphs import Block, Paragraph, count_words, paragraphs_of

VERSION = 3
"""Increase this when the same file would give other paragraphs: documents of an older version are read again."""
FEWEST_WORDS = 6
"""A shorter paragraph is only a remnant of a heading or a table."""
_SAMPLED_BLOCKS = 100
"""Blocks from which a document's language is determined if its sheet does not give it."""


@dataclass(frozen=True)
class ExtractionResult:
    """What one document gave; `problem` says why it gave nothing."""

    paragraphs: tuple[SketchedParagraph, ...] = ()
    notes: tuple[str, ...] = ()
    pages: int = 0
    scanned: int = 0
    problem: str = ""


def limit_memory(memory_mb: int) -> None:
    """Limit the memory of this worker process."""
    try:
        import resource
    except ImportError:  # Windows has no such limit; there, only the time limit applies.
        return
    limit = memory_mb * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def extract(document: SourceDocument, sha256: str, terms: GroupTerms) -> ExtractionResult:
    """Read a document; problems with its file are part of the result and not raised."""
    try:
        content = document.file.read_bytes()
        if hashlib.sha256(content).hexdigest() != sha256:
            return ExtractionResult(problem="The file changed while it was read. Run again.")
        reading = read(content, document.file.name, document.language or "")
        return ExtractionResult(
            tuple(_paragraphs(document, reading, terms)), reading.notes, reading.pages, reading.scanned
        )
    except (BadInput, OSError) as error:
        return ExtractionResult(problem=str(error))
    except MemoryError:
        return ExtractionResult(
            problem="The file needs more memory than a worker may take. Split it, or raise the limit."
        )


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256; raises OSError when it can't be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _paragraphs(document: SourceDocument, reading: Reading, terms: GroupTerms) -> list[SketchedParagraph]:
    blocks = blocks_of(reading.passages)
    language = document.language or _main_language(blocks)
    paragraphs = (part for part in paragraphs_of(blocks, language) if count_words(part.text) >= FEWEST_WORDS)
    return [_sketched(document, paragraph, language, terms) for paragraph in paragraphs]


def _main_language(blocks: list[Block]) -> str:
    sample = " ".join(block.text for block in blocks[:_SAMPLED_BLOCKS])
    return language_of(sample)[0] if sample else ""


def _sketched(document: SourceDocument, paragraph: Paragraph, language: str, terms: GroupTerms) -> SketchedParagraph:
    text = clean(paragraph.text)
    source = Source(
        institution=document.institution,
        title=document.title,
        symbol=document.symbol,
        locator=paragraph.place,
        year=document.year,
        url=document.url,
    )
    evidence = Evidence(
        id=f"{document.id}#{paragraph.key}",
        text=text,
        source=source,
        groups=terms.groups_of(text, document.title, document.groups),
        language=language_in(text, language),
    )
    return SketchedParagraph(evidence, tuple(bands(text)))
