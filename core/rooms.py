"""The rooms of the project, which are its top-level packages."""

from __future__ import annotations

ROOMS = ("training", "evaluation", "rejoinder", "bot", "stream", "ledger", "pipeline", "kb", "models", "core")
"""From the top down: each room may import only those after it."""
