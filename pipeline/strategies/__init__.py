"""The ways to come to replies, one file each, behind one protocol."""

from pipeline.strategies.compose import ComposeStrategy
from pipeline.strategies.free import FreeStrategy
from pipeline.strategies.selection import Strategies
from pipeline.strategies.strategy import Proposal, Strategy, tidy

__all__ = ["ComposeStrategy", "FreeStrategy", "Proposal", "Strategies", "Strategy", "tidy"]
