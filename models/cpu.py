"""The processor cores that this process may use."""

from __future__ import annotations

import os

from threadpoolctl import threadpool_limits


def usable_cores() -> int:
    """Return how many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep_blas_to_one_thread() -> None:
    """Make numpy multiply on the calling thread alone, in this process from now on.

    The products for a post are small. Several threads are no faster and, on a busy machine, spin while they wait for
    each other, which triples the processor time per post.
    """
    import numpy  # noqa: F401  # the limit reaches only libraries that are loaded

    threadpool_limits(limits=1, user_api="blas")
