"""Train a LoRA adapter with trl and peft (the `train` extra), by imitation, from preferences or for a reward.

Each step measures itself on held-out posts before and after, goes on from its last checkpoint, and is seeded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed
from transformers.trainer_utils import get_last_checkpoint
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from core.settings import Settings
from training.adapters.base import from_pretrained, loading
from training.adapters.examples import REPLY_TOKENS, asked, imitations, preferences
from training.adapters.rewards import CoarlRewards

GROUP_SIZE = 4
"""Replies sampled for a post, whose mean reward is what each of them is compared with."""
SAVED_EVERY = 50
"""Steps between checkpoints."""
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj"]
Figures = dict[str, float]


@dataclass(frozen=True)
class Options:
    """What a step is run with: a base model (see `base`), an adapter to go on from, and how long to learn."""

    model: str
    adapter: Path | None
    pairs: Path
    out: Path
    seed: int
    epochs: float
    most_steps: int
    rate: float
    rank: int

    def arguments(self, batch: int) -> dict[str, Any]:
        """Return what the trainers of all steps are told."""
        return {
            "output_dir": str(self.out / "checkpoints"),
            "seed": self.seed,
            "data_seed": self.seed,
            "num_train_epochs": self.epochs,
            "max_steps": self.most_steps or -1,
            "learning_rate": self.rate,
            "per_device_train_batch_size": batch,
            "per_device_eval_batch_size": batch,
            "logging_steps": 5,
            "save_steps": SAVED_EVERY,
            "save_total_limit": 1,
            "report_to": "none",
            "gradient_checkpointing": False,
            "bf16": False,
            "use_cpu": not torch.cuda.is_available(),
        }


@dataclass(frozen=True)
class Result:
    """How many examples were learned from and held out, and the figures on those before and after."""

    learned: int
    held_out: int
    before: Figures
    after: Figures


def sft(options: Options) -> Result:
    """Imitate the replies that moderators sent."""
    learned, held_out = imitations(options.pairs)

    def trainer(model: Any, tokenizer: Any, data: tuple[Dataset, Dataset]) -> Any:
        config = SFTConfig(**options.arguments(4), completion_only_loss=True, max_length=1024)
        return SFTTrainer(
            model=model, args=config, train_dataset=data[0], eval_dataset=data[1], processing_class=tokenizer,
            peft_config=_lora(options),
        )  # fmt: skip

    return _run(options, trainer, [_only(row, "prompt", "completion") for row in learned],
                [_only(row, "prompt", "completion") for row in held_out])  # fmt: skip


def dpo(options: Options) -> Result:
    """Make the replies that moderators preferred likelier than those they did not."""
    learned, held_out = preferences(options.pairs)

    def trainer(model: Any, tokenizer: Any, data: tuple[Dataset, Dataset]) -> Any:
        config = DPOConfig(**options.arguments(2), max_length=1024)
        return DPOTrainer(
            model=model, args=config, train_dataset=data[0], eval_dataset=data[1], processing_class=tokenizer,
            peft_config=_lora(options),
        )  # fmt: skip

    return _run(options, trainer, learned, held_out)


def ppo(options: Options) -> Result:
    """Raise CoARL's reward by PPO's clipped steps; the mean reward of a post's replies stands for the value model."""
    learned, held_out = imitations(options.pairs)

    def trainer(model: Any, tokenizer: Any, data: tuple[Dataset, Dataset]) -> Any:
        config = GRPOConfig(
            **options.arguments(GROUP_SIZE), num_generations=GROUP_SIZE, num_generations_eval=GROUP_SIZE,
            max_completion_length=REPLY_TOKENS, beta=0.04, loss_type="grpo", temperature=1.0,
        )  # fmt: skip
        return GRPOTrainer(
            model=model, reward_funcs=CoarlRewards(Settings()), args=config, train_dataset=data[0],
            eval_dataset=data[1], processing_class=tokenizer, peft_config=_lora(options),
        )  # fmt: skip

    columns = ("prompt", "post", "language", "intent", "groups")
    return _run(options, trainer, [_only(row, *columns) for row in learned], [_only(row, *columns) for row in held_out])


STEPS: dict[str, Callable[[Options], Result]] = {"sft": sft, "dpo": dpo, "ppo": ppo}


def _run(options: Options, make: Callable[..., Any], learned: list[Any], held_out: list[Any]) -> Result:
    """Measure, train on from the last checkpoint, measure again, and save the adapter."""
    set_seed(options.seed)
    name, loading_options = from_pretrained(options.model)
    with loading(options.model):
        tokenizer = AutoTokenizer.from_pretrained(name, **loading_options)
        model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32, **loading_options)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    # Even out of a GGUF file they are plain numbers by now, which the trainers would not believe.
    model.is_quantized = False
    if options.adapter is not None:
        model = PeftModel.from_pretrained(model, str(options.adapter), is_trainable=True)
    talks = bool(tokenizer.chat_template)
    data = (Dataset.from_list(asked(learned, talks)), Dataset.from_list(asked(held_out, talks)))
    trainer = make(model, tokenizer, data)
    before = _figures(trainer.evaluate())
    checkpoints = options.out / "checkpoints"
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(checkpoints)) if checkpoints.is_dir() else None)
    after = _figures(trainer.evaluate())
    trainer.model.save_pretrained(str(options.out / "adapter"))
    return Result(len(learned), len(held_out), before, after)


def _lora(options: Options) -> LoraConfig | None:
    """Return the shape of a new adapter; none where an earlier one is trained on."""
    if options.adapter is not None:
        return None
    return LoraConfig(r=options.rank, lora_alpha=2 * options.rank, target_modules=TARGETS, task_type="CAUSAL_LM")


def _only(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _figures(metrics: dict[str, float]) -> Figures:
    """Return what says something of the model, and nothing of the clock or of how much was read so far."""
    of_the_run = ("time", "per_second", "epoch", "num_tokens")
    return {name: value for name, value in metrics.items() if not any(word in name for word in of_the_run)}
