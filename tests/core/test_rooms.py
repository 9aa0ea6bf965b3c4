"""The tools' lists of rooms, which no tool can derive, name all of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from core.rooms import ROOMS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tools() -> dict[str, Any]:
    tools: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    return tools


def contract(tools: dict[str, Any], name: str) -> dict[str, Any]:
    [contract] = [item for item in tools["importlinter"]["contracts"] if item["name"] == name]
    return dict(contract)


def test_every_typed_package_is_a_room() -> None:
    assert {file.parent.name for file in ROOT.glob("*/py.typed")} == set(ROOMS)


def test_the_layers_are_the_rooms_in_order(tools: dict[str, Any]) -> None:
    assert contract(tools, "Rooms import downwards only")["layers"] == list(ROOMS)


def test_every_tool_looks_at_every_room(tools: dict[str, Any]) -> None:
    lists = {
        "importlinter": tools["importlinter"]["root_packages"],
        "circles": contract(tools, "No circles inside a room")["ancestors"],
        "mypy": [folder for folder in tools["mypy"]["files"] if folder != "tests"],
        "setuptools": [pattern.removesuffix("*") for pattern in tools["setuptools"]["packages"]["find"]["include"]],
    }
    assert lists == dict.fromkeys(lists, sorted(ROOMS))
