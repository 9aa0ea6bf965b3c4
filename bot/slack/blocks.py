"""A card as Slack shows it. It does not contain the post, which a button shows only to the person who presses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slack_sdk.models.blocks import ActionsBlock, Block, ButtonElement
from slack_sdk.models.blocks.block_elements import RichTextElement

from bot.chat.cards import Button, ButtonAction, Card, EvidenceLine
from bot.chat.details import DetailSection
from bot.slack.rich_text import ago, bold, bullets, escaped, header, italic, line, link, plain, quote, rich, words
from bot.translation import _, ngettext
from bot.wording import STATE_HEADINGS
from core.domain import CaseState
from core.errors import BadInput

MOST_SOURCES = 5
_STYLES = {"good": "primary", "bad": "danger", "plain": None}


@dataclass(frozen=True)
class ButtonValue:
    """The value of a button: the number of its case, and the version shown on the card."""

    number: int
    version: int

    def __str__(self) -> str:
        return f"{self.number}:{self.version}"

    @classmethod
    def read(cls, value: str) -> ButtonValue:
        """Parse a button's value. Raises BadInput if it is not from one of our buttons."""
        number, _colon, version = value.partition(":")
        if not (number.isdecimal() and version.isdecimal() and len(value) < 40):
            raise BadInput(
                _("This button is not one of ours; open the case with {command}.", command="/rejoinder case")
            )
        return cls(int(number), int(version))


def action_id(action: ButtonAction) -> str:
    """Return the action id of a button."""
    return f"card:{action}"


def card_blocks(card: Card, number: int) -> list[Block]:
    """Return a card's blocks."""
    prefix = f"{STATE_HEADINGS[card.state]}: " if card.state in STATE_HEADINGS else ""
    blocks: list[Block] = [header(f"{prefix}{card.title}"), rich(*_facts(card, number))]
    if card.draft or card.drafted or card.final_text:
        blocks.append(rich(*_reply(card)))
    if card.warnings:
        blocks.append(rich(line(_label(_("Look twice")), words(" ".join(card.warnings)))))
    if card.evidence:
        blocks.append(rich(line(words(_("Evidence"), bold)), _sources(card.evidence)))
    if card.close_checks and card.state is CaseState.PENDING:
        blocks.append(rich(line(_label(_("Close to a limit")), words("; ".join(card.close_checks)))))
    if card.notes:
        blocks.append(rich(line(words(_("Notes"), bold)), bullets([line(words(note)) for note in card.notes])))
    return [*blocks, _buttons(card, number)]


def summary(card: Card) -> str:
    """Return a card's text for notifications and screen readers."""
    return escaped(f"{card.title}. {card.standing}")


def evidence_blocks(evidence: Sequence[EvidenceLine]) -> list[Block]:
    """Return complete statements, each with its source."""
    return [rich(quote(item.text), line(*_source(item))) for item in evidence]


def detail_blocks(sections: Sequence[DetailSection]) -> list[Block]:
    """Return a case's details, each section with its note."""
    return [
        rich(
            line(words(section.heading, bold)),
            line(words(section.note, italic)),
            bullets([line(_label(name), words(text)) for name, text in section.lines]),
        )
        for section in sections
    ]


def post_blocks(card: Card) -> list[Block]:
    """Return the post itself, with a link to it on the platform."""
    where: list[RichTextElement] = [words(_("Case {key}.", key=card.case_key))]
    if card.url:
        where += [words(" "), link(card.url, _("Open it on the platform"))]
    if card.context:
        thread = ngettext(
            "It is part of a thread; {n} post came before it.", "It is part of a thread; {n} posts came before it.",
            card.context,
        )  # fmt: skip
        where.append(words(f" {thread}"))
    return [rich(quote(card.post), line(*where))]


def _facts(card: Card, number: int) -> list[RichTextElement]:
    return [
        line(_label(_("Against")), words(card.groups)),
        line(_label(_("Case")), words(f"{number} · "), _label(_("Received")), ago(card.received_at)),
        line(words(card.standing, italic)),
    ]


def _label(text: str) -> RichTextElement:
    return words(f"{text}: ", bold)


def _reply(card: Card) -> list[RichTextElement]:
    text = card.final_text or card.draft
    label = _("Reply") if card.final_text else _("Draft")
    heading: list[RichTextElement] = [words(label, bold)]
    if card.drafted and not card.final_text:
        heading.append(words(f" · {card.drafted}", italic))
    answers = [line(words(_("Answers: {answers}", answers=card.answers), italic))] if card.answers else []
    return [line(*heading), *answers, *([quote(text)] if text else [])]


def _sources(evidence: Sequence[EvidenceLine]) -> RichTextElement:
    lines = [line(*_source(item)) for item in evidence[:MOST_SOURCES]]
    if len(evidence) > MOST_SOURCES:
        more = _("… and {n} more behind {button}", n=len(evidence) - MOST_SOURCES, button=_("Evidence"))
        lines.append(line(words(more, italic)))
    return bullets(lines)


def _source(item: EvidenceLine) -> list[RichTextElement]:
    title = link(item.url, item.title) if item.url else words(item.title)
    why = [words(f"{item.why} · ", bold)] if item.why else []
    return [*why, title, *([words(f" · {item.where}")] if item.where else [])]


def _buttons(card: Card, number: int) -> ActionsBlock:
    carried = str(ButtonValue(number, card.version))
    show = Button(ButtonAction.SHOW, _("Show the post"))
    return ActionsBlock(
        elements=[
            ButtonElement(
                text=plain(button.label), action_id=action_id(button.action), value=carried, style=_STYLES[button.style]
            )
            for button in (show, *card.buttons)
        ]
    )
