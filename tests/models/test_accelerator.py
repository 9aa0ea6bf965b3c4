"""What is told of devices and of layers on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.settings import ChatSettings
from models import catalog
from models.accelerator import devices, offloaded


async def test_xllamacpp_tells_its_devices_from_a_process_of_its_own() -> None:
    listed = await devices(ChatSettings())
    assert listed, "there is a processor at least"
    assert {device.kind for device in listed} <= {"cpu", "gpu", "igpu", "accel"}
    assert listed[0].total > 0 and listed[0].name in listed[0].summary


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("Available devices:\n  CUDA0: Fast Card 9 (81090 MiB, 80000 MiB free)\n", [("CUDA0", 80_000 << 20)]),
        ("Available devices:\n  (none)\n", []),
    ],
)
async def test_a_llama_server_binary_lists_its_gpus(tmp_path: Path, printed: str, found: list[tuple[str, int]]) -> None:
    binary = tmp_path / "llama-server"
    binary.write_text(f"#!/bin/sh\ncat <<END\n{printed}END\n")
    binary.chmod(0o700)
    listed = await devices(ChatSettings(engine="llama-server", binary=str(binary)))
    assert listed is not None and [(device.name, device.free) for device in listed] == found
    assert await devices(ChatSettings(engine="llama-server", binary=str(tmp_path / "none"))) is None


async def test_llama_cpp_python_does_not_tell() -> None:
    assert await devices(ChatSettings(engine="llama-cpp-python")) is None


def test_the_last_start_says_how_many_layers_are_on_a_gpu(tmp_path: Path) -> None:
    log = tmp_path / "chat-server.log"
    assert offloaded(log) is None
    log.write_text("load_tensors: offloaded 10/29 layers to GPU\nload_tensors: offloaded 29/29 layers to GPU\n")
    assert offloaded(log) == (29, 29)


def test_memory_grows_with_the_cache_and_shrinks_with_its_format() -> None:
    entry = catalog.find("llama-3.1-8b")
    one, many = entry.memory(ChatSettings(slots=1)), entry.memory(ChatSettings(slots=33))
    assert many - one == 32 * 2048 * 131_072
    small = entry.memory(ChatSettings(slots=33, cache_type_k="q8_0", cache_type_v="q8_0"))
    assert one < small < many
