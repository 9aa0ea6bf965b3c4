from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestServer

from kb.claims.links import dead_links
from kb.claims.loading import load_claims
from tests.kb.claims.conftest import change

FACTS = "facts/other.toml"


async def test_an_address_that_answers_is_there_and_one_that_turns_scripts_away_too(folder: Path) -> None:
    for status, dead in ((200, False), (403, False), (404, True), (500, True)):

        async def answer(request: web.Request, status: int = status) -> web.Response:
            return web.Response(status=status)

        app = web.Application()
        app.router.add_get("/boats", answer)
        async with TestServer(app) as server:
            files = load_claims(shipped=folder)
            fact = files.facts["other-boats-survey"].model_copy(update={"url": str(server.make_url("/boats"))})
            complaints = await dead_links(replace(files, facts={fact.id: fact}))
        assert bool(complaints) is dead
        assert all(f"answers {status}" in complaint for complaint in complaints)


async def test_the_address_where_the_words_were_seen_is_looked_up_too_and_the_same_one_once(folder: Path) -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(status=404 if request.path == "/seen" else 200)

    app = web.Application()
    app.router.add_get("/{page}", answer)
    async with TestServer(app) as server:
        boats, seen = (str(server.make_url(path)) for path in ("/boats", "/seen"))
        files = load_claims(shipped=folder)
        fact = files.facts["other-boats-survey"].model_copy(update={"url": boats, "seen_at": seen})
        (complaint,) = await dead_links(replace(files, facts={fact.id: fact}))
        assert f"{seen} answers 404" in complaint
        same = fact.model_copy(update={"seen_at": boats})
        assert await dead_links(replace(files, facts={fact.id: same})) == []
    assert sorted(asked) == ["/boats", "/boats", "/seen"]


async def test_an_address_nobody_listens_at_is_named_with_its_place(folder: Path) -> None:
    change(folder / FACTS, "https://example.org/boats", "https://127.0.0.1:9/boats")
    (complaint,) = await dead_links(load_claims(shipped=folder))
    assert complaint.startswith("kb/facts/other.toml:7: other-boats-survey: https://127.0.0.1:9/boats can't be reached")
