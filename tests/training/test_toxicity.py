import csv
from pathlib import Path

import numpy as np
import pytest

from models import toxicity
from models.toxicity import ToxicityHead
from training.toxicity.sentences import GROUPS, INSULTS, NEUTRAL

SHARED = Path(__file__).parents[2] / "../shared/data/datasets"


def test_no_group_scores_toxic_in_a_neutral_sentence() -> None:
    head = ToxicityHead.load()
    texts = [sentence.format(group) for sentence in NEUTRAL for group in GROUPS]
    assert np.mean([head.score(text) > 0.5 for text in texts]) < 0.01


def test_mild_insults_written_for_training_name_no_group() -> None:
    assert not {word.lower() for insult in INSULTS for word in insult.split()} & {group.lower() for group in GROUPS}


@pytest.mark.skipif(not SHARED.exists(), reason="the public data sets are not beside this checkout")
def test_training_writes_head_and_card(tmp_path: Path) -> None:
    training = pytest.importorskip("training.toxicity.train")
    data = _small_copy(tmp_path / "data")
    training.train_and_write(data, None, tmp_path / "out")
    assert "Measured on" in (tmp_path / "out" / "toxicity.md").read_text()
    with np.load(tmp_path / "out" / "toxicity.npz") as written:
        assert written["weights"].shape == (1 << toxicity.BITS,)
        assert np.isfinite(written["weights"]).all()


def _small_copy(to: Path) -> Path:
    """Copy the first rows of every data set."""
    for path in SHARED.rglob("*"):
        copy = to / path.relative_to(SHARED)
        if path.suffix not in (".csv", ".json") or path.name.startswith(("Final", "post_id")):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".csv":
            with path.open(newline="", encoding="utf-8") as source, copy.open("w", newline="", encoding="utf-8") as out:
                csv.writer(out).writerows(row for row, _ in zip(csv.reader(source), range(250), strict=False))
        else:
            copy.write_text("\n".join(path.read_text("utf-8").splitlines()[:100]), "utf-8")
    return to
