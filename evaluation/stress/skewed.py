"""Run a command of `rejoinder` with a clock that goes wrong: `python -m evaluation.stress.skewed SECONDS COMMAND …`."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta

import core.domain
import core.domain.record as record

if __name__ == "__main__":
    ahead = timedelta(seconds=float(sys.argv.pop(1)))
    right = record.now

    def wrong() -> datetime:
        """Return a moment that is off."""
        return right() + ahead

    # Before anything else is imported, for everybody takes the name with them.
    record.now = core.domain.now = wrong
    from rejoinder.cli import main

    main()
