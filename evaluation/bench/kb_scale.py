"""Measure building and searching a knowledge base of, for example, a million synthetic paragraphs.

A synthetic vector lies between two real vectors of the starter evidence, with a little noise; a synthetic text mixes
words of the statements. Building and searching run in separate processes, so that their memory is measured separately.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.domain import Evidence
from core.settings import KnowledgeBaseSettings
from kb.build import build, update
from kb.query import Query, Vectors
from kb.search import Searcher
from kb.shipped import shipped_vectors
from kb.snapshot import Snapshot
from kb.starter import load_starter
from kb.vectors import ROWS
from models.e5 import E5Embedder
from models.embed import Embedder
from models.embedders import default_embedder

POSTS = [(statement.answers[0], statement.groups[0]) for statement in load_starter()][:160]
"""The texts to search for, each with the group that half of the searches pass on."""
NOISE = 0.02
WORDS = 70
ROUNDS = 3
PORTION = 65_536
UPDATES = 12
RATE = 100
"""Searches started per second while an update is swapped in."""
SETTLED_S = 5.0


class Synthetic:
    """An embedder that derives a vector from the number that each synthetic text begins with."""

    name, dimension = "synthetic", 384

    def __init__(self) -> None:
        self._real = np.stack(list(shipped_vectors(E5Embedder.name).values()))

    async def passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(int(text.split(" ", 1)[0])) for text in texts])

    async def queries(self, texts: Sequence[str]) -> Vectors:
        return await self.passages(texts)

    async def close(self) -> None:
        return

    def _vector(self, number: int) -> Vectors:
        rng = np.random.default_rng(number)
        first, second = self._real[rng.integers(len(self._real), size=2)]
        share = rng.uniform(0.5, 1.0)
        vector: Vectors = share * first + (1 - share) * second + NOISE * rng.standard_normal(384, np.float32)
        return vector / np.linalg.norm(vector)


def paragraphs(count: int, start: int = 0) -> Iterator[Evidence]:
    """Yield `count` synthetic paragraphs, numbered from `start`."""
    real = [statement.evidence() for statement in load_starter()]
    words = [word for statement in real for word in statement.text.split()]
    rng = np.random.default_rng(start + 1)
    for number in range(start, start + count):
        like = real[int(rng.integers(len(real)))]
        chosen = rng.integers(len(words), size=WORDS)
        text = f"{number} " + " ".join([words[place] for place in chosen] + [f"entry{number % 100_003}"])
        yield like.model_copy(update={"id": f"s{number}", "text": text, "answers": ()})


def measured_build(count: int, folder: Path) -> dict[str, Any]:
    """Build a knowledge base, apply UPDATES small updates, and return time and memory: seconds and GB."""
    began = time.monotonic()
    asyncio.run(build(paragraphs(count), Synthetic(), folder))
    built = time.monotonic() - began
    peak = _status("VmHWM")
    updates = []
    for turn in range(UPDATES):
        began = time.monotonic()
        grow(count, folder, turn)
        updates.append(time.monotonic() - began)
    return {"build_s": built, "build_gb": peak, "update_s": max(updates)}


def grow(count: int, folder: Path, turn: int) -> None:
    """Add 1,000 paragraphs and remove 500 in one update."""
    removed = [f"s{number}" for number in range(500 * turn, 500 * (turn + 1))]
    asyncio.run(update(folder, Synthetic(), put=list(paragraphs(1000, count + 1000 * turn)), remove=removed))


def measured_search(count: int, folder: Path) -> dict[str, Any]:
    """Search with the starter's claims, and return times, memory, recall against exact search, and file sizes."""
    model = default_embedder()
    posts = [post for post, _ in POSTS]
    vectors = asyncio.run(_embedded(model, posts))
    settings = KnowledgeBaseSettings(min_relevance=0.0)
    began = time.monotonic()
    searcher = Searcher.open(folder, Synthetic(), settings)
    opened = time.monotonic() - began
    spent = asyncio.run(_timed(searcher, posts, vectors))
    memory = {"search_anon_gb": _status("RssAnon"), "search_rss_gb": _status("VmRSS")}
    swap = asyncio.run(_swapped(searcher, posts, vectors, [step_argv("grow", count, folder)]))
    searcher.close()
    snapshot = Snapshot.open(folder)
    recall = {f"recall_{name}": _recall(snapshot, vectors, grouped=grouped)
              for name, grouped in (("all", False), ("grouped", True))}  # fmt: skip
    kinds = "+".join(dict.fromkeys(segment.vectors.kind for segment in snapshot.segments))
    version = snapshot.folder
    snapshot.close()
    size = sum(path.stat().st_size for path in version.rglob("*") if path.is_file())
    return {"open_s": opened, **{f"p{q}_ms": float(np.quantile(spent, q / 100)) for q in (50, 95, 99)}, **memory,
            **swap, **recall, "index": kinds, "files_gb": size / 1e9}  # fmt: skip


