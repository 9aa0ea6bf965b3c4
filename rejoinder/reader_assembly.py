"""Composition of what reads English with the larger model, whose weights are fetched: posts, and drafts."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import WeightsError
from core.settings import Settings

if TYPE_CHECKING:
    from pipeline.guard.pair_reader import LatePairReader
    from pipeline.post_reader import PostReader

log = logging.getLogger(__name__)


async def open_post_reader(settings: Settings) -> PostReader | None:
    """Load the reader of posts; None if it is off, its weights were not fetched, or they are damaged (logged)."""
    from pipeline.post_reader import PostReader

    file = _fetched(settings, "Posts are") if settings.triage.reread else None
    try:
        return None if file is None else await asyncio.to_thread(PostReader.load, file)
    except WeightsError as error:
        log.error("Posts are read by the small models alone: %s", error)
        return None


def open_pair_reader(settings: Settings) -> LatePairReader | None:
    """Return the reader of drafts' sentences, not loaded yet; None if it is off or its weights were not fetched."""
    from pipeline.guard.pair_reader import LatePairReader, PairReader

    file = _fetched(settings, "Models' drafts are") if settings.guard.reread else None
    return None if file is None else LatePairReader(lambda: PairReader.load(file))


def _fetched(settings: Settings, what: str) -> Path | None:
    """Return the file with the larger model's weights; None, and a line in the log on `what`, if it is not here."""
    from models import catalog, weights
    from models.mpnet import NAME

    entry = catalog.find(NAME)
    if weights.installed(entry, settings.weights_dir):
        return settings.weights_dir / entry.file
    log.info("%s read by the small models alone: rejoinder models pull %s", what, NAME)
    return None
