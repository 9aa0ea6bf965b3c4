"""Write an adapter as a GGUF file that llama.cpp's server loads on top of the base model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from core.errors import BadInput

ARCHITECTURES = {"llama": gguf.MODEL_ARCH.LLAMA, "mistral": gguf.MODEL_ARCH.LLAMA, "qwen2": gguf.MODEL_ARCH.QWEN2}
"""The model families that can be exported, by their `model_type` in transformers."""
_PREFIX, _ENDS = "base_model.model.", {".lora_A.weight": "lora_a", ".lora_B.weight": "lora_b"}
Array = NDArray[np.float32]


def export(adapter: Path, base: dict[str, Any], out: Path) -> int:
    """Write the adapter of a base model with the configuration `base`, and return its number of tensors.

    Raises BadInput for a folder without an adapter, a family that can't be exported, a variant of LoRA that llama.cpp
    does not support, and a module that llama.cpp has no name for.
    """
    family = str(base.get("model_type"))
    if family not in ARCHITECTURES:
        raise BadInput(f"{family} models can't be exported; {', '.join(ARCHITECTURES)} can.")
    try:
        config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
        tensors = load_file(str(adapter / "adapter_model.safetensors"))
    except (OSError, ValueError, SafetensorError) as error:
        raise BadInput(f"{adapter} holds no adapter as `rejoinder train sft` writes it: {error}.") from error
    if config.get("use_dora") or config.get("use_rslora"):
        raise BadInput(f"{adapter} is a DoRA or rank-stabilised adapter; llama.cpp reads plain LoRA only.")
    names = gguf.get_tensor_name_map(ARCHITECTURES[family], base["num_hidden_layers"])
    writer = gguf.GGUFWriter(out, gguf.MODEL_ARCH_NAMES[ARCHITECTURES[family]])
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(config["lora_alpha"]))
    for name, tensor in sorted(tensors.items()):
        end = next(end for end in _ENDS if name.endswith(end))
        module = name.removeprefix(_PREFIX).removesuffix(end)
        known = names.get_name(module)
        if known is None:
            raise BadInput(f"{adapter} changes {module}, which llama.cpp has no name for.")
        if ARCHITECTURES[family] is gguf.MODEL_ARCH.LLAMA and end == ".lora_B.weight":
            tensor = _as_llama_rotates(tensor, module, base)
        writer.add_tensor(f"{known}.weight.{_ENDS[end]}", np.ascontiguousarray(tensor, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return len(tensors)


def _as_llama_rotates(rows: Array, module: str, base: dict[str, Any]) -> Array:
    """Return the rows of queries and keys in the order that GGUF files of the llama family use; others unchanged.

    Rotary embeddings pair the two halves of a head in transformers, but neighbouring rows in llama.cpp.
    """
    heads = base["num_attention_heads"]
    count = {"q_proj": heads, "k_proj": base.get("num_key_value_heads") or heads}.get(module.rpartition(".")[2])
    if count is None:
        return rows
    return rows.reshape(count, 2, rows.shape[0] // count // 2, -1).swapaxes(1, 2).reshape(rows.shape)
