from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from babel.messages.catalog import Catalog

from bot.reasons import REASONS
from bot.stored_words import WORDINGS, translate_stored
from bot.translation import (
    LANGUAGES,
    SOURCE_LANGUAGE,
    _,
    accepted,
    catalogue,
    day,
    moment,
    ngettext,
    number,
    offered,
    percent,
    speaking,
)
from bot.wording import GROUP_WORDS, duration
from core.domain import Intent, TargetGroup
from core.settings.section import InterfaceLanguage
from tests.bot.catalogues import BOT, Message, messages_in_source
from tests.bot.conftest import Client, bearer

TRANSLATED = [language for language in LANGUAGES if language != SOURCE_LANGUAGE]
PLACE = re.compile(r"\{(\w*)\}")


def places(text: str) -> set[str]:
    return set(PLACE.findall(text))


def said_below() -> set[str]:
    """Return every text in the rooms below, with `…` for what is put into it."""
    rooms = ("core", "ledger", "models", "pipeline", "rejoinder", "stream")
    files = [file for room in rooms for file in (BOT.parent / room).rglob("*.py")]
    files += [BOT / name for name in ("desk.py", "deciding.py", "redrafting.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    rules = (BOT.parent / "pipeline" / "data" / "escalate.toml").read_text()
    texts = [node for node in nodes if isinstance(node, ast.JoinedStr) or _is_text(node)]
    return {rules, *(text for node in texts for text in places_filled(node, "…"))}


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


WRITERS = (
    "core/tokens.py", "ledger/cards.py", "ledger/casework.py", "ledger/conflicts.py", "ledger/decisions.py",
    "ledger/stages.py", "ledger/decided_move.py", "pipeline/draft.py", "pipeline/ground.py", "pipeline/guard/*.py",
    "pipeline/routing_rules.py", "pipeline/strategies/*.py", "pipeline/triage.py", "stream/janitor.py",
)  # fmt: skip
"""What writes notes, findings, reasons and refusals that moderators read."""
PIECES = {
    "model drafts", "this post", "Reads as 7: 7.", "a threat", "an insult", "the judge",
    "Repeats the post's claim: “7” (7).", "Says more than its evidence: “7” (7).7", "a draft is made from 7",
    "seems to", "the limit is 7", "It does not read as hateful (7; 7).", "It may not be hateful at all (7; 7).",
}  # fmt: skip
"""Said only in a sentence with others, which has wordings of its own."""
UNSAID = {
    # What the desk rules out before.
    "case 7 has a draft 7; ask for a higher number",
    "the text approved for case 7 has control characters; remove them, then approve it",
    "the text approved for case 7 is empty; write a reply or reject the case",
    # For workers and operators.
    "a failed case can't become 7; revive it to 7",
    "case 7 has not got as far as 7; revive it to an earlier state",
    "there is no case 7; it was removed just now",
    "there is no case 7; send its post to the gateway first",
    "The stored reading has 7 numbers, not 7. Triage again.",
    "7 asks a model, so it can't be what is left when the model is away",
    "The weights of checks can't be read from 7 (7): install Rejoinder again.",
    # Names of files and patterns, and what models are asked.
    "The head 7",
    "The reader of pairs",
    "The word orders",
    "span of ",
    "Post: 7\nReply: 7\nDoes this reply oppose the post?",
    "You check replies to hateful posts. A good reply contradicts or questions the post or speaks up for the people "
    "it attacks, stays polite, threatens and insults nobody, and grants the post nothing. "
    "Answer with one word, Yes or No.",
}
FRAMES = ("{}", "{}.", "{}: “7”.", "7 {}", "case 7 {}", "case 7 is 7: {}", "Not judged: {}")
"""What the writers put around a sentence; 7 stands for what is not known before."""


def places_filled(node: ast.AST, unknown: str = "7") -> Iterator[str]:
    """Yield what an expression may become, with `unknown` for what is not known before."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            for choice in itertools.product(*(list(places_filled(part, unknown)) for part in parts)):
                yield "".join(choice)
        case ast.FormattedValue(value=inner):
            yield from places_filled(inner, unknown)
        case ast.BoolOp(values=ways):
            for way in ways:
                yield from places_filled(way, unknown)
        case ast.IfExp(body=body, orelse=orelse):
            yield from places_filled(body, unknown)
            yield from places_filled(orelse, unknown)
        case _:
            yield unknown


def written(file: Path) -> Iterator[str]:
    """Yield every sentence in a file of the rooms below, apart from what is for logs and for people who read code."""
    waiting: list[ast.AST] = [ast.parse(file.read_text())]
    while waiting:
        match waiting.pop():
            case ast.Expr(value=ast.Constant()) | ast.Call(func=ast.Attribute(value=ast.Name(id="log"))):
                pass
            case ast.JoinedStr() | ast.Constant(value=str()) as text:
                yield from places_filled(text)
            case node:
                waiting += ast.iter_child_nodes(node)


def translated(text: str) -> bool:
    """Tell whether nothing of a text stays English once it is said in Spanish, in one of its frames."""
    english = re.findall(r"[A-Za-z']+(?: [A-Za-z']+)+", text)
    with speaking("es"):
        return any(all(words not in translate_stored(frame.format(text)) for words in english) for frame in FRAMES)


def matches(template: str, said: str) -> bool:
    """Tell whether a text may be what a template became; one of places alone says nothing."""
    literal = template.replace("…", "")
    return len(literal) >= 9 and re.fullmatch(re.escape(template).replace("…", ".+"), said) is not None


def entries(catalogue: Catalog) -> dict[Message, tuple[str, ...]]:
    """Return the translations of each message, one for each of its forms."""
    return {
        message.id if isinstance(message.id, str) else tuple(message.id):
        (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        for message in catalogue if message.id
    }  # fmt: skip


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_message_of_the_source_is_in_the_catalogue_and_no_other(language: str) -> None:
    assert set(entries(catalogue(language))) == set(messages_in_source()), "run `make messages` and translate"


def test_every_message_of_the_scripts_is_found_by_the_extraction() -> None:
    """Babel's reader of JavaScript passes over what stands in braces within a template string."""
    firsts = {message if isinstance(message, str) else message[0] for message in messages_in_source()}
    for script in (BOT / "web" / "static").glob("*.js"):
        said = re.findall(r'\btn?\("((?:[^"\\]|\\.)*)"', script.read_text())
        assert [words for words in said if words not in firsts] == [], script.name


def test_stored_words_are_still_those_of_the_rooms_below() -> None:
    written = said_below()
    together = "\n".join(written)
    for wording in WORDINGS:
        longest = max(re.split(r"\{\w+\}", wording), key=len).strip(" .:")
        said = PLACE.sub("…", wording)
        assert longest in together or any(matches(template, said) for template in written), wording


def test_what_the_rooms_below_say_today_is_said_anew() -> None:
    files = [file for pattern in WRITERS for file in BOT.parent.glob(pattern)]
    sentences = {re.sub(r"^(7 | )(?=[A-Z])", "", text) for file in files for text in written(file)}
    said = {text for text in sentences if re.search(r"[a-z] [a-z]", text)}
    assert {text for text in said if not translated(text)} == {*PIECES, *UNSAID}


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_translation_is_empty_or_uncertain(language: str) -> None:
    uncertain = [message.id for message in catalogue(language) if message.id and message.fuzzy]
    empty = [message for message, forms in entries(catalogue(language)).items() if not all(forms)]
    assert (uncertain, empty) == ([], [])


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_has_the_places_of_its_message_and_every_form(language: str) -> None:
    on_file = catalogue(language)
    # The page's scripts choose the form by the same rule.
    assert on_file.plural_expr == "(n != 1)"
    for message, forms in entries(on_file).items():
        one, many = (message, message) if isinstance(message, str) else message
        assert len(forms) == (1 if isinstance(message, str) else on_file.num_plurals), message
        for form in forms:
            # A form for one thing may do without the number.
            assert places(many) - {"n"} <= places(form) <= places(many) | places(one), message
        assert "n" in places(forms[-1]) or "n" not in places(many), message


def test_a_message_is_said_in_the_language_of_the_moment_alone() -> None:
    with speaking("es"):
        assert REASONS[0].label == "La publicación no necesita respuesta: no es de odio"
        with speaking("eu"):
            assert GROUP_WORDS[TargetGroup.WOMEN] == "emakumeak"
        assert GROUP_WORDS[TargetGroup.WOMEN] == "mujeres"
    assert GROUP_WORDS[TargetGroup.WOMEN] == "women"


def test_every_group_is_called_in_english_as_everywhere_else() -> None:
    assert dict(GROUP_WORDS) == {group: group.label for group in TargetGroup}


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", ["12,345.5", "12 %", "2026-11-22 15:04", "2026-11-22", "3 days", "5 min"]),
        ("it", ["12.345,5", "12%", "22/11/26, 15:04", "22/11/26", "3 giorni", "5 min"]),
        ("eu", ["12.345,5", "%\xa012", "26/11/22 (15:04)", "26/11/22", "3 egun", "5 min"]),
    ],
)
def test_numbers_and_dates_are_written_as_in_the_language(language: str, written: list[str]) -> None:
    at = datetime(2026, 11, 22, 15, 4, tzinfo=UTC)
    with speaking(language):
        lengths = [duration(timedelta(days=3)), duration(timedelta(minutes=5))]
        assert [number(12345.5), percent(0.12), moment(at), day(at), *lengths] == written


