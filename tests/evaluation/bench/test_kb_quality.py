"""The tables of posts that nothing was tuned on."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.bench.kb_quality import Row, fresh_tables
from evaluation.evidence.yardstick import read_fresh
from kb.claims.loading import load_claims


def test_fresh_posts_are_told_by_way_and_by_language() -> None:
    files = load_claims()
    posts = read_fresh(files)
    perfect: dict[str, Sequence[str]] = {
        post.id: [files.claims[name].facts[0] for name in sorted(post.claims)[:1]] for post in posts
    }
    rows = [Row("perfect", perfect, 0.0), Row("silent", {}, 0.0)]
    by_way, by_language = fresh_tables("fresh posts", posts, rows, files)
    assert "| perfect | 60 | 1.00 | 2.00 | 0.00 | 1.00 | 1.00 | 0 |" in by_way
    assert "| silent | 60 | 0.00 | – | – | 0.33 | 1.00 | 0 |" in by_way
    assert [line.split(" | ")[0] for line in by_language.splitlines()[2:]] == ["| en", "| es", "| it", "| eu"]
