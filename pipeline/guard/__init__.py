"""Judge replies: all hard checks, none of which needs a large model."""

from pipeline.guard.form import limit_for
from pipeline.guard.guard import Guard
from pipeline.guard.material import GuardContext

__all__ = ["Guard", "GuardContext", "limit_for"]
