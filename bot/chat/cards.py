"""What a card says and offers, built once here and rendered by each chat platform.

All texts are defused and cut (see `bot.chat.defuse`), except `Card.editable` and this module's own words. The platform
still has to escape its markup characters.

| state                         | buttons                                                                 |
|-------------------------------|-------------------------------------------------------------------------|
| pending, with draft           | approve, edit, reject, redraft, not hateful, evidence, claim or release |
| pending, no draft             | edit, reject, redraft, not hateful, evidence, claim or release          |
| pending, in doubt             | not hateful, draft, edit, reject, evidence, claim or release            |
| approved, rejected, dismissed | undo, until `Card.undo_until`; evidence                                 |
| escalated, dismissed          | reopen, hand over, handled; evidence                                    |
| released, rejected; appealed  | reopen, handled; evidence                                               |
| failed                        | redraft, if it was grounded; evidence                                   |
| any other                     | evidence, if there is any                                               |

Where a model has read the post or judged replies in duels, `details` comes after the evidence, in every state.
`core.lifecycle.DECISIONS` defines what each state allows; a card leaves out what makes no sense at the moment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal

from bot.backing import answered_claim, drafting_strategy, marks, used_facts, warnings, writer
from bot.chat.defuse import defuse, web_address
from bot.chat.details import details
from bot.check_display import finding, is_close
from bot.permissions import can_be_handled
from bot.reasons import NOT_HATEFUL, reason_words
from bot.stored_words import translate_stored
from bot.translation import _, percent
from bot.wording import GROUP_WORDS, IN_DOUBT, INTENT_NAMES, hate_probability, holder, standing
from core.domain import Action, Case, CaseState, Check, Draft, EventKind, Evidence, Grounding, Note, Origin, now
from core.lifecycle import DECIDED, DECISIONS, TURNED_DOWN
from pipeline.guard import outweighed

MAX_POST = 1_200
MAX_DRAFT = 1_000
MAX_EVIDENCE = 1_400
MAX_TITLE = 120
MAX_LINE = 200
MOST_NOTES = 3


class ButtonAction(StrEnum):
    """What a button does.

    `show` uncovers the post on platforms without spoilers. `redraft` opens a form, `draft` requests a first draft at
    once.
    """

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    DISMISS = "dismiss"
    DRAFT = "draft"
    REDRAFT = "redraft"
    EVIDENCE = "evidence"
    DETAILS = "details"
    CLAIM = "claim"
    RELEASE = "release"
    UNDO = "undo"
    REOPEN = "reopen"
    HAND_OVER = "hand_over"
    HANDLE = "handle"
    SHOW = "show"

    @property
    def decision(self) -> Action | None:
        """Return the action that a press requests from the desk, or None if it only shows something."""
        if self in (ButtonAction.EVIDENCE, ButtonAction.DETAILS, ButtonAction.SHOW):
            return None
        return Action.REDRAFT if self is ButtonAction.DRAFT else Action(self)


Style = Literal["good", "bad", "plain"]


@dataclass(frozen=True)
class Button:
    """One action that a card offers."""

    action: ButtonAction
    label: str
    style: Style = "plain"


@dataclass(frozen=True)
class EvidenceLine:
    """One statement with its source; `where` begins with what to know before relying on it.

    `url` is None if the link is not safe to show. `why` says that the draft states it and why, otherwise it is empty.
    """

    text: str
    title: str
    where: str
    url: str | None
    why: str = ""


@dataclass(frozen=True)
class Card:
    """What a card shows.

    - `post` must stay hidden until somebody asks to see it; `url` is the post's address, or None.
    - `notes` are the latest notes by people, each with its author.
    - `answers` is the claim that the draft answers; `warnings` say what may be wrong with the draft.
    - `editable` is the unchanged draft from which an edit starts; use it only in input fields, never render it.
    - `stale_at` is when the card becomes outdated without a change of the case; build it again then.
    """

    case_key: str
    version: int
    state: CaseState
    title: str
    post: str
    url: str | None
    context: int
    groups: str
    draft: str
    drafted: str
    answers: str
    warnings: tuple[str, ...]
    editable: str
    evidence: tuple[EvidenceLine, ...]
    close_checks: tuple[str, ...]
    received_at: datetime
    standing: str
    notes: tuple[str, ...]
    final_text: str | None
    undo_until: datetime | None
    stale_at: datetime | None
    buttons: tuple[Button, ...]


def build_card(case: Case) -> Card:
    """Return the card of a case."""
    draft, moment = case.draft, now()
    undoable = case.state in DECIDED and _ahead(case.release_at, moment)
    return Card(
        case_key=defuse(case.key, MAX_LINE),
        version=case.version,
        state=case.state,
        title=defuse(f"{_(IN_DOUBT) if case.doubtful else _whom(case)} · {case.post.platform}", MAX_TITLE),
        post=defuse(case.post.text, MAX_POST) or _("It has no text that can be read."),
        url=web_address(case.post.url),
        context=len(case.post.context),
        groups=groups_line(case),
        draft=defuse(draft.text, MAX_DRAFT) if draft else "",
        drafted=_drafted(case),
        answers=defuse(answered_claim(case), MAX_LINE),
        warnings=tuple(defuse(words, MAX_LINE) for words in warnings(case)),
        editable=draft.text if draft else "",
        # No document can tell whether a post is hateful; the evidence is still available behind its button.
        evidence=() if case.doubtful else case_evidence(case),
        close_checks=_close_checks(draft) if draft else (),
        received_at=case.received_at,
        standing=_standing(case),
        notes=tuple(_note_line(note) for note in case.notes[-MOST_NOTES:]),
        final_text=defuse(case.final_text, MAX_DRAFT) if case.final_text else None,
        undo_until=case.release_at if undoable else None,
        stale_at=_stale_at(case, moment),
        buttons=_buttons(case, undoable=undoable),
    )


def groups_line(case: Case) -> str:
    """Return whom the post attacks, with probabilities, for example `migrants 93 %, women 41 %`."""
    scores = case.triage.groups if case.triage else ()
    return ", ".join(f"{GROUP_WORDS[item.group]} {percent(item.score)}" for item in scores) or _("unsure")


def case_evidence(case: Case) -> tuple[EvidenceLine, ...]:
    """Return the evidence for a case's post, what the draft states first."""
    used = used_facts(case)
    evidence = sorted(case.grounding.evidence if case.grounding else (), key=lambda item: item.id not in used)
    return tuple(replace(evidence_line(item), why=used.get(item.id, "")) for item in evidence)


