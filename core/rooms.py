"""The rooms of the project, that is, its top-level packages."""

from __future__ import annotations

ROOMS = ("training", "evaluation", "rejoinder", "bot", "stream", "ledger", "pipeline", "kb", "models", "core")
"""From top to bottom: each room may import only those after it."""
