"""What the tests of all rooms share: how they are spread over processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

LIVE_FOLDER = "/live/"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with whole demos and the browser: they take longest, and mostly wait."""
    items.sort(key=lambda item: LIVE_FOLDER not in item.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Keep the tests of a file in one process, and all that start a demo or a browser in the same one."""
    from xdist.scheduler import LoadFileScheduling

    class OneDemoAtATime(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return LIVE_FOLDER if LIVE_FOLDER in nodeid else str(super()._split_scope(nodeid))

    return OneDemoAtATime(config, log)
