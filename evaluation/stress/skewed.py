"""Run a `rejoinder` command with a wrong clock: `python -m evaluation.stress.skewed SECONDS COMMAND …`."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta

import core.domain
import core.domain.record as record

if __name__ == "__main__":
    ahead = timedelta(seconds=float(sys.argv.pop(1)))
    right = record.now

    def wrong() -> datetime:
        """Return a time that is off by the given seconds."""
        return right() + ahead

    # This must come before the other imports, as modules copy the name `now` when they import it.
    record.now = core.domain.now = wrong
    from rejoinder.cli import main

    main()