def test_a_place_is_filled_with_what_somebody_wrote_as_it_is() -> None:
    assert _("{who} holds it.", who="{n} %s") == "{n} %s holds it."
    assert ngettext("{n} day", "{n} days", 1) == "1 day"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("es-MX,es;q=0.9,en;q=0.8", "es"),
        ("de, it;q=0.3, eu;q=0.7", "eu"),
        ("de", None),
        ("es;q=0, en", "en"),
        ("es;q=x,,;q=,*", None),
        ("", None),
    ],
)
def test_a_browser_gets_the_language_that_it_likes_best(header: str, language: str | None) -> None:
    assert accepted(header) == language


def test_a_tag_of_a_chat_names_a_language() -> None:
    assert [offered(tag) for tag in ("es-ES", "it", "eu_ES", "pt-BR", None)] == ["es", "it", "eu", None, None]


def test_stored_words_are_said_anew_and_anybodys_own_stay() -> None:
    stored = "approved draft 2; checks overridden; my own reason"
    assert translate_stored(stored) == stored
    with speaking("es"):
        assert translate_stored(stored) == "aprobó el borrador 2; comprobaciones anuladas; my own reason"


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ("It seems to attack women, Muslims and Jews.", "Parece que ataca a: mujeres, musulmanes y judíos."),
        (
            "4 of 4 model drafts failed: stance (3). Composed replies failed: echo. My own words; undone",
            "Fallaron 4 de 4 borradores del modelo: stance (3). Las respuestas compuestas fallaron: echo. "
            "My own words; deshecho",
        ),
        (
            "case forum/post-1 was claimed by ben 5 s ago (version 3, you saw 2); look at it again",
            "caso forum/post-1: tomado, por ben, hace 5 s (versión 3, viste la 2); míralo de nuevo",
        ),
        (
            "No duel was held, with 1 reply to judge: its time or tokens were spent before the model wrote another. "
            "My own words; erased on request",
            "No hubo ningún duelo; respuestas que juzgar: 1 (su tiempo o sus tokens se agotaron antes de que el modelo "
            "escribiera otra). My own words; borrado a petición",
        ),
        (
            "case forum/1 is being released or was already released; it can't be undone",
            "el caso forum/1 se está enviando o ya se envió; no se puede deshacer",
        ),
        (
            "Not judged: the judge `x` does not read “fr”; set guard.judge to one that does.",
            "Sin juzgar: el juez `x` no lee “fr”; pon en guard.judge uno que lo lea.",
        ),
        ("flagged", "señalado"),
        ("redraft 2, informative: name the law", "borrador 2, informativa: name the law"),
        ("Says who? I say. It failed.", "Says who? I say. It failed."),
    ],
)
def test_sentences_of_workers_and_of_the_ledger_are_said_anew_with_what_stands_in_them(stored: str, said: str) -> None:
    with speaking("es"):
        assert translate_stored(stored) == said


