"""Strategies: the ways to arrive at replies, one file each, behind one protocol."""

from pipeline.strategies.claim_guided import ClaimGuidedStrategy
from pipeline.strategies.compose import ComposeStrategy
from pipeline.strategies.free import FreeStrategy
from pipeline.strategies.intent_frames import IntentFramesStrategy
from pipeline.strategies.locked import LockedStrategy
from pipeline.strategies.plain import PlainStrategy
from pipeline.strategies.replying import Writer
from pipeline.strategies.selection import Strategies
from pipeline.strategies.strategy import Proposal, Proposed, Strategy, tidy
from pipeline.strategies.tournament import TournamentStrategy

__all__ = [
    "ClaimGuidedStrategy",
    "ComposeStrategy",
    "FreeStrategy",
    "IntentFramesStrategy",
    "LockedStrategy",
    "PlainStrategy",
    "Proposal",
    "Proposed",
    "Strategies",
    "Strategy",
    "TournamentStrategy",
    "Writer",
    "tidy",
]
