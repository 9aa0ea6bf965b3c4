"""Block Kit as Slack validates it: anything not listed in https://docs.slack.dev/reference/block-kit is refused.

Limits are those of the reference pages of each block, element and composition object, as of 2026.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PlainText(Strict):
    type: Literal["plain_text"]
    text: Annotated[str, Field(min_length=1, max_length=3000)]
    emoji: bool | None = None


class Mrkdwn(Strict):
    type: Literal["mrkdwn"]
    text: Annotated[str, Field(min_length=1, max_length=3000)]
    verbatim: bool | None = None


AnyText = Annotated[PlainText | Mrkdwn, Field(discriminator="type")]


def short(most: int) -> AfterValidator:
    """Refuse a text object longer than `most` characters."""

    def check(value: PlainText | Mrkdwn) -> PlainText | Mrkdwn:
        if len(value.text) > most:
            raise ValueError(f"must be less than {most + 1} characters")
        return value

    return AfterValidator(check)


Id = Annotated[str, Field(min_length=1, max_length=255)]
Plain75 = Annotated[PlainText, short(75)]
Plain150 = Annotated[PlainText, short(150)]
Plain24 = Annotated[PlainText, short(24)]
Plain2000 = Annotated[PlainText, short(2000)]


class Confirm(Strict):
    title: Annotated[PlainText, short(100)]
    text: Annotated[PlainText, short(300)]
    confirm: Annotated[PlainText, short(30)]
    deny: Annotated[PlainText, short(30)]
    style: Literal["primary", "danger"] | None = None


class Option(Strict):
    text: Annotated[AnyText, short(75)]
    value: Annotated[str, Field(min_length=1, max_length=150)]
    description: Plain75 | None = None


class Button(Strict):
    type: Literal["button"]
    text: Plain75
    action_id: Id
    url: Annotated[str, Field(max_length=3000)] | None = None
    value: Annotated[str, Field(max_length=2000)] | None = None
    style: Literal["primary", "danger"] | None = None
    confirm: Confirm | None = None
    accessibility_label: Annotated[str, Field(max_length=75)] | None = None


class StaticSelect(Strict):
    type: Literal["static_select"]
    action_id: Id
    options: Annotated[list[Option], Field(min_length=1, max_length=100)]
    placeholder: Plain150 | None = None
    initial_option: Option | None = None
    confirm: Confirm | None = None
    focus_on_load: bool | None = None


class Overflow(Strict):
    type: Literal["overflow"]
    action_id: Id
    options: Annotated[list[Option], Field(min_length=1, max_length=5)]
    confirm: Confirm | None = None


class Checkboxes(Strict):
    type: Literal["checkboxes"]
    action_id: Id
    options: Annotated[list[Option], Field(min_length=1, max_length=10)]
    initial_options: list[Option] | None = None
    focus_on_load: bool | None = None


class TextInput(Strict):
    type: Literal["plain_text_input"]
    action_id: Id
    initial_value: Annotated[str, Field(max_length=3000)] | None = None
    multiline: bool | None = None
    min_length: Annotated[int, Field(ge=0, le=3000)] | None = None
    max_length: Annotated[int, Field(ge=1, le=3000)] | None = None
    placeholder: Plain150 | None = None
    focus_on_load: bool | None = None


class Style(Strict):
    bold: bool | None = None
    italic: bool | None = None
    strike: bool | None = None
    code: bool | None = None


class RichText(Strict):
    type: Literal["text"]
    text: Annotated[str, Field(min_length=1)]
    style: Style | None = None


class RichLink(Strict):
    type: Literal["link"]
    url: Annotated[str, Field(pattern=r"^(https?|mailto):", max_length=3000)]
    text: str | None = None
    unsafe: bool | None = None
    style: Style | None = None


class RichUser(Strict):
    type: Literal["user"]
    user_id: Annotated[str, Field(pattern=r"^[UW][A-Z0-9]+$")]
    style: Style | None = None


class RichDate(Strict):
    type: Literal["date"]
    timestamp: int
    format: Annotated[str, Field(pattern=r"\{(ago|date\w*|time\w*|day_divider_pretty)\}")]
    fallback: str | None = None
    url: str | None = None
    style: Style | None = None


RichPart = Annotated[RichText | RichLink | RichUser | RichDate, Field(discriminator="type")]


class RichSection(Strict):
    type: Literal["rich_text_section"]
    elements: Annotated[list[RichPart], Field(min_length=1)]


class RichQuote(Strict):
    type: Literal["rich_text_quote"]
    elements: Annotated[list[RichPart], Field(min_length=1)]
    border: int | None = None


class RichList(Strict):
    type: Literal["rich_text_list"]
    style: Literal["bullet", "ordered"]
    elements: Annotated[list[RichSection], Field(min_length=1)]
    indent: int | None = None
    offset: int | None = None
    border: int | None = None


class Block(Strict):
    block_id: Id | None = None


class Header(Block):
    type: Literal["header"]
    text: Plain150


class Section(Block):
    type: Literal["section"]
    text: AnyText | None = None
    fields: Annotated[list[Annotated[AnyText, short(2000)]], Field(min_length=1, max_length=10)] | None = None
    accessory: Annotated[Button | StaticSelect | Overflow, Field(discriminator="type")] | None = None
    expand: bool | None = None

    def model_post_init(self, context: Any) -> None:
        if self.text is None and self.fields is None:
            raise ValueError("section needs text or fields")


class Divider(Block):
    type: Literal["divider"]


class Context(Block):
    type: Literal["context"]
    elements: Annotated[list[AnyText], Field(min_length=1, max_length=10)]


class Actions(Block):
    type: Literal["actions"]
    elements: Annotated[
        list[Annotated[Button | StaticSelect | Overflow, Field(discriminator="type")]],
        Field(min_length=1, max_length=25),
    ]


class Input(Block):
    type: Literal["input"]
    label: Plain2000
    element: Annotated[TextInput | StaticSelect | Checkboxes, Field(discriminator="type")]
    hint: Plain2000 | None = None
    optional: bool | None = None
    dispatch_action: bool | None = None


class RichBlock(Block):
    type: Literal["rich_text"]
    elements: Annotated[
        list[Annotated[RichSection | RichQuote | RichList, Field(discriminator="type")]], Field(min_length=1)
    ]


class ImageFile(Strict):
    id: str


class Image(Block):
    type: Literal["image"]
    alt_text: Annotated[str, Field(max_length=2000)]
    slack_file: ImageFile
    title: Plain2000 | None = None


AnyBlock = Annotated[
    Header | Section | Divider | Context | Actions | Input | RichBlock | Image, Field(discriminator="type")
]


class Modal(Strict):
    type: Literal["modal"]
    title: Plain24
    blocks: Annotated[list[AnyBlock], Field(min_length=1, max_length=100)]
    submit: Plain24 | None = None
    close: Plain24 | None = None
    callback_id: Annotated[str, Field(max_length=255)] | None = None
    private_metadata: Annotated[str, Field(max_length=3000)] | None = None
    clear_on_close: bool | None = None
    notify_on_close: bool | None = None
    external_id: Annotated[str, Field(max_length=255)] | None = None


_MESSAGE = TypeAdapter(Annotated[list[AnyBlock], Field(max_length=50)])
_MODAL = TypeAdapter(Modal)
MOST_IN_BLOCKS = 13_200
"""Most characters of text in all blocks of a message before Slack answers `msg_blocks_too_long`."""


def complaints_about_message(blocks: Any) -> list[str]:
    """Return Slack's complaints about a message's blocks; none if they are valid."""
    complaints = _complaints(_MESSAGE, blocks)
    if not complaints and any(block["type"] == "input" for block in blocks):
        complaints.append("input blocks are not allowed in messages")
    return complaints or _repeats(blocks)


def complaints_about_modal(view: Any) -> list[str]:
    """Return Slack's complaints about a modal; none if it is valid."""
    complaints = _complaints(_MODAL, view)
    if not complaints and any(block["type"] == "input" for block in view["blocks"]) and not view.get("submit"):
        complaints.append("a submit is required when a modal has an input")
    return complaints or _repeats(view["blocks"])


def texts(value: Any) -> list[str]:
    """Return every text in blocks, in order."""
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [text for key, item in value.items() if not isinstance(item, str) for text in texts(item)]
    return [text for item in value for text in texts(item)] if isinstance(value, list) else []


def elements(value: Any) -> list[dict[str, Any]]:
    """Return every element that has an action id, in order."""
    if isinstance(value, dict):
        own = [value] if "action_id" in value else []
        return own + [element for item in value.values() for element in elements(item)]
    return [element for item in value for element in elements(item)] if isinstance(value, list) else []


def _complaints(adapter: TypeAdapter[Any], value: Any) -> list[str]:
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return [f"{item['msg']} [{'/'.join(map(str, item['loc']))}]" for item in error.errors(include_url=False)]
    return []


def _repeats(blocks: list[dict[str, Any]]) -> list[str]:
    ids = Counter(block["block_id"] for block in blocks if block.get("block_id"))
    complaints = [f"block_id {name} already exists" for name, times in ids.items() if times > 1]
    for block in blocks:
        inside = Counter(element["action_id"] for element in elements(block))
        complaints += [f"action_id {name} already exists" for name, times in inside.items() if times > 1]
    return complaints
