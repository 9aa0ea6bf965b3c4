"""What became of every post: cases, their drafts and history, moderators' decisions, and what is owed to Kafka."""

from ledger.cases import CasePage
from ledger.casework import Reopening
from ledger.ledger import Ledger
from ledger.outbox import OutboxRow
from ledger.stages import Step

__all__ = ["CasePage", "Ledger", "OutboxRow", "Reopening", "Step"]
