"""`rejoinder kb stats` and `rejoinder kb summarise`."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from core.domain import TargetGroup
from core.errors import BadSettings
from core.settings import ChatSettings, KnowledgeBaseSettings, Settings
from kb.build import build
from kb.store import Holding
from kb.summaries import SummaryStore
from models.embedders import default_embedder
from rejoinder.cli import main
from rejoinder.commands.kb_stats import draw
from rejoinder.commands.kb_summarise import summarise_all
from tests.factories import make_evidence

HELD = [
    Holding("United Nations", TargetGroup.WOMEN, 2, 9, 30.5),
    Holding("Council of Europe", TargetGroup.JEWS, 1, 4, 22),
]
LONG = "Moons are free. Everybody may land there. Taxes are paid on all of them. Number {n}."


@pytest.fixture
def rejoinder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REJOINDER_CHAT__MODEL", "none")
    return CliRunner()


def test_stats_are_a_table_and_json(rejoinder: CliRunner) -> None:
    table = rejoinder.invoke(main, ["kb", "stats"])
    assert table.exit_code == 0
    assert "average words" in table.output and "Council of Europe" in table.output
    rows = json.loads(rejoinder.invoke(main, ["kb", "stats", "--json"]).stdout)
    assert {row["group"] for row in rows} == {group.value for group in TargetGroup}
    assert sum(row["paragraphs"] for row in rows) >= 200
    assert all(12 <= row["words"] <= 45 for row in rows)


@pytest.mark.parametrize(("name", "begins"), [("held.png", b"\x89PNG"), ("held.svg", b"<?xml")])
def test_stats_are_drawn_into_a_file(rejoinder: CliRunner, tmp_path: Path, name: str, begins: bytes) -> None:
    result = rejoinder.invoke(main, ["kb", "stats", "--plot", name])
    assert result.exit_code == 0 and f"Drawn into {name}" in result.output
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_picture_of_another_kind_is_refused_in_one_line(rejoinder: CliRunner, tmp_path: Path) -> None:
    result = rejoinder.invoke(main, ["kb", "stats", "--plot", "held.odd"])
    assert result.exit_code == 1
    assert "held.odd can't be drawn" in result.output and "Traceback" not in result.output


def test_the_picture_has_documents_paragraphs_and_words_of_every_institution_and_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, *_, **__: drawn.append(figure))
    draw(HELD, tmp_path / "held.png")
    documents, paragraphs, words = drawn[0].axes
    women, jews = (list(TargetGroup).index(group) for group in (TargetGroup.WOMEN, TargetGroup.JEWS))
    assert _bars(documents) == {(women, 2), (jews, 1)}
    assert _bars(paragraphs) == {(women, 9), (jews, 4)}
    dots = {line.get_label(): (round(line.get_ydata()[0]), line.get_xdata()[0]) for line in words.get_lines()}
    assert dots.items() >= {"United Nations": (women, 30.5), "Council of Europe": (jews, 22)}.items()
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["Council of Europe", "United Nations"]
    assert [tick.get_text() for tick in documents.get_yticklabels()][women] == "women"


def _bars(axes: Any) -> set[tuple[int, float]]:
    """Return row and width of every bar that has a width."""
    return {(round(bar.get_y() + bar.get_height() / 2), bar.get_width()) for bar in axes.patches if bar.get_width()}


def test_without_matplotlib_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(BadSettings, match="pip install matplotlib"):
        draw(HELD, tmp_path / "held.png")


def test_summaries_need_a_model(rejoinder: CliRunner) -> None:
    result = rejoinder.invoke(main, ["kb", "summarise"])
    assert result.exit_code == 1
    assert "need a chat model" in result.output and "Traceback" not in result.output


@pytest.fixture
async def model() -> AsyncIterator[str]:
    async def complete(request: web.Request) -> web.Response:
        message = {"role": "assistant", "content": "Moons are free. All may land."}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    async with TestServer(app) as server:
        yield str(server.make_url("/v1"))


async def test_long_paragraphs_are_summarised_once_and_it_can_be_stopped(tmp_path: Path, model: str) -> None:
    paragraphs = [make_evidence(str(n), LONG.format(n=n)) for n in range(4)]
    short = make_evidence("short", "One moon is enough.")
    embedder = default_embedder()
    await build([*paragraphs, short], embedder, tmp_path / "kb")
    await embedder.close()
    settings = Settings(
        data_dir=tmp_path,
        kb=KnowledgeBaseSettings(folder=tmp_path / "kb"),
        chat=ChatSettings(endpoint=model, model="tiny"),
    )
    assert await summarise_all(settings, 1) == 1
    assert await summarise_all(settings, None) == 3
    assert await summarise_all(settings, None) == 0
    with closing(SummaryStore(tmp_path / "kb")) as store:
        kept = store.get([paragraph.text for paragraph in paragraphs], "tiny")
    assert set(kept.values()) == {"Moons are free. All may land."}
