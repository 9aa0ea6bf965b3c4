"""The process of a command: settings, logging, and running until told to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import tomllib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_settings import SettingsError

from core.domain import StrategyName
from core.errors import BadInput, BadSettings, describe_errors
from core.rooms import ROOMS
from core.settings import NO_MODEL, Settings

T = TypeVar("T")


def load_settings(**overrides: Any) -> Settings:
    """Return the settings with overrides from the command line. Raises BadSettings, which names what is wrong."""
    try:
        return Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        complaints = describe_errors(error, "the settings")
        raise BadSettings(f"The settings can't be used: {complaints}. See docs/settings.md.") from error
    except SettingsError as error:
        advice = "Write lists and tables as JSON. See docs/settings.md."
        raise BadSettings(f"The settings can't be used: {error}. {advice}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadSettings(f"The settings file rejoinder.toml can't be read: {error}.") from error


def drafting_with(settings: Settings, chat_model: str | None, strategy: StrategyName | None = None) -> Settings:
    """Return the settings with another chat model, or `none`, and another strategy; None leaves one as it is.

    A model that is asked for has something to do: without a strategy, `free` stands in for `compose`, which asks none.
    Raises BadInput for a strategy without the model that it asks.
    """
    model = settings.chat.model if chat_model is None else chat_model
    if strategy is None:
        chosen = settings.draft.strategy if chat_model is None else _strategy_for(chat_model, settings)
    elif model == NO_MODEL and strategy is not StrategyName.COMPOSE:
        raise BadInput(
            f"The strategy {strategy} asks a chat model, and there is none: name one by --chat-model, or take "
            f"--strategy {StrategyName.COMPOSE}."
        )
    else:
        chosen = strategy
    return settings.model_copy(
        update={
            "chat": settings.chat.model_copy(update={"model": model}),
            "draft": settings.draft.model_copy(update={"strategy": chosen}),
        }
    )


def _strategy_for(chat_model: str, settings: Settings) -> StrategyName:
    """Return the settings' strategy where it suits the chat model, else `compose` or `free`."""
    if chat_model == NO_MODEL:
        return StrategyName.COMPOSE
    configured = settings.draft.strategy
    return StrategyName.FREE if configured is StrategyName.COMPOSE else configured


def start_logging(settings: Settings) -> None:
    """Log to standard error; libraries only from WARNING, unless the level is DEBUG."""
    logging.basicConfig(
        level=settings.log_level, stream=sys.stderr, format="%(asctime)s %(levelname)-7s %(name)s: %(message)s"
    )
    if settings.log_level != "DEBUG":
        for handler in logging.getLogger().handlers:
            handler.addFilter(_is_worth_reading)


def _is_worth_reading(record: logging.LogRecord) -> bool:
    """Tell whether a record is ours or a library's warning; some libraries set their own loggers to DEBUG."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in ROOMS


def given_text(argument: str) -> str:
    """Return a text argument, or standard input if it is `-`. Raises BadInput if that is not UTF-8."""
    if argument != "-":
        return argument
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"What came in is not UTF-8 (byte {error.start}).") from error


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end."""
    return asyncio.run(work)


def run_until_stopped(work: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Run `work(stop)`; SIGINT or SIGTERM sets `stop`, and a second one cancels the work."""

    async def body() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work(stop))

        def on_signal() -> None:
            if stop.is_set():
                task.cancel()
            stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, on_signal)
        await task

    asyncio.run(body())
