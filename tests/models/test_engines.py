"""One conformance suite over the engines that serve chat models, run with the smallest real weights."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import aiohttp
import pytest
from pydantic import SecretStr

from core.errors import ModelUnavailable
from core.settings import ChatSettings
from models.chat import ChatClient, Message
from models.engine_arguments import HOST, Weights, command
from models.llama_server import LlamaServer, missing
from tests.ports import unused_port

Engine = Literal["xllamacpp", "llama-cpp-python", "llama-server"]
ENGINES: tuple[Engine, ...] = ("xllamacpp", "llama-cpp-python", "llama-server")
ASK = [Message("user", "Tell a long story about a river.")]
YES_OR_NO = 'root ::= "yes" | "no"'
ENDLESS = "root ::= [a-z ] root"


def settings(engine: Engine, **more: object) -> ChatSettings:
    return ChatSettings.model_validate({"model": "smollm2-135m", "engine": engine, "slots": 2, "threads": 1, **more})


def client(server: LlamaServer, attempts: int = 3) -> ChatClient:
    return ChatClient(server.endpoint, "smollm2-135m", SecretStr("unused"), 60.0, attempts)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    kind: Engine = request.param
    if lack := missing(settings(kind)):
        pytest.skip(lack)
    return kind


@pytest.fixture
async def server(engine: Engine, smollm2: Path, tmp_path: Path) -> AsyncIterator[LlamaServer]:
    async with LlamaServer(settings(engine), smollm2, tmp_path / "server.log") as running:
        yield running


async def healthy(chat: ChatClient) -> None:
    async with asyncio.timeout(60):
        while not await chat.healthy():
            await asyncio.sleep(0.05)


@pytest.mark.live
class TestEngine:
    async def test_it_completes_within_the_grammar_in_a_batch_and_is_cut_at_the_limit(
        self, server: LlamaServer
    ) -> None:
        async with client(server) as chat:
            assert await chat.healthy()
            completions = await chat.complete(ASK, n=4, max_tokens=12, temperature=1.0)
            ruled = await chat.complete(ASK, n=4, grammar=YES_OR_NO)
        assert len(completions) == 4
        assert {c.finish_reason for c in completions} == {"length"}
        assert len({c.text for c in completions}) > 1
        assert {c.text for c in ruled} <= {"yes", "no"}
        assert {c.finish_reason for c in ruled} == {"stop"}

    @pytest.mark.slow
    async def test_a_cancelled_completion_frees_its_slot(self, server: LlamaServer, engine: Engine) -> None:
        no_cancel = engine == "llama-cpp-python"  # it ends what it has begun
        async with client(server) as chat:
            limit = 300 if no_cancel else 2000
            endless = asyncio.create_task(chat.complete(ASK, n=2, max_tokens=limit, grammar=ENDLESS))
            await asyncio.sleep(1)  # well into it: nothing tells from outside that a completion has begun
            endless.cancel()
            with pytest.raises(asyncio.CancelledError):
                await endless
            began = time.monotonic()
            assert len(await chat.complete(ASK, n=2, grammar=YES_OR_NO)) == 2
            assert no_cancel or time.monotonic() - began < 8  # two runs of 2,000 tokens take longer

    @pytest.mark.slow
    async def test_a_killed_server_comes_back_on_the_same_port(self, server: LlamaServer) -> None:
        first = server.pid
        assert first is not None
        async with client(server) as chat:
            os.kill(first, signal.SIGKILL)
            with pytest.raises(ModelUnavailable):
                async with ChatClient(server.endpoint, "smollm2-135m", None, 1.0, 1) as hasty:
                    await hasty.complete(ASK)
            await healthy(chat)
            assert server.pid not in (None, first)
            assert (await chat.complete(ASK, grammar=YES_OR_NO))[0].text in ("yes", "no")

    async def test_leaving_ends_the_server(self, engine: Engine, smollm2: Path, tmp_path: Path) -> None:
        async with LlamaServer(settings(engine), smollm2, tmp_path / "server.log") as running:
            pid = running.pid
        assert running.pid is None
        assert pid is not None
        assert not Path(f"/proc/{pid}").exists()

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform != "linux", reason="needs the kernel's parent-death signal")
    async def test_no_server_outlives_a_killed_parent(self, engine: Engine, smollm2: Path) -> None:
        script = (
            "import asyncio, pathlib, sys\n"
            "from models.llama_server import LlamaServer\n"
            "from core.settings import ChatSettings\n"
            "async def main():\n"
            "    settings = ChatSettings(model='smollm2-135m', engine=sys.argv[1], slots=1, threads=1)\n"
            "    async with LlamaServer(settings, pathlib.Path(sys.argv[2]), None) as server:\n"
            "        print('PID', server.pid, flush=True)\n"
            "        await asyncio.Event().wait()\n"
            "asyncio.run(main())\n"
        )
        parent = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, engine, str(smollm2), stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert parent.stdout is not None
        async with asyncio.timeout(60):
            while not (line := await parent.stdout.readline()).startswith(b"PID"):
                assert line
        pid = int(line.split()[1])
        parent.kill()
        await parent.wait()
        async with asyncio.timeout(10):
            while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
                await asyncio.sleep(0.05)


@pytest.mark.live
async def test_every_slot_has_the_whole_context(smollm2: Path, tmp_path: Path) -> None:
    chosen = settings("xllamacpp", context_tokens=512, slots=3)
    async with (
        LlamaServer(chosen, smollm2, tmp_path / "server.log") as server,
        aiohttp.ClientSession() as session,
        session.get(server.endpoint.removesuffix("/v1") + "/slots") as answer,
    ):
        slots = await answer.json()
    assert [slot["n_ctx"] for slot in slots] == [512, 512, 512]


@pytest.mark.live
async def test_weights_that_are_none_are_reported_with_the_log(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but not really")
    # Whose line names the file is open: on a busy machine llama.cpp may end the process before ours is written.
    with pytest.raises(ModelUnavailable, match=r"(?s)ended with exit code 1.*broken\.gguf"):
        async with LlamaServer(settings("xllamacpp"), broken, tmp_path / "server.log"):
            pass


async def test_a_port_in_use_is_said_so(tmp_path: Path) -> None:
    weights = tmp_path / "some.gguf"
    weights.touch()
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ModelUnavailable, match=f"Port {port} .* is in use"):
            async with LlamaServer(settings("xllamacpp"), weights, None, port):
                pass


async def test_missing_weights_name_the_command_that_fetches_them(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="rejoinder models pull smollm2-135m"):
        async with LlamaServer(settings("xllamacpp"), tmp_path / "none.gguf", None):
            pass


async def test_a_missing_binary_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"no-such-llama.*not on PATH"):
        async with LlamaServer(settings("llama-server", binary="no-such-llama"), tmp_path / "x.gguf", None):
            pass


HANGS_ONCE = """#!{python}
import sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slots" and hangs:
            threading.Event().wait()
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments):
        pass

