"""Judge replies: a list of checks, cheap ones first."""

from pipeline.guard.checks import GuardCheck, word_checks
from pipeline.guard.form import hidden_characters, limit_for
from pipeline.guard.guard import Guard, Verdict
from pipeline.guard.judged import unjudged
from pipeline.guard.material import GuardContext
from pipeline.guard.toxicity import ToxicityCheck
from pipeline.guard.weighing import may_outweigh, outweighed

__all__ = [
    "Guard",
    "GuardCheck",
    "GuardContext",
    "ToxicityCheck",
    "Verdict",
    "hidden_characters",
    "limit_for",
    "may_outweigh",
    "outweighed",
    "unjudged",
    "word_checks",
]
