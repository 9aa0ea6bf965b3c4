from __future__ import annotations

import base64

import numpy as np
import pytest

from core.errors import BadInput
from pipeline.vector import pack, unpack


def test_a_vector_survives_the_wire() -> None:
    vector = np.random.default_rng(0).normal(size=384).astype(np.float32)
    vector /= np.linalg.norm(vector)
    back = unpack(pack(vector))
    assert back.dtype == np.float32
    assert np.linalg.norm(back) == pytest.approx(1, abs=1e-6)
    assert float(back @ vector) == pytest.approx(1, abs=1e-5)


def test_the_wire_form_is_short_little_endian_ascii() -> None:
    assert pack(np.array([1, -2], np.float32)) == base64.b64encode(b"\x00\x3c\x00\xc0").decode()
    assert len(pack(np.ones(384, np.float32))) == 1024


@pytest.mark.parametrize("packed", ["§", "not base64!", "AAA", "AAAA", "", base64.b64encode(bytes(8)).decode(),
                                    base64.b64encode(b"\x00\x7c" * 4).decode()])  # fmt: skip
def test_what_is_no_vector_is_refused(packed: str) -> None:
    with pytest.raises(BadInput, match="embedding"):
        unpack(packed)
