"""Tune a cross-encoder by InfoNCE with hard negatives, with sentence-transformers (the `train` extra)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from datasets import Dataset
from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import MultipleNegativesRankingLoss
from transformers import set_seed
from transformers.trainer_utils import get_last_checkpoint

from training.adapters.base import loading
from training.reranking.measure import Ordering, measure
from training.reranking.pairs import RankingQuestion

LONGEST = 256
"""Most tokens of a query and a text together; wordings and facts have about 100."""
BATCH = 8


@dataclass(frozen=True)
class Options:
    """The options of a run: a base model by folder or hub name, where to write, and the training parameters."""

    model: str
    out: Path
    seed: int
    epochs: float
    most_steps: int
    rate: float


def tune(
    options: Options, learned: Sequence[RankingQuestion], measured: Mapping[str, Sequence[RankingQuestion]]
) -> dict[str, tuple[Ordering, Ordering]]:
    """Tune, save the model in `options.out`, and return the figures on each part, before and after.

    Resumes from the last checkpoint of an interrupted run.
    """
    set_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with loading(options.model):
        model = CrossEncoder(options.model, num_labels=1, max_length=LONGEST, device=device)
    before = _measured(model, measured)
    checkpoints = options.out / "checkpoints"
    trainer = CrossEncoderTrainer(
        model=model,
        args=CrossEncoderTrainingArguments(
            output_dir=str(checkpoints), seed=options.seed, data_seed=options.seed, num_train_epochs=options.epochs,
            max_steps=options.most_steps or -1, learning_rate=options.rate, per_device_train_batch_size=BATCH,
            logging_steps=5, save_steps=50, save_total_limit=1, report_to="none", use_cpu=device == "cpu",
        ),
        train_dataset=Dataset.from_list([_row(question) for question in learned]),
        loss=MultipleNegativesRankingLoss(model),
    )  # fmt: skip
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(checkpoints)) if checkpoints.is_dir() else None)
    model.save_pretrained(str(options.out / "model"))
    after = _measured(model, measured)
    return {part: (before[part], after[part]) for part in measured}


def _row(question: RankingQuestion) -> dict[str, str]:
    """Return a question as the loss expects it: it goes by the order of the columns, not by their names."""
    positive, *negatives = question.texts
    numbered = {f"negative_{number}": text for number, text in enumerate(negatives, 1)}
    return {"query": question.query, "positive": positive, **numbered}


def _measured(model: CrossEncoder, parts: Mapping[str, Sequence[RankingQuestion]]) -> dict[str, Ordering]:
    def scores(pairs: Sequence[tuple[str, str]]) -> list[float]:
        rows = model.predict(list(pairs), batch_size=32, activation_fn=torch.nn.Identity(), show_progress_bar=False)
        return [float(score) for score in rows]

    return {part: measure(questions, scores) for part, questions in parts.items()}
