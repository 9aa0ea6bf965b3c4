"""The vocabulary that all rooms share; imports no other room.

A *case* is one flagged post and everything that happened to it. Its key is `platform/post_id`; its states are in
`core/lifecycle.py`.
"""

from core.domain.case import Action, Case, CaseState, Decision, EventKind, ModeratorRole, Note, Role, Transition
from core.domain.draft import (
    MAX_DRAFTS,
    Candidate,
    Check,
    Draft,
    DraftNumber,
    DraftRequest,
    Duel,
    Origin,
    failed,
    is_edited,
)
from core.domain.evidence import AttackKind, Claim, CounterClaim, Evidence, Frame, Grounding, Plan, Source, VotedClaim
from core.domain.post import MAX_FLAG_BYTES, STORED, FlaggedPost
from core.domain.record import MAX_TEXT, Intent, Moment, Record, StrategyName, TargetGroup, Text, clean, now
from core.domain.triage import GroupScore, Route, Triage

__all__ = [
    "MAX_DRAFTS",
    "MAX_FLAG_BYTES",
    "MAX_TEXT",
    "STORED",
    "Action",
    "AttackKind",
    "Candidate",
    "Case",
    "CaseState",
    "Check",
    "Claim",
    "CounterClaim",
    "Decision",
    "Draft",
    "DraftNumber",
    "DraftRequest",
    "Duel",
    "EventKind",
    "Evidence",
    "FlaggedPost",
    "Frame",
    "Grounding",
    "GroupScore",
    "Intent",
    "ModeratorRole",
    "Moment",
    "Note",
    "Origin",
    "Plan",
    "Record",
    "Role",
    "Route",
    "Source",
    "StrategyName",
    "TargetGroup",
    "Text",
    "Transition",
    "Triage",
    "VotedClaim",
    "clean",
    "failed",
    "is_edited",
    "now",
]
