"""WordNet for METEOR: a folder that holds none is refused, Debian's is read where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import BadInput
from evaluation.metrics.meteor import Meteor
from evaluation.metrics.wordnet import DEBIAN, find_wordnet
from tests.evaluation.runs import make_sample


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"data\.noun"):
        find_wordnet(tmp_path)


@pytest.mark.skipif(not DEBIAN.exists(), reason="wordnet-base and wordnet-sense-index are not installed")
async def test_synonyms_match_in_english() -> None:
    metric = Meteor(find_wordnet(DEBIAN))
    # "quick" and "fast" share a sense: all three words match, in one chunk.
    same = make_sample("it is fast", references=["it is quick"])
    other = make_sample("it is blue", references=["it is quick"])
    scores = await metric.score([same, other])
    assert scores[0] == pytest.approx(1 - 0.5 / 3**3)
    assert scores[1] is not None and scores[1] < 0.9
