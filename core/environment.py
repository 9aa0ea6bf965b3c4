"""The environment variables that child processes inherit: the basics, and those that the caller names.

Nothing else is passed on: operators put their secrets into the environment, and a broker or a model server needs none
of them.
"""

from __future__ import annotations

import os
from collections.abc import Collection

NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Variables for children that download something."""
MODELS = (
    "HF_", "TORCH", "TRANSFORMERS_", "TOKENIZERS_", "CUDA_", "NVIDIA_", "HIP_", "ROCR_", "HSA_", "GGML_", "LLAMA_",
    "OMP_", "MKL_", "OPENBLAS_", "ORT_",
)  # fmt: skip
"""Variables for children that run a model."""
DOORS = ("REJOINDER_DESK__TOKENS", "REJOINDER_DISCORD__TOKEN", "REJOINDER_SLACK__")
"""Prefixes of the settings that grant access; only the process that checks them needs them."""
_BASICS = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMP", "TMPDIR", "TEMP", "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
})  # fmt: skip
_BASIC_PREFIXES = ("LC_", "XDG_", "PYTHON", "DYLD_")


def child_environment(*prefixes: str, without: Collection[str] = ()) -> dict[str, str]:
    """Return the basics and variables with one of `prefixes`, except those that begin with one of `without`."""
    wanted, unwanted = (*_BASIC_PREFIXES, *prefixes), tuple(without)
    return {
        name: value
        for name, value in os.environ.items()
        if (name.upper() in _BASICS or name.upper().startswith(wanted)) and not name.upper().startswith(unwanted)
    }
