"""Train the layers for posts and the second opinions, and write them with one card. Needs `train` and `dev`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core.settings import KnowledgeBaseSettings
from kb.claims.judge import shipped_judge
from kb.claims.loading import load_claims
from kb.claims.matching import ClaimMatcher, embedded
from kb.claims.reviews import load_reviews
from kb.claims.second_opinion import NAME as CLAIMS_NAME
from kb.claims.second_opinion import ClaimOpinion
from models.e5_file import E5File, find
from models.e5_onnx import OnnxE5Embedder
from models.e5_tuned import POSTS, SHAPE
from models.embed import Vectors
from models.embedders import default_embedder
from pipeline.heads import COUNTER, HATE, Heads
from pipeline.second_opinion import THREAT, SecondOpinion
from pipeline.threats import ThreatHead
from training import low_rank, tuned_layers
from training.claims.data import groups_of
from training.heads.sample import Part
from training.post_layers import tuning
from training.post_layers.lessons import Lesson, read_lessons, thinned
from training.post_layers.model_card import Outcome, write_card
from training.post_layers.opinions import CLAIM, MOST, First, Sums, fit_claims, fit_opinion, sum_up

LONGEST = 64
"""Most tokens of a text that are used for training."""
SEED = 0
PORTION = 64
SUMMED_FROM = 20_000
"""Most texts used to decide what a reading preserves."""
OPINION_FILE, CARD = "second_opinion.npz", "e5_posts.md"
NAME_LENGTH = 12
"""Hexadecimal digits of the adapters' digest that serve as the layers' name."""
HELD_OUT_ORIGINS = frozenset({"CrowdCounter replies"})
"""Origins that are not measured here, since the second opinion hardly changes their heads."""


def train_and_write(data: Path, root: Path, cache: Path) -> str:
    """Train on the data sets under `data`, write the three files and their card under `root`, and return the card."""
    claims = load_claims()
    lessons = read_lessons(data, claims, root / "kb" / "claims")
    taught = thinned(lessons)
    states = _cached([lesson.text for lesson in taught], cache)
    held = tuned_layers.frozen(E5File(find()))
    tuned = _tuned(taught, states, held, list(claims.claims), cache.with_suffix(".tuned.pt"))
    sums = _sums(tuned, held, states)
    shipped = tuned_layers.for_the_graph(tuned.adapters) | {"summed": sums.summed, "bias": sums.bias}
    _save(root / "models" / "data" / POSTS, shipped)
    layers_name = hashlib.sha256((root / "models" / "data" / POSTS).read_bytes()).hexdigest()[:NAME_LENGTH]
    held_out = [lesson for lesson in lessons if lesson.part is not Part.TRAIN and lesson.origin not in HELD_OUT_ORIGINS]
    unseen, firsts, readings = asyncio.run(_read(held_out))
    opinion, on_claims = _opinions(tuned, sums, unseen, firsts, readings)
    _save(
        root / "pipeline" / "data" / OPINION_FILE,
        {"layers": np.array(layers_name), "names": np.array(opinion.names), **_arrays(opinion)},
    )
    _save(root / "kb" / "data" / CLAIMS_NAME, {"claims": np.array(on_claims.claims), **_arrays(on_claims)})
    written = [Path("models/data") / POSTS, Path("pipeline/data") / OPINION_FILE, Path("kb/data") / CLAIMS_NAME]
    digests = {str(path): hashlib.sha256((root / path).read_bytes()).hexdigest() for path in written}
    card = write_card(taught, Outcome(unseen, firsts, readings, opinion, on_claims), digests)
    (root / "models" / "data" / CARD).write_text(card, encoding="utf-8")
    return card


def _tuned(
    taught: Sequence[Lesson], states: Sequence[Vectors], held: low_rank.Tensors, claims: Sequence[str], kept: Path
) -> tuning.Tuned:
    """Return the tuned layers, from the file `kept` if it was made from the same lessons and weights."""
    told = [
        (each.text, each.origin, each.opinions, each.kind, sorted(each.claims or ()), each.answerable, each.counts)
        for each in taught
    ]
    weights = tuning.HEADS_SHARE, tuning.CLAIMS_SHARE, tuning.CLAIM_COUNTS
    digest = hashlib.sha256(repr((told, claims, weights)).encode("utf-8", "replace")).hexdigest()
    if kept.exists() and (before := torch.load(kept))["digest"] == digest:
        return tuning.Tuned(before["adapters"], before["heads"], tuple(claims))
    chance = torch.Generator().manual_seed(SEED)
    tuned = tuning.blank(tuned_layers.adapters(chance), claims, chance)
    tuning.tune(taught, states, held, tuned, SEED)
    torch.save({"digest": digest, "adapters": tuned.adapters, "heads": tuned.heads}, kept)
    return tuned


def _cached(texts: Sequence[str], cache: Path) -> list[Vectors]:
    """Return the beginnings of texts' states after layer SHARED, from `cache` if it holds exactly these texts."""

    async def read(embedder: OnnxE5Embedder) -> list[Vectors]:
        return [states[:LONGEST] for states in await embedder.shared_states(texts)]

    return tuned_layers.kept_states(texts, cache, read)


