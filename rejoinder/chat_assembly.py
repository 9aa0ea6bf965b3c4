"""Composition of the chat model: its weights, its server or endpoint, a client, and the turns at it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.settings import NO_MODEL, Settings

if TYPE_CHECKING:
    from models.chat import ChatClient
    from models.engine_arguments import Weights
    from models.turns import Turns


def chat_weights(settings: Settings) -> Weights:
    """Return the paths of the weights of the chat model, and of the smaller model that guesses ahead, if set."""
    from models import catalog
    from models.engine_arguments import Weights

    folder, draft = settings.weights_dir, settings.chat.draft_model
    guessing = None
    if draft is not None:
        guessing = Path(draft) if draft.endswith(".gguf") else folder / catalog.find_chat(draft).file
    return Weights(folder / catalog.find_chat(settings.chat.model).file, guessing)


@asynccontextmanager
async def chat_endpoint(settings: Settings, log_file: Path | None = None) -> AsyncIterator[str | None]:
    """Yield the base URL of the chat model: the configured one, that of a server started here, or None for no model."""
    if settings.chat.endpoint is not None:
        yield settings.chat.endpoint
    elif settings.chat.model == NO_MODEL:
        yield None
    else:
        from models.llama_server import LlamaServer
        from stream.metrics import CHAT_SERVER_HANGS

        weights, on_hang = chat_weights(settings), CHAT_SERVER_HANGS.inc
        async with LlamaServer(settings.chat, weights, log_file, on_hang=on_hang) as server:
            yield server.endpoint


@asynccontextmanager
async def chat_client(settings: Settings, log_file: Path | None = None) -> AsyncIterator[ChatClient | None]:
    """Yield a client for the chat model, or None for no model."""
    from models.chat import ChatClient

    async with chat_endpoint(settings, log_file) as endpoint:
        if endpoint is None:
            yield None
            return
        chat = settings.chat
        async with ChatClient(
            endpoint, chat.model, chat.api_key, chat.timeout_s, chat.attempts, adapters=tuple(chat.adapters)
        ) as client:
            yield client


def chat_turns(settings: Settings) -> Turns:
    """Return the turns at the chat model; each has slots for the replies of one draft."""
    from models.turns import Turns

    return Turns(max(1, settings.chat.slots // settings.chat.candidates), settings.draft.timeout_s)
