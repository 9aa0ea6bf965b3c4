"""The ledger: cases with their drafts and history, moderators' decisions, and messages due to be sent to Kafka."""

from ledger.cases import CasePage
from ledger.casework import Reopening
from ledger.ledger import Ledger
from ledger.outbox import OutboxRow
from ledger.stages import OnFile, Step

__all__ = ["CasePage", "Ledger", "OnFile", "OutboxRow", "Reopening", "Step"]
