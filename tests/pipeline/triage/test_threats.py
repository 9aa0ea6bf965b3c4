from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput, WeightsError
from models.embed import Embedder
from pipeline.normalise import normalise
from pipeline.threats import BUCKETS, ThreatHead, read, speaks_of_violence

LIMIT = 0.2
"""Where the head alone tells these apart; `triage.threat_from` is lower, as it is for both opinions together."""
SHIPPED = Path(__file__).parents[3] / "pipeline/data/threat.npz"


@pytest.fixture(scope="module")
def head() -> ThreatHead:
    return ThreatHead.load()


async def score(head: ThreatHead, embedder: Embedder, text: str) -> float:
    return head.score(text, (await embedder.queries([normalise(text)]))[0])


@pytest.mark.parametrize(
    "text",
    [
        "I will kill you all",
        "we should shoot them at the border",
        "Kill all Zorblaxians",
        "k1ll th3m",
        "k i l l them all",
        "let's burn down their mosque",
        "Zorblaxians should be shot",
        "they all deserve to die",
        "Death to all Zorblaxians!",
        "hope you get raped",
        "the only good Zorblaxian is a dead Zorblaxian",
        "I know where you live",
        "put a bullet in their heads",
        "Hay que matarlos a todos",
        "te voy a matar",
        "Muerte a los zorblaxianos",
        "Bisogna ammazzarli tutti",
        "dovrebbero morire tutti",
        "Il faut les tuer tous",
        "je vais te tuer",
        "Man sollte sie alle erschießen",
        "ich bringe dich um",
        "Die gehören alle vergast",
    ],
)
async def test_threats_calls_and_wishes_are_found(head: ThreatHead, embedder: Embedder, text: str) -> None:
    assert await score(head, embedder, text) >= LIMIT


@pytest.mark.parametrize(
    "text",
    [
        "this kills me, Zorblaxians can't cook",
        "I'd kill for a pizza",
        "you are killing it",
        "kill the lights before you leave",
        "I'm sick to death of them",
        "don't shoot the messenger",
        "shoot me an email",
        "I'll shoot you a message",
        "let's hang out",
        "let's burn some calories",
        "go burn your bra",
        "Zorblaxians ruin everything, send them home",
        "they kill our jobs and rape our country",
        "Zorblaxians kill people every day",
        "he was killed by one of them",
        "nobody should be killed for their faith",
        "no one should be shot",
        "they should not be killed",
        "the death penalty is wrong",
        "I hope you learn something",
        "grooming gangs are protected by the police",
        "women die of this every year",
        "me muero de risa con los zorblaxianos",
        "los zorblaxianos nos quieren matar de hambre",
        "sto morendo dal ridere",
        "je suis mort de rire",
        "ich lach mich tot",
        "Die Zorblaxianer gehören nicht hierher",
        "Ich bringe dich nach Hause",
        "",
        "🙂",
        '"All Zorblaxians should be shot" is a vile thing to say',
        "police arrested a man who planned to kill Zorblaxians",
    ],
)
async def test_idioms_accusations_and_plain_hate_are_none(head: ThreatHead, embedder: Embedder, text: str) -> None:
    assert await score(head, embedder, text) < LIMIT


@pytest.mark.parametrize("text", ["they shuold be kiled", "k.i.l.l them", "they sh0uld be 🔪", "d**th", "kíll"])
def test_disguised_words_of_violence_are_known(text: str) -> None:
    assert speaks_of_violence(text) == (text != "d**th")


@pytest.mark.parametrize(
    "piece", ["a", "kill ", "should be killed ", "😀", ". ", '"kill" ', "k i l l  ", "*", "k*ll ", "'"]
)
def test_long_hostile_text_is_read_in_time(piece: str) -> None:
    start = time.monotonic()
    surface = read((piece * 20_000)[:20_000])
    assert time.monotonic() - start < 5
    assert np.isfinite(surface.weights).all()
    assert len(surface.buckets) < BUCKETS


@pytest.mark.parametrize("text", ["", " ", "\u200b", "🙂", "\ud800"])
def test_any_text_gets_a_probability(head: ThreatHead, text: str) -> None:
    assert 0 <= head.score(text, np.zeros(384, np.float32)) < LIMIT


def test_an_embedding_of_another_shape_is_refused(head: ThreatHead) -> None:
    with pytest.raises(BadInput, match="384"):
        head.score("text", np.zeros(8, np.float32))


@pytest.mark.parametrize("content", [None, b"", b"PK torn", SHIPPED.read_bytes()[:5000]])
def test_a_missing_or_torn_file_is_told_apart_by_its_path(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "threat.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"threat\.npz"):
        ThreatHead.load(path)


def test_a_file_at_a_path_is_loaded(head: ThreatHead) -> None:
    loaded = ThreatHead.load(SHIPPED)
    assert np.array_equal(loaded.hashed, head.hashed)
