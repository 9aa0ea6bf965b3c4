"""Tell whether one text follows from another, by an entailment model here or by a chat model's yes or no."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from core.domain import clean
from core.errors import BadSettings, ModelUnavailable, WeightsError
from core.settings import GuardSettings
from models.chat import ChatClient, Message, quoted

LONGEST = 160
"""Tokens of a pair that an entailment model reads; evidence and a sentence rarely have 120."""
BATCH = 16
MOST_TEXT = 600
"""Most characters of each text that a chat model is shown."""
_TASK = "You compare two texts. Answer with one word, Yes or No."


@dataclass(frozen=True)
class Pair:
    """A premise, a hypothesis that may follow from it, and the language of both (ISO 639-1) if it is known."""

    premise: str
    hypothesis: str
    language: str = ""


class Entailment(Protocol):
    """A judge of whether a hypothesis follows from its premise. Safe to call from many tasks of one event loop."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Return the languages it reads (ISO 639-1); None if no limit is known."""

    async def follows(self, pairs: Sequence[Pair]) -> list[float]:
        """Return a probability, 0 to 1, for each pair; raises ModelUnavailable or ModelRefused."""


class OnnxEntailment:
    """An Entailment that runs a sequence-pair classifier in ONNX in this process.

    `folder` holds one `*.onnx` and one `tokenizer.json`, directly or in subfolders. `entails` is the number of the
    output for entailment, which `config.json` gives if there is one. Pairs for a model with a fixed length are padded
    to it.
    """

    def __init__(self, folder: Path, entails: int, languages: frozenset[str] | None, sha256: str | None = None) -> None:
        self.languages = languages
        self._entails = entails
        self._session, self._tokenizer = _load(folder, sha256)
        self._names = [entry.name for entry in self._session.get_inputs()]
        length = self._session.get_inputs()[0].shape[1]
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(length if isinstance(length, int) else LONGEST)
        if isinstance(length, int):
            self._tokenizer.enable_padding(length=length)
        else:
            self._tokenizer.enable_padding()
        # One thread, as an abandoned run continues in it; runs that wait behind it are dropped when abandoned.
        self._thread = ThreadPoolExecutor(1, "entailment")

    @classmethod
    def open(cls, chosen: GuardSettings) -> Self:
        """Open the folder in the settings, or a hub repository whose files are fetched once, at one commit.

        Raises BadSettings if something it needs is not installed or no commit is given, WeightsError if files are
        missing, damaged or don't have the hash that is set, ModelUnavailable if the hub can't be reached.
        """
        folder = Path(chosen.entailment_model).expanduser()
        if not folder.is_dir() and chosen.entailment_revision is None:
            raise BadSettings(
                f"guard.entailment_model is the hub name {chosen.entailment_model!r}, whose files may change. Set "
                "guard.entailment_revision to the commit that you have looked at (40 hexadecimal digits, under History "
                "on the repository's page), or give a folder."
            )
        if find_spec("tokenizers") is None:
            raise BadSettings(
                "guard.judge is `entailment`, which needs `tokenizers`. Install it with `pip install "
                "'rejoinder[entailment]'`, or set guard.judge to `head`."
            )
        if not folder.is_dir():
            folder = _from_hub(chosen.entailment_model, chosen.entailment_revision)
        languages = frozenset(chosen.entailment_languages) or None
        return cls(folder, _entailment_output(folder), languages, chosen.entailment_sha256)

    async def follows(self, pairs: Sequence[Pair]) -> list[float]:
        """Return a probability for each pair, computed in a thread, up to BATCH pairs per run."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._follows, pairs)

    def _follows(self, pairs: Sequence[Pair]) -> list[float]:
        rows = [self._run(pairs[start : start + BATCH]) for start in range(0, len(pairs), BATCH)]
        return [float(value) for row in rows for value in row]

    def _run(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        encoded = self._tokenizer.encode_batch([(clean(pair.premise), clean(pair.hypothesis)) for pair in pairs])
        columns = {
            "input_ids": [entry.ids for entry in encoded],
            "attention_mask": [entry.attention_mask for entry in encoded],
            "token_type_ids": [entry.type_ids for entry in encoded],
        }
        (logits,) = self._session.run(["logits"], {name: np.array(columns[name], np.int64) for name in self._names})
        logits = np.asarray(logits, np.float64)
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(exponentials[:, self._entails] / exponentials.sum(axis=1), np.float64)


class ChatEntailment:
    """An Entailment by the probability with which a chat model says yes."""

    languages: frozenset[str] | None = None

    def __init__(self, chat: ChatClient, at_once: int) -> None:
        self._chat = chat
        self._at_once = at_once

    async def follows(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the probability of yes for each pair, by one request each, `at_once` of them in parallel."""
        return await self._chat.chances_of_yes([_question(pair) for pair in pairs], self._at_once)


def _question(pair: Pair) -> tuple[Message, ...]:
    premise, hypothesis = quoted(pair.premise, MOST_TEXT), quoted(pair.hypothesis, MOST_TEXT)
    question = "Does text A say everything that text B says, with the same figures, names and meaning?"
    return (Message("system", _TASK), Message("user", f"Text A: {premise}\nText B: {hypothesis}\n{question}"))


def _load(folder: Path, sha256: str | None) -> tuple[Any, Any]:
    import onnxruntime
    from tokenizers import Tokenizer

    models, tokenizers = sorted(folder.rglob("*.onnx")), sorted(folder.rglob("tokenizer.json"))
    if not models or not tokenizers:
        raise WeightsError(f"{folder} holds no entailment model: a `*.onnx` file and `tokenizer.json` are needed.")
    graph = models[0].read_bytes()
    actual = hashlib.sha256(graph).hexdigest()
    if sha256 is not None and actual != sha256:
        raise WeightsError(
            f"{models[0]} is not the file that guard.entailment_sha256 names: its sha256 is {actual}. Fetch it again, "
            "or set the hash of the file that you mean."
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        return session, Tokenizer.from_file(str(tokenizers[0]))
    except Exception as error:  # both libraries raise exceptions of their own, derived from plain Exception
        raise WeightsError(f"The entailment model in {folder} can't be read: {error}. Fetch it again.") from error


def _entailment_output(folder: Path) -> int:
    """Return the number of the output for entailment: the one that `config.json` names so, else the first."""
    for path in sorted(folder.rglob("config.json")):
        try:
            labels = json.loads(path.read_text("utf-8")).get("id2label", {}).items()
            outputs = [int(number) for number, label in labels if label.lower().startswith("entail")]
        except (OSError, ValueError, AttributeError) as error:
            raise WeightsError(f"{path} can't be read: {error}. Fetch the entailment model again.") from error
        if outputs:
            return outputs[0]
    return 0


def _from_hub(name: str, revision: str | None) -> Path:
    if find_spec("huggingface_hub") is None:
        raise BadSettings(
            f"{name} is no folder, and no hub model can be fetched without huggingface_hub. Give a folder, or "
            "install 'rejoinder[entailment]'."
        )
    from huggingface_hub import snapshot_download

    try:
        files = ["*.json", "onnx/model_quantized.onnx", "model.onnx"]
        return Path(snapshot_download(name, revision=revision, allow_patterns=files))
    except Exception as error:  # the hub's client raises a dozen kinds of exception, from three libraries
        raise ModelUnavailable(
            f"The entailment model {name!r} can't be fetched: {error}. Give guard.entailment_model a folder instead."
        ) from error