def _sums(tuned: tuning.Tuned, held: low_rank.Tensors, states: Sequence[Vectors]) -> Sums:
    drawn = sorted(
        np.random.default_rng(SEED).permutation(len(states))[:SUMMED_FROM].tolist(), key=lambda n: len(states[n])
    )
    parts = [
        tuned_layers.pooled(
            *tuned_layers.padded([states[n] for n in drawn[start : start + PORTION]]), held, tuned.adapters
        )
        for start in range(0, len(drawn), PORTION)
    ]
    pooled = torch.cat(parts).numpy()
    weights, bias = _stacked(tuned)
    spread = (pooled @ weights.T + bias).std(axis=0)
    claims = len(tuned.claims)
    scale = np.concatenate([MOST / spread[:-claims], np.full(claims, 1 / spread[-claims:].mean())])
    sums = sum_up(weights, bias, np.asarray(scale, np.float32), pooled)
    # In service the mean is not scaled by MEAN, so the projection has to contain that factor.
    sums.summed[:, : SHAPE.width] *= low_rank.MEAN
    return sums


def _stacked(tuned: tuning.Tuned) -> tuple[Vectors, Vectors]:
    """Return the weights and biases of all heads, claims last."""
    names = ("opinion", "kind", "answerable", CLAIM)
    weights = np.concatenate([tuned.heads[f"{name}.w"].numpy() for name in names])
    return weights, np.concatenate([tuned.heads[f"{name}.b"].numpy() for name in names])


def _opinions(
    tuned: tuning.Tuned, sums: Sums, unseen: Sequence[Lesson], firsts: Sequence[First], readings: Vectors
) -> tuple[SecondOpinion, ClaimOpinion]:
    heads, claims = len(tuning.OPINIONS), len(tuned.claims)
    opinion = fit_opinion(tuning.OPINIONS, sums.back[:heads], sums.centre[:heads], unseen, firsts, readings)
    answerable = np.append(sums.back[-claims - 1], sums.centre[-claims - 1])
    of_claims = sums.back[-claims:], sums.centre[-claims:]
    return opinion, fit_claims(tuned.claims, *of_claims, answerable, unseen, firsts, readings)


async def _read(lessons: Sequence[Lesson]) -> tuple[list[Lesson], list[First], Vectors]:
    """Return the lessons whose texts have a reading, the first opinions on them, and the readings.

    Everything is computed with the shipped models.
    """
    embedder, heads, threats = default_embedder(), Heads.load(), ThreatHead.load()
    claims = load_claims()
    wordings, vectors = await embedded(claims, embedder)
    reviews = load_reviews(package_files("kb"))
    matcher = ClaimMatcher(claims, reviews, wordings, vectors, shipped_judge(), KnowledgeBaseSettings())
    read, firsts, readings = [], [], []
    for lesson in lessons:
        reading = await embedder.read(lesson.text)
        if reading.summed is None:
            continue
        scores = heads.score(reading.vector, lesson.text, reading.tokens)
        opinions = {group.value: score for group, score in scores.groups.items()} | {HATE: scores.hate}
        opinions |= {COUNTER: scores.counter, THREAT: threats.score(lesson.text, reading.vector)}
        first = First(opinions)
        if lesson.claims is not None:
            groups = groups_of(lesson.text, reading.vector, heads)
            judged = matcher.read(lesson.text, reading.vector, groups, lesson.language)
            first = First(
                opinions, np.array([judged.claims[name] for name in claims.claims], np.float32), judged.answerable
            )
        read.append(lesson)
        firsts.append(first)
        readings.append(reading.summed)
    await embedder.close()
    return read, firsts, np.stack(readings)


def _arrays(opinion: SecondOpinion | ClaimOpinion) -> dict[str, Any]:
    return {name: value for name, value in vars(opinion).items() if isinstance(value, np.ndarray)}


def _save(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays, floating-point ones in half precision."""
    halves: dict[str, Any] = {
        name: each.astype(np.float16) if each.dtype.kind == "f" else each for name, each in arrays.items()
    }
    np.savez_compressed(path, **halves)
