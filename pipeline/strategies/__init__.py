"""The ways to come to replies, one file each, behind one protocol."""

from pipeline.strategies.compose import ComposeStrategy
from pipeline.strategies.free import FreeStrategy
from pipeline.strategies.plain import PlainStrategy
from pipeline.strategies.selection import Strategies
from pipeline.strategies.strategy import Proposal, Proposed, Strategy, tidy
from pipeline.strategies.turns import Turns

__all__ = [
    "ComposeStrategy",
    "FreeStrategy",
    "PlainStrategy",
    "Proposal",
    "Proposed",
    "Strategies",
    "Strategy",
    "Turns",
    "tidy",
]
