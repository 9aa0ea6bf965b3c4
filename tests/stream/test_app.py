from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from core.settings import Settings
from stream.app import build_app
from stream.in_hand import InHand
from stream.liveness import Liveness


def test_faust_writes_below_the_data_folder_and_nowhere_else(tmp_path: Path) -> None:
    """A worker may be started from a folder that can't be written."""
    liveness = Liveness(60)
    in_hand = InHand(tmp_path / "in-hand", 5, liveness)
    app = build_app(Settings(data_dir=tmp_path), [], cast("Any", None), liveness, in_hand)
    assert Path(app.conf.datadir) == tmp_path / "faust"
    assert tmp_path in Path(app.conf.tabledir).parents