async def _embedded(model: Embedder, posts: Sequence[str]) -> Vectors:
    vectors = await model.queries(posts)
    await model.close()
    return vectors


async def _timed(searcher: Searcher, posts: Sequence[str], vectors: Vectors) -> list[float]:
    """Return the milliseconds of each search after a warm-up round; every other search is given its group."""
    spent = []
    for turn in range(ROUNDS):
        for number, (post, vector) in enumerate(zip(posts, vectors, strict=True)):
            groups = [POSTS[number][1]] if number % 2 else []
            began = time.perf_counter()
            await searcher.search(post, vector=vector, groups=groups)
            if turn:
                spent.append((time.perf_counter() - began) * 1000)
    return spent


async def _swapped(
    searcher: Searcher, posts: Sequence[str], vectors: Vectors, update_argv: Sequence[Sequence[str]]
) -> dict[str, float]:
    """Search RATE times a second while another process updates the folder, and for SETTLED_S seconds afterwards.

    Returns the searches completed per second and their 95th percentile in milliseconds. Raises what a search raises.
    """
    spent: list[float] = []

    async def search(number: int) -> None:
        began = time.perf_counter()
        evidence = await searcher.search(posts[number], vector=vectors[number])
        spent.append((time.perf_counter() - began) * 1000)
        assert len(evidence) == 3

    async def updates() -> None:
        for argv in update_argv:
            child = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.DEVNULL)
            assert await child.wait() == 0
        await asyncio.sleep(SETTLED_S)

    began = time.perf_counter()
    updating = asyncio.create_task(updates())
    running: list[asyncio.Task[None]] = []
    while not updating.done():
        running.append(asyncio.create_task(search(len(running) % len(posts))))
        await asyncio.sleep(max(0.0, began + len(running) / RATE - time.perf_counter()))
    await asyncio.gather(updating, *running)
    rate = len(spent) / (time.perf_counter() - began)
    return {"swap_rate": rate, "swap_p95_ms": float(np.quantile(spent, 0.95))}


def _recall(snapshot: Snapshot, vectors: Vectors, *, grouped: bool) -> float:
    """Return the mean share of the exact three nearest paragraphs that the dense index finds."""
    retriever = snapshot.retriever("dense")
    shared = []
    masks = [snapshot.allowed([group] if grouped else []) for _, group in POSTS]
    exact = _exact(snapshot, np.stack([snapshot.centre.of_query(vector) for vector in vectors]), masks)
    for vector, mask, best in zip(vectors, masks, exact, strict=True):
        numbers = {hit.number for hit in retriever.retrieve(Query("", vector), 3, mask)}
        shared.append(len(numbers & set(best)) / 3)
    return float(np.mean(shared))


def _exact(snapshot: Snapshot, units: Vectors, masks: Sequence[Any]) -> list[list[int]]:
    best = np.full((len(units), 3), -9.0, np.float32)
    numbers = np.zeros((len(units), 3), np.int64)
    offset = 0
    for name, segment in zip(snapshot.manifest.segments, snapshot.segments, strict=True):
        rows = np.memmap(snapshot.folder / name / ROWS, np.float16, "r").reshape(segment.count, -1)
        for start in range(0, len(rows), PORTION):
            part = rows[start : start + PORTION].astype(np.float32)
            scores = units @ snapshot.centre.of_rows(part, np.zeros(len(part), np.bool_)).T
            at = np.arange(len(part)) + start + offset
            for place, mask in enumerate(masks):
                if mask is not None:
                    scores[place, ~mask[at]] = -9
            merged, names = np.hstack([best, scores]), np.hstack([numbers, np.tile(at, (len(units), 1))])
            top = np.argpartition(-merged, 3, axis=1)[:, :3]
            best, numbers = np.take_along_axis(merged, top, 1), np.take_along_axis(names, top, 1)
        offset += segment.count
    return [row.tolist() for row in numbers]


def _status(name: str) -> float:
    """Return a memory figure from /proc/self/status, in GB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1e6


def step_argv(step: str, count: int, folder: Path) -> list[str]:
    """Return the command that runs one step in a process of its own."""
    return [sys.executable, "-m", "evaluation.bench.kb_scale", step, str(count), str(folder)]


def run(count: int, folder: Path) -> dict[str, Any]:
    """Build and search, each in a process of its own, and return their measurements."""
    target = folder / f"kb-{count}"
    results: dict[str, Any] = {"paragraphs": count}
    for step in ("build", "search"):
        done = subprocess.run(step_argv(step, count, target), check=True, stdout=subprocess.PIPE, text=True)
        results |= json.loads(done.stdout.splitlines()[-1])
    return results


if __name__ == "__main__":
    step, count, target = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    if step == "grow":
        grow(count, target, UPDATES)
    else:
        print(json.dumps(measured_build(count, target) if step == "build" else measured_search(count, target)))
