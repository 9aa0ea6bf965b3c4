"""What of our environment a child process inherits: what any program needs, and what its caller names.

The rest stays here. An environment is where an operator puts every secret, and a broker or a model server needs none.
"""

from __future__ import annotations

import os
from collections.abc import Collection

NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""What a child needs that fetches something."""
MODELS = (
    "HF_", "TORCH", "TRANSFORMERS_", "TOKENIZERS_", "CUDA_", "NVIDIA_", "HIP_", "ROCR_", "HSA_", "GGML_", "LLAMA_",
    "OMP_", "MKL_", "OPENBLAS_", "ORT_",
)  # fmt: skip
"""What a child needs that runs a model."""
DOORS = ("REJOINDER_DESK__TOKENS", "REJOINDER_DISCORD__TOKEN", "REJOINDER_SLACK__")
"""The settings that let somebody in; only the process behind the door needs them."""
_BASICS = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMP", "TMPDIR", "TEMP", "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
})  # fmt: skip
_BASIC_PREFIXES = ("LC_", "XDG_", "PYTHON", "DYLD_")


def child_environment(*prefixes: str, without: Collection[str] = ()) -> dict[str, str]:
    """Return the variables for a child: the basics and those with one of the prefixes, less those of `without`."""
    wanted, unwanted = (*_BASIC_PREFIXES, *prefixes), tuple(without)
    return {
        name: value
        for name, value in os.environ.items()
        if (name.upper() in _BASICS or name.upper().startswith(wanted)) and not name.upper().startswith(unwanted)
    }
