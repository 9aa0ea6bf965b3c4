"""Write vectors as text for the wire, and read them again."""

from __future__ import annotations

import base64
import binascii

import numpy as np
from numpy.typing import NDArray

from core.errors import BadInput

_WIRE = np.dtype("<f2")


def pack(vector: NDArray[np.float32]) -> str:
    """Return a vector of shape (d,) as base64 of little-endian float16: 1 kB for 384 dimensions."""
    return base64.b64encode(vector.astype(_WIRE).tobytes()).decode("ascii")


def unpack(packed: str) -> NDArray[np.float32]:
    """Return an embedding as float32 of length 1; raises BadInput if `packed` does not hold one."""
    vector = numbers(packed)
    length = float(np.linalg.norm(vector))
    if length == 0:
        raise BadInput("The stored embedding has no direction. Triage again.")
    return np.asarray(vector / length, np.float32)


def numbers(packed: str) -> NDArray[np.float32]:
    """Return a vector as it was packed, float32; raises BadInput if `packed` does not hold one."""
    try:
        vector = np.frombuffer(base64.b64decode(packed, validate=True), _WIRE).astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise BadInput(f"The stored embedding is no base64 of float16 numbers: {error}. Triage again.") from None
    if not np.isfinite(vector).all():
        raise BadInput("The stored embedding holds what is no number. Triage again.")
    return vector
