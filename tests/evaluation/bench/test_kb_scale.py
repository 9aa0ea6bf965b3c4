"""The bench itself, on a small scale: every step runs, and what must hold at any scale holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.bench import kb, kb_scale


@pytest.mark.slow
def test_a_small_knowledge_base_goes_through_every_step(tmp_path: Path) -> None:
    figures = kb_scale.run(2_000, tmp_path)
    assert figures["recall_all"] > 0.99 and figures["recall_grouped"] > 0.99
    table = kb._table([figures, figures])
    assert "| scale | 2,000 paragraphs | 2,000 paragraphs |" in table
    assert len(table.splitlines()) == 2 + len(kb.ROWS)
