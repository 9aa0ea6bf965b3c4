"""The judgement of a run: its flags, decisions, history and replies compared with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain import CaseState, Transition
from core.lifecycle import DECIDED, UNFINISHED
from evaluation.stress.moderators import SentDecision

STATE_AFTER = {
    "approve": CaseState.APPROVED,
    "edit": CaseState.APPROVED,
    "reject": CaseState.REJECTED,
    "dismiss": CaseState.DISMISSED,
    "redraft": CaseState.GROUNDED,
    "undo": CaseState.PENDING,
}
"""The state that each action leads to."""

FAILINGS = {
    "flags lost": "accepted by the gateway, and no case",
    "flags refused": "never accepted, although nothing is wrong with them",
    "cases unfinished": "the machine still owes a step",
    "cases failed": "given up",
    "decisions lost": "answered with yes, and not in the history",
    "decisions doubled": "two answered with yes, on the same version",
    "approvals nobody made": "in the history, and no moderator asked for it",
    "replies lost": "approved for good, and no reply",
    "replies doubled": "more than one reply for a case",
    "replies with a wrong text": "not the approved text, byte for byte",
    "replies unapproved": "a reply although no approval stands",
}
"""The kinds of failure that are counted, with their meanings; every count must be zero."""


@dataclass
class Verdict:
    """The case keys of each kind of failure, and the number of cases in each final state."""

    wrong: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in FAILINGS})
    states: dict[str, int] = field(default_factory=dict)


def judge(
    accepted: Iterable[str],
    refused: Iterable[str],
    states: Mapping[str, CaseState],
    decisions: Sequence[SentDecision],
    history: Iterable[Transition],
    replies: Mapping[str, Sequence[str]],
) -> Verdict:
    """Return what was lost, doubled or sent in another wording than approved; `replies` are texts by case key."""
    verdict = Verdict()
    for state in states.values():
        verdict.states[state] = verdict.states.get(state, 0) + 1
    verdict.wrong["flags lost"] = sorted(set(accepted) - set(states))
    verdict.wrong["flags refused"] = sorted(refused)
    verdict.wrong["cases unfinished"] = sorted(key for key, state in states.items() if state in UNFINISHED)
    verdict.wrong["cases failed"] = sorted(key for key, state in states.items() if state is CaseState.FAILED)
    happened: dict[str, dict[int, Transition]] = defaultdict(dict)
    for transition in history:
        happened[transition.case_key][transition.version] = transition
    _judge_decisions(verdict, decisions, happened)
    approved = _standing_texts(verdict, decisions, happened)
    for key in set(states) | set(replies):
        _judge_replies(verdict, key, approved.get(key), replies.get(key, ()))
    return verdict


def _judge_decisions(
    verdict: Verdict, decisions: Sequence[SentDecision], happened: Mapping[str, Mapping[int, Transition]]
) -> None:
    yes: dict[tuple[str, int], int] = defaultdict(int)
    for decision in decisions:
        if decision.status != 200:
            continue
        yes[decision.key, decision.version] += 1
        transition = happened[decision.key].get(decision.version + 1)
        state = STATE_AFTER[decision.action]
        if transition is None or transition.who != decision.who or transition.to_state is not state:
            verdict.wrong["decisions lost"].append(decision.key)
    verdict.wrong["decisions doubled"] = sorted(key for (key, _), count in yes.items() if count > 1)


def _standing_texts(
    verdict: Verdict, decisions: Sequence[SentDecision], happened: Mapping[str, Mapping[int, Transition]]
) -> dict[str, str | None]:
    """Return the text whose approval stands at the end, by case key; None if no moderator sent that decision."""
    requested = {(sent.key, sent.version, sent.who): sent.text for sent in decisions if sent.text}
    standing: dict[str, str | None] = {}
    for key, transitions in happened.items():
        for version in sorted(transitions):
            transition = transitions[version]
            if transition.to_state is CaseState.APPROVED and transition.from_state is not CaseState.APPROVED:
                standing[key] = requested.get((key, version - 1, transition.who))
                if standing[key] is None:
                    verdict.wrong["approvals nobody made"].append(key)
            elif transition.from_state in DECIDED and transition.to_state is CaseState.PENDING:
                standing.pop(key, None)
    return standing


def _judge_replies(verdict: Verdict, key: str, approved: str | None, replies: Sequence[str]) -> None:
    if approved is None:
        if replies:
            verdict.wrong["replies unapproved"].append(key)
        return
    if not replies:
        verdict.wrong["replies lost"].append(key)
    if len(replies) > 1:
        verdict.wrong["replies doubled"].append(key)
    if any(text != approved for text in replies):
        verdict.wrong["replies with a wrong text"].append(key)
