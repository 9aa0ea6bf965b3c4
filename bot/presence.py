"""Who is looking at which case right now, as far as this process knows; nothing of it is stored.

A tab of the page is present as long as its event stream is open, so it need not sign off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.errors import BadInput


@dataclass(frozen=True)
class Viewing:
    """The names of the people who are looking at a case, without duplicates."""

    case_key: str
    names: tuple[str, ...]


@dataclass
class _Tab:
    """One open page: its moderator, the function that notifies it, and the case on it."""

    who: str
    tell: Callable[[Viewing], None]
    case_key: str | None = None


class Presence:
    """The open pages of this desk and the cases on them."""

    def __init__(self) -> None:
        self._tabs: dict[str, _Tab] = {}

    @contextmanager
    def present(self, tab: str, who: str, tell: Callable[[Viewing], None]) -> Iterator[None]:
        """Count a tab as open until the context ends; `tell` receives who is looking at the case on it."""
        own_tab = self._tabs[tab] = _Tab(who, tell)
        try:
            yield
        finally:
            # The tab may have reconnected with a new stream before the old one ended.
            if self._tabs.get(tab) is own_tab:
                del self._tabs[tab]
                self._tell(own_tab.case_key)

    def look(self, tab: str, who: str, case_key: str | None) -> None:
        """Set the case on a tab. Raises BadInput unless this person has an open event stream for the tab."""
        own_tab = self._tabs.get(tab)
        if own_tab is None or own_tab.who != who:
            raise BadInput("This page has no open event stream here; open /v1/events with its `tab` first.")
        before, own_tab.case_key = own_tab.case_key, case_key
        if before != case_key:
            self._tell(before)
        self._tell(case_key)

    def _tell(self, case_key: str | None) -> None:
        if case_key is None:
            return
        tabs = [tab for tab in self._tabs.values() if tab.case_key == case_key]
        viewing = Viewing(case_key, tuple(sorted({tab.who for tab in tabs})))
        for tab in tabs:
            tab.tell(viewing)
