"""The cores that a process takes."""

from __future__ import annotations

from threadpoolctl import threadpool_info, threadpool_limits

from models.cpu import keep_blas_to_one_thread


def test_numpy_multiplies_on_one_thread_whatever_held_before() -> None:
    threadpool_limits(limits=2, user_api="blas")

    keep_blas_to_one_thread()

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert pools
    assert {pool["num_threads"] for pool in pools} == {1}