async def test_the_page_comes_in_the_browsers_language_until_its_moderator_chooses_one(client: Client) -> None:
    await client.post("/session", json={"token": "ana-secret-token"}, headers={"X-Rejoinder": "desk"})
    spanish = {"Accept-Language": "es"}
    async with client.get("/", headers=spanish) as response:
        assert '<html lang="es">' in await response.text()
        assert response.headers["Content-Language"] == "es"
    async with client.put("/v1/language", json={"language": "it"}, headers={"X-Rejoinder": "desk"}) as response:
        assert response.status == 200
    async with client.get("/", headers=spanish) as response:
        assert '<html lang="it">' in await response.text()
    # The page's scripts send no language of their own: the cookie of the page holds.
    async with client.get("/v1/choices", headers=spanish) as response:
        assert (await response.json())["reasons"][-1]["label"] == "Altro"
    async with client.get("/v1/language") as response:
        assert await response.json() == {"language": "it"}
    await client.put("/v1/language", json={"language": None}, headers={"X-Rejoinder": "desk"})
    async with client.get("/", headers=spanish) as response:
        assert '<html lang="es">' in await response.text()


async def test_a_language_that_is_not_offered_can_not_be_chosen(client: Client) -> None:
    async with client.put("/v1/language", json={"language": "tlh"}, headers=bearer("ana")) as response:
        assert response.status == 400
        assert "choose one of en, es, it, eu" in (await response.json())["message"]


async def test_a_program_is_answered_in_the_language_that_it_names(client: Client) -> None:
    async with client.get("/v1/choices", headers={**bearer("ana"), "Accept-Language": "eu"}) as response:
        assert (await response.json())["reasons"][-1]["label"] == "Beste zerbait"
    async with client.get("/v1/choices", headers=bearer("ana")) as response:
        assert (await response.json())["reasons"][-1]["label"] == "Something else"


def test_the_settings_offer_the_languages_that_there_are_catalogues_of() -> None:
    assert set(get_args(InterfaceLanguage)) == set(LANGUAGES)


def test_every_reason_and_intent_has_a_digit_of_its_own() -> None:
    """The page's menus are worked with the digits 1 to 9."""
    assert len(REASONS) <= 9
    assert len(Intent) <= 9
