import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from models import toxicity
from models.toxicity import ToxicityHead, features, words

ROOT = Path(__file__).parents[2]
SHARED = ROOT / "../shared/data/datasets"


@pytest.fixture(scope="module")
def head() -> ToxicityHead:
    return ToxicityHead.load()


@pytest.mark.parametrize(
    "text",
    [
        "You are an idiot.",
        "Get lost, you pathetic loser.",
        "I hope you die.",
        "Zorblaxians ruin everything, deport them.",
        "What a worthless moron you are!",
    ],
)
def test_insults_and_attacks_score_toxic(head: ToxicityHead, text: str) -> None:
    assert head.score(text) > 0.5


@pytest.mark.parametrize(
    "text",
    [
        "The European Court of Human Rights has confirmed that gay couples have a right to recognition.",
        "According to UN figures, migrants pay more in taxes than they receive. Could you share your source?",
        "Jews have the right to live in safety.",
        "Antisemitism is hatred of Jews, and it has no place here.",
        "Muslims",
        "black people",
        "I disagree with you, and here is why.",
        "What makes you believe that about women?",
        "Calling people names does not make your argument stronger.",
    ],
)
def test_counterspeech_and_names_of_groups_do_not(head: ToxicityHead, text: str) -> None:
    assert head.score(text) < 0.5


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\ud800", "!!!", "🙂" * 500, "a" * 20_000, "<b>" * 900])
def test_any_text_gets_a_probability(head: ToxicityHead, text: str) -> None:
    assert 0 <= head.score(text) <= 1


def test_a_text_without_anything_scores_zero(head: ToxicityHead) -> None:
    assert head.score(" \n") == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Soooo BAD!!!!", ["soo", "bad", "!", "!"]),
        ("@someone see https://x.example/a?b <user> &amp; go", ["see", "&", "go"]),
        ("ｆｕｌｌ width", ["full", "width"]),
    ],
)
def test_words_are_plain(text: str, tokens: list[str]) -> None:
    assert words(text) == tokens


def test_features_stay_in_range_and_weigh_one_a_kind() -> None:
    buckets, weights = features("Everyone has the right to education")
    assert buckets.max() < 1 << toxicity.BITS
    whole = buckets < toxicity.WORD_BUCKETS
    assert np.isclose((weights[whole] ** 2).sum(), 1)
    assert np.isclose((weights[~whole] ** 2).sum(), 1)


def test_the_shipped_head_is_small_and_needs_only_numpy() -> None:
    assert (ROOT / "models/data/toxicity.npz").stat().st_size < 1_500_000
    code = (
        "import sys; from models.toxicity import ToxicityHead; ToxicityHead.load().score('hello');"
        "print([m for m in ('sklearn', 'scipy', 'faiss', 'torch', 'xllamacpp', 'aiohttp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not SHARED.exists(), reason="the public data sets are not beside this checkout")
def test_held_out_human_counterspeech_passes_and_the_posts_it_answers_do_not(head: ToxicityHead) -> None:
    lines = (SHARED / "CrowdCounter" / "Test.json").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    replies = np.array([head.score(row["counterspeech"]) for row in rows])
    posts = np.array([head.score(post) for post in {row["hatespeech"] for row in rows}])
    assert (replies >= 0.5).mean() < 0.04
    assert (posts >= 0.5).mean() > 0.6
