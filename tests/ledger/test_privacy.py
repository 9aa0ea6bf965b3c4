from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from core.domain import CaseState
from ledger import Ledger
from ledger.privacy import Pseudonyms
from ledger.tables import metadata

AUTHOR = "zorb-hater-4711"
THREAD = "thread-about-zorb"
FILLED = ("cases", "drafts", "history", "outbox")


async def test_no_table_ever_holds_the_id_of_an_author_or_a_thread(ledger: Ledger, make: Any, url: str) -> None:
    case = await make.bring(ledger, CaseState.RELEASED, make.post(author_id=AUTHOR, thread_id=THREAD))
    assert (case.post.author_id, case.post.thread_id) == (None, None)
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        for table in metadata.tables:
            rows = (await connection.execute(text(f"SELECT * FROM {table}"))).all()
            assert rows or table not in FILLED
            assert AUTHOR not in repr(rows) and THREAD not in repr(rows)
        hashes = (await connection.execute(text("SELECT author_hash, fingerprint, thread_hash FROM cases"))).one()
    await engine.dispose()
    assert [len(value) for value in hashes] == [64, 64, 64]
    if url.startswith("sqlite"):
        for file in Path(url.removeprefix("sqlite+aiosqlite:///")).parent.iterdir():
            assert not [name for name in (AUTHOR, THREAD) if name.encode() in file.read_bytes()]


def test_a_hash_depends_on_key_platform_and_author(make: Any) -> None:
    pseudonyms, rekeyed = Pseudonyms(b"one"), Pseudonyms(b"other")
    post = make.post(author_id=AUTHOR)
    assert pseudonyms.author(post) == pseudonyms.author(make.post(2, author_id=AUTHOR, text="something else"))
    different = {
        pseudonyms.author(post),
        rekeyed.author(post),
        pseudonyms.author(make.post(author_id=AUTHOR, platform="chat")),
        pseudonyms.author(make.post(author_id=AUTHOR + "2")),
        pseudonyms.fingerprint(post),
        pseudonyms.fingerprint(make.post(author_id=AUTHOR, text="something else")),
    }
    assert len(different) == 6


def test_a_post_without_author_has_neither_hash_nor_fingerprint(make: Any) -> None:
    assert Pseudonyms(b"key").author(make.post()) is None
    assert Pseudonyms(b"key").fingerprint(make.post()) is None
