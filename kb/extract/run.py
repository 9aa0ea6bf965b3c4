"""Extract many documents in a pool of processes; broken documents and interruptions don't stop the work."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import TimeoutError as OutOfTime
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from kb.extract.documents import SourceDocument
from kb.extract.harvest import Entry, Harvest, Status
from kb.extract.subjects import GroupTerms
from kb.extract.worker import VERSION, ExtractionResult, extract, limit_memory, sha256_of

log = logging.getLogger(__name__)

Progress = Callable[[int, int, SourceDocument], None]
"""Called with the number of finished documents, the number of all, and the document just finished."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run: processes, seconds per document, memory per process; `retry` reads failed documents again."""

    workers: int = os.cpu_count() or 1
    seconds: float = 600.0
    memory_mb: int = 3072
    retry: bool = False


@dataclass(frozen=True)
class DocumentProblem:
    """What went wrong with a document, or with part of it, and what to do about it."""

    document: str
    message: str
    fatal: bool


@dataclass
class ExtractionReport:
    """Counts of a run; `problems` names every document that was not read, or not completely."""

    documents: int = 0
    unchanged: int = 0
    failed: int = 0
    repeated_documents: int = 0
    pages: int = 0
    scanned_pages: int = 0
    paragraphs: int = 0
    folded: int = 0
    seconds: float = 0.0
    problems: list[DocumentProblem] = field(default_factory=list)


@dataclass(frozen=True)
class _Job:
    document: SourceDocument
    sha256: str
    future: ProcessFuture[ExtractionResult] | None
    problem: str = ""


def extract_documents(
    documents: Iterable[SourceDocument],
    progress: Progress | None = None,
    *,
    harvest: Harvest,
    limits: Limits | None = None,
    terms: GroupTerms | None = None,
) -> ExtractionReport:
    """Extract the documents into the harvest; `harvest.evidence()` then yields their paragraphs.

    Newer documents come first, so that a paragraph which resolutions repeat every year is cited from the newest.
    Documents whose content and citation have not changed since an earlier run are not read again. A broken, endless or
    oversized document is reported, and the run continues. Raises ModuleNotFoundError if a reader's library is missing.
    """
    begun, limits = time.monotonic(), limits or Limits()
    ordered = sorted(documents, key=lambda document: (-document.year, document.id))
    report = ExtractionReport()
    terms = terms or GroupTerms.load()
    with _pool(limits, len(ordered)) as pool:
        try:
            schedule = partial(_schedule, pool, harvest, limits, terms)
            for done, job in enumerate(_in_order(schedule, ordered, 4 * limits.workers), start=1):
                _record(job, harvest, report)
                if progress:
                    progress(done, len(ordered), job.document)
        except BaseException:
            pool.stop()  # type: ignore[no-untyped-call]
            raise
    report.paragraphs, report.folded = harvest.counts()
    report.seconds = time.monotonic() - begun
    return report


def _pool(limits: Limits, documents: int) -> ProcessPool:
    # No more workers than documents: one that is still starting when the run ends prints errors on the terminal.
    # A fresh process every 200 documents gives back what C libraries leak.
    return ProcessPool(
        max_workers=max(1, min(limits.workers, documents)),
        max_tasks=200,
        initializer=limit_memory,
        initargs=(limits.memory_mb,),
        context=get_context("spawn"),
    )


def _in_order(schedule: Callable[[SourceDocument], _Job], documents: list[SourceDocument], most: int) -> Iterator[_Job]:
    """Yield the jobs in the documents' order, starting a few ahead: folding and ids must not depend on speed."""
    ahead: deque[_Job] = deque()
    for document in documents:
        ahead.append(schedule(document))
        if len(ahead) > most:
            yield ahead.popleft()
    yield from ahead


def _schedule(pool: ProcessPool, harvest: Harvest, limits: Limits, terms: GroupTerms, document: SourceDocument) -> _Job:
    try:
        sha256 = sha256_of(document.file)
    except OSError as error:
        return _Job(document, "", None, f"The file can't be read: {error.strerror}. Fetch it again.")
    if harvest.holder(sha256) not in (None, document.id):
        return _Job(document, sha256, None)
    entry = harvest.find(document.id)
    settled = entry and (entry.sha256, entry.citation) == (sha256, _citation(document))
    if entry and settled and (entry.status is Status.DONE or (entry.status is Status.FAILED and not limits.retry)):
        return _Job(document, sha256, None)
    return _Job(document, sha256, pool.schedule(extract, args=(document, sha256, terms), timeout=limits.seconds))


def _record(job: _Job, harvest: Harvest, report: ExtractionReport) -> None:
    report.documents += 1
    holder = harvest.holder(job.sha256)
    if holder not in (None, job.document.id):
        message = f"It has the same content as {holder}, and was left out."
        report.repeated_documents += 1
        report.problems.append(DocumentProblem(job.document.id, message, fatal=False))
        return
    if job.future is None and not job.problem:
        report.unchanged += 1
        entry = harvest.find(job.document.id)
        if entry and entry.status is Status.FAILED:
            report.failed += 1
            report.problems += [DocumentProblem(job.document.id, note, fatal=True) for note in entry.notes]
        return
    _store(job, _result(job), harvest, report)


def _store(job: _Job, result: ExtractionResult, harvest: Harvest, report: ExtractionReport) -> None:
    notes = (result.problem,) if result.problem else result.notes
    status = Status.FAILED if result.problem else Status.PARTIAL if notes else Status.DONE
    entry = Entry(job.sha256, _citation(job.document), status, notes)
    harvest.put(job.document.id, job.document.year, entry, result.paragraphs)
    report.failed += status is Status.FAILED
    report.pages += result.pages
    report.scanned_pages += result.scanned
    report.problems += [DocumentProblem(job.document.id, note, fatal=bool(result.problem)) for note in notes]
    for note in notes:
        log.warning("%s: %s", job.document.id, note)


def _result(job: _Job) -> ExtractionResult:
    if job.future is None:
        return ExtractionResult(problem=job.problem)
    try:
        return job.future.result()
    except OutOfTime:
        return ExtractionResult(
            problem="Reading it took longer than a document may take. Split it, or raise the limit."
        )
    except ProcessExpired as error:
        return ExtractionResult(
            problem=f"Its reader broke down (exit code {error.exitcode}): the file is damaged, or needs more "
            "memory than a worker may take. Look at it, or raise the limit."
        )
    except ModuleNotFoundError:
        # A missing library is no file's fault, and every file of the same kind would fail.
        raise
    except Exception as error:
        # The library failed in an unforeseen way, and one file must not end the run.
        log.exception("Reading %s failed", job.document.file)
        return ExtractionResult(
            problem=f"Reading it failed: {type(error).__name__}: {error}. Save it in another format."
        )


def _citation(document: SourceDocument) -> str:
    return f"{VERSION}:{document.citation_digest}"
