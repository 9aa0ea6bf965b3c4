"""Run a torch model of the `accurate` extra in this process, on a thread of its own.

The first use of a torch model takes seconds, and a text takes 10 to 300 ms on two cores, so nothing here blocks the
event loop. There is only one thread, as a fast tokenizer shared by threads raises "Already borrowed".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Generic, TypeVar

from core.errors import BadSettings, ModelUnavailable

Model = TypeVar("Model")
Result = TypeVar("Result")


class TorchModel(Generic[Model]):
    """A model that is loaded on first use; `load` imports `package`.

    Raises BadSettings at once if the package is not installed.
    """

    def __init__(self, name: str, package: str, load: Callable[[], Model]) -> None:
        if find_spec(package) is None:
            raise BadSettings(
                f"{name} needs {package}, which is not installed. Install it with `pip install 'rejoinder[accurate]'`."
            )
        self._name, self._load = name, load
        self._model: Model | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="torch")

    async def use(self, call: Callable[[Model], Result]) -> Result:
        """Return the result of `call` on the model.

        Raises ModelUnavailable if the model can't be loaded.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: call(self._loaded()))

    def close(self) -> None:
        """End the thread; safe to call twice."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _loaded(self) -> Model:
        if self._model is None:
            try:
                self._model = self._load()
            except (ImportError, OSError, ValueError, RuntimeError) as error:
                raise ModelUnavailable(
                    f"{self._name} can't be loaded: {error}. Give a folder that holds the whole "
                    "model, or a name on the hub that can be reached."
                ) from error
        return self._model


def label(kind: str, model: str) -> str:
    """Return what two vectors must have in common to be comparable: the kind, and the model's or its folder's name."""
    return f"{kind}/{Path(model).name if Path(model).is_dir() else model}"