def evidence_lines(grounding: Grounding | None) -> tuple[EvidenceLine, ...]:
    """Return the evidence for a post, best first."""
    return tuple(evidence_line(item) for item in (grounding.evidence if grounding else ()))


def evidence_line(item: Evidence) -> EvidenceLine:
    """Return one statement as shown on cards."""
    source = item.source
    parts = (source.institution, source.symbol, source.locator, str(source.year))
    marked = f"[{', '.join(marks(item))}] " if marks(item) else ""
    return EvidenceLine(
        text=defuse(item.text, MAX_EVIDENCE),
        title=defuse(source.title, MAX_TITLE),
        where=defuse(marked + ", ".join(part for part in parts if part), MAX_LINE),
        url=web_address(source.url),
    )


def check_line(check: Check) -> str:
    """Return the result of a check in words."""
    return defuse(finding(check), MAX_LINE)


def failed_lines(checks: tuple[Check, ...]) -> tuple[str, ...]:
    """Return the hard checks that a text failed, in words."""
    return tuple(check_line(check) for check in checks if check.hard and not check.passed)


def _whom(case: Case) -> str:
    if not case.triage or not case.triage.groups:
        return _("Post against somebody unclear")
    return _("Post against {group}", group=GROUP_WORDS[case.triage.groups[0].group])


def _drafted(case: Case) -> str:
    if case.draft is None:
        return ""
    if case.doubtful:
        return _("none yet; the hate probability is {share}", share=hate_probability(case))
    by, strategy = writer(case.draft), drafting_strategy(case.draft)
    written = _("{writer} by {strategy}", writer=by, strategy=strategy) if strategy else by
    again = _("draft {n}", n=case.draft.number) if case.draft.number > 1 else ""
    facts = ", ".join(filter(None, (written, INTENT_NAMES[case.draft.intent], again)))
    return defuse(". ".join(filter(None, (facts, translate_stored(case.draft.note)))), MAX_LINE)


