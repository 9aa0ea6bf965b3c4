"""The processor cores this process may use."""

from __future__ import annotations

import os

from threadpoolctl import threadpool_limits


def usable_cores() -> int:
    """Return how many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep_blas_to_one_thread() -> None:
    """Have numpy multiply on the calling thread alone, in this process from now on.

    A post's products are small. On several threads they are no quicker, and on a busy machine those threads spin while
    they wait for each other: three times the processor time a post.
    """
    import numpy  # noqa: F401  # only a library that is loaded can be told

    threadpool_limits(limits=1, user_api="blas")
