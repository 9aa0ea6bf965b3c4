from __future__ import annotations

import ast
import re
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from babel.messages.catalog import Catalog

from bot.reasons import REASONS
from bot.stored_words import WORDINGS, in_other_words
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
    files = [file for room in ("core", "ledger", "pipeline", "rejoinder") for file in (BOT.parent / room).rglob("*.py")]
    files += [BOT / name for name in ("desk.py", "deciding.py", "redrafting.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    joined = ["".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)  # type: ignore[misc]
              for node in nodes if isinstance(node, ast.JoinedStr)]  # fmt: skip
    plain = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    rules = (BOT.parent / "pipeline" / "data" / "escalate.toml").read_text()
    return {*joined, *plain, rules}


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
    for wording in WORDINGS:
        longest = max(re.split(r"\{\w+\}", wording), key=len).strip(" .:")
        said = PLACE.sub("…", wording)
        assert longest in "\n".join(written) or any(matches(template, said) for template in written), wording


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
    assert in_other_words(stored) == stored
    with speaking("es"):
        assert in_other_words(stored) == "aprobó el borrador 2; comprobaciones anuladas; my own reason"


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
        ("redraft 2, informative: name the law", "borrador 2, informativa: name the law"),
        ("Says who? I say. It failed.", "Says who? I say. It failed."),
    ],
)
def test_sentences_of_workers_and_of_the_ledger_are_said_anew_with_what_stands_in_them(stored: str, said: str) -> None:
    with speaking("es"):
        assert in_other_words(stored) == said


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
