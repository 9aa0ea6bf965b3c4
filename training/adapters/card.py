"""Write the card of an adapter: its base model, its training data, and held-out figures before and after training."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from training.adapters.steps import Options, Result


def adapter_card(step: str, options: Options, result: Result, data: Path) -> str:
    """Return the card as Markdown; `data` is the file that the adapter was trained on."""
    weights = options.out / "adapter" / "adapter_model.safetensors"
    shared = [name for name in result.before if name in result.after]
    rows = "\n".join(f"| {name} | {result.before[name]:.4f} | {result.after[name]:.4f} |" for name in shared)
    start = f", going on from the adapter `{options.adapter.name}`" if options.adapter else ""
    return f"""# An adapter made by `rejoinder train {step}`

LoRA of rank {options.rank} on `{Path(options.model).name}`{start}. SHA-256 of `adapter_model.safetensors`:
`{_digest(weights)}`.
Learned from {result.learned} examples of `{data.name}` (`{_digest(data)}`;
its data sheet lies beside it), seed {options.seed}, {options.epochs:g} epochs at most, learning rate {options.rate:g}.

| on {result.held_out} examples held out by post | before | after |
|---|--:|--:|
{rows}

**Limits.** These figures say how well the adapter does what it was trained for, not whether its replies are good:
draft with it, then ask `rejoinder evaluate score` and people. It has the taste of the moderators that it learned from,
and may give back what their posts said. Nothing switches it on: export it, and name it to the model's server.
"""


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