first = Path({first!r})
hangs = not first.exists()
first.touch()
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
"""


async def test_a_server_that_accepts_and_never_answers_is_ended_and_started_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    weights, program, hung = tmp_path / "some.gguf", tmp_path / "hangs-once", asyncio.Event()
    weights.touch()
    program.write_text(HANGS_ONCE.format(python=sys.executable, first=str(tmp_path / "first")))
    program.chmod(0o700)
    chosen = settings("llama-server", binary=str(program), timeout_s=0.05)
    async with (
        LlamaServer(chosen, weights, None, on_hang=hung.set, probe_every_s=0.01) as server,
        client(server) as chat,
    ):
        first = server.pid
        async with asyncio.timeout(60):
            await hung.wait()
            while server.pid in (None, first):
                await asyncio.sleep(0.01)
        await healthy(chat)
    assert "hangs: 2 probes in a row" in caplog.text


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_listens_on_loopback_only_with_its_share_of_context(engine: Engine) -> None:
    port = unused_port()
    argv = command(settings(engine, context_tokens=1000, slots=3, threads=2), Weights(Path("w.gguf")), port)
    assert argv[argv.index("--host") + 1] == "127.0.0.1"
    assert argv[argv.index("--port") + 1] == str(port)
    context = {"xllamacpp": ("--context", "1000"), "llama-cpp-python": ("--n_ctx", "1000"),
               "llama-server": ("--ctx-size", "3000")}[engine]  # fmt: skip
    assert argv[argv.index(context[0]) + 1] == context[1]