def _note_line(note: Note) -> str:
    by = _("appeal by {who}", who=note.who) if note.kind is EventKind.APPEAL else note.who
    return defuse(f"{by}: {note.text}", MAX_LINE)


def _close_checks(draft: Draft) -> tuple[str, ...]:
    """Return the checks that a draft passed narrowly, and those that doubt it but were outweighed."""
    doubts = outweighed(draft.checks)
    return tuple(check_line(check) for check in draft.checks if is_close(check) or check.name in doubts)


def _standing(case: Case) -> str:
    sentence = standing(case)
    by_person = case.state in (*TURNED_DOWN, CaseState.ESCALATED) and case.decided_by is not None
    if by_person and case.decided_why and case.decided_why != NOT_HATEFUL.code:
        sentence = f"{sentence.rstrip('.')} ({translate_stored(reason_words(case.decided_why))})."
    # The sentence gets a capital letter, unless it begins with a name, which is kept unchanged.
    if not sentence.startswith((case.decided_by or "\0", holder(case) or "\0")):
        sentence = sentence[:1].upper() + sentence[1:]
    error = translate_stored(case.error or "") if case.state is CaseState.FAILED else ""
    return defuse(" ".join(filter(None, (sentence, error, *_since_then(case)))), 2 * MAX_LINE)


def _since_then(case: Case) -> list[str]:
    """Return what people did about a case after its end, one sentence each."""
    sentences = (
        (case.retracted_at is not None, _("The reply was retracted.")),
        (case.appealed, _("An appeal waits.")),
        (case.handled and case.retracted_at is None, _("Somebody has seen to it.")),
    )
    return [sentence for applies, sentence in sentences if applies]


def _stale_at(case: Case, moment: datetime) -> datetime | None:
    if case.state is CaseState.PENDING and holder(case):
        return case.claimed_until
    if case.state in DECIDED and _ahead(case.release_at, moment):
        return case.release_at
    return None


def _ahead(until: datetime | None, moment: datetime) -> bool:
    return until is not None and until > moment


def _buttons(case: Case, *, undoable: bool) -> tuple[Button, ...]:
    drafted = case.draft is not None and case.draft.origin is not Origin.NONE and bool(case.draft.text)
    held, doubtful = holder(case) is not None, case.doubtful
    grounded = case.triage is not None and case.grounding is not None
    sensible = (
        (Button(ButtonAction.DISMISS, _("Not hateful"), "good"), doubtful),
        (Button(ButtonAction.DRAFT, _("Write a draft")), doubtful and grounded),
        (Button(ButtonAction.APPROVE, _("Approve"), "good"), drafted and _shown_whole(case)),
        (Button(ButtonAction.EDIT, _("Edit") if drafted else _("Write")), True),
        (Button(ButtonAction.REJECT, _("Reject"), "bad"), True),
        (Button(ButtonAction.REDRAFT, _("Redraft")), grounded and not doubtful),
        (Button(ButtonAction.DISMISS, _("Not hateful")), not doubtful),
        (Button(ButtonAction.UNDO, _("Undo")), undoable),
        (Button(ButtonAction.REOPEN, _("Reopen and draft")), can_be_handled(case) and case.triage is not None),
        (Button(ButtonAction.HAND_OVER, _("Hand over")), can_be_handled(case)),
        (Button(ButtonAction.HANDLE, _("Handled")), can_be_handled(case)),
        (Button(ButtonAction.EVIDENCE, _("Evidence")), bool(case.grounding and case.grounding.evidence)),
        (Button(ButtonAction.DETAILS, _("Details")), bool(details(case))),
        (Button(ButtonAction.CLAIM, _("Claim")), not held),
        (Button(ButtonAction.RELEASE, _("Release")), held),
    )
    return tuple(button for button, fits in sensible if fits and _allows(case.state, button.action))


def _allows(state: CaseState, action: ButtonAction) -> bool:
    """Tell whether a state allows an action; viewing is always allowed."""
    return action.decision is None or state in DECISIONS[action.decision].takes


def _shown_whole(case: Case) -> bool:
    """Tell whether the card has the complete draft: nobody may approve what they could not read.

    A platform that has to cut it further, because of its own limits, leaves the button out itself.
    """
    text = case.draft.text if case.draft else ""
    return defuse(text, MAX_DRAFT) == defuse(text, len(text) * 10)
