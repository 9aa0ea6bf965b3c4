"""Load a base model with transformers from a folder, the hub, or the GGUF file that llama.cpp serves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import BadInput


def from_pretrained(model: str) -> tuple[str, dict[str, str]]:
    """Return the name and options to pass to `from_pretrained`; it dequantises the weights of a GGUF file.

    Raises BadInput for a GGUF file that is missing.
    """
    path = Path(model)
    if path.suffix != ".gguf":
        return model, {}
    if not path.is_file():
        raise BadInput(f"{path} is not there; `rejoinder models pull` fetches weights.")
    return str(path.parent), {"gguf_file": path.name}


@contextmanager
def loading(model: str) -> Iterator[None]:
    """Raise BadInput in place of the libraries' errors about a base model that can't be loaded."""
    try:
        yield
    except (OSError, ValueError) as error:
        [complaint, *_] = str(error).splitlines() or [repr(error)]
        raise BadInput(
            f"The base model {model} can't be loaded: {complaint} Give a folder in transformers' format, or a hub "
            "name that can be reached from here."
        ) from error


def configuration(base: Path) -> dict[str, Any]:
    """Return the configuration of a folder in transformers' format or a GGUF file; raises BadInput if it has none."""
    if base.suffix == ".gguf":
        from transformers import AutoConfig

        name, loading_options = from_pretrained(str(base))
        configured: dict[str, Any] = AutoConfig.from_pretrained(name, **loading_options).to_dict()
        return configured
    try:
        configured = json.loads((base / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{base} holds no model in transformers' format: {error}.") from error
    return configured
