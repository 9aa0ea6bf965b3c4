"""Train a LoRA adapter with trl and peft (the `train` extra): by imitation, from preferences, or for a reward.

Each step is seeded, resumes from its last checkpoint, and is measured on held-out posts before and after.
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
"""Replies sampled for each post; their mean reward is the baseline for each of them."""
SAVED_EVERY = 50
"""Steps between checkpoints."""
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj"]
Figures = dict[str, float]


@dataclass(frozen=True)
class Options:
    """The options of a step: a base model (see `base`), an adapter to continue training, and training parameters."""

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
        """Return the arguments that the trainers of all steps share."""
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
    """The numbers of examples trained on and held out, and the figures on the held-out ones before and after."""

    learned: int
    held_out: int
    before: Figures
    after: Figures


def sft(options: Options) -> Result:
    """Train a model to imitate the replies that moderators sent."""
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
    """Train a model to give the replies that moderators preferred a higher probability than the rejected ones."""
    learned, held_out = preferences(options.pairs)

    def trainer(model: Any, tokenizer: Any, data: tuple[Dataset, Dataset]) -> Any:
        config = DPOConfig(**options.arguments(2), max_length=1024)
        return DPOTrainer(
            model=model, args=config, train_dataset=data[0], eval_dataset=data[1], processing_class=tokenizer,
            peft_config=_lora(options),
        )  # fmt: skip

    return _run(options, trainer, learned, held_out)


def ppo(options: Options) -> Result:
    """Train a model for CoARL's reward with PPO's clipped steps.

    In place of a value model, the baseline is the mean reward of the replies sampled for the same post (GRPO).
    """
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
    """Measure, train (from the last checkpoint if there is one), measure again, and save the adapter."""
    set_seed(options.seed)
    name, loading_options = from_pretrained(options.model)
    with loading(options.model):
        tokenizer = AutoTokenizer.from_pretrained(name, **loading_options)
        model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32, **loading_options)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    # Weights from a GGUF file are dequantised by now, but trainers refuse the model while it is marked as quantised.
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
    """Return the configuration of a new adapter; None if an existing one is trained further."""
    if options.adapter is not None:
        return None
    return LoraConfig(r=options.rank, lora_alpha=2 * options.rank, target_modules=TARGETS, task_type="CAUSAL_LM")


def _only(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _figures(metrics: dict[str, float]) -> Figures:
    """Return the metrics that describe the model, without those of time and progress."""
    of_the_run = ("time", "per_second", "epoch", "num_tokens")
    return {name: value for name, value in metrics.items() if not any(word in name for word in of_the_run)}
