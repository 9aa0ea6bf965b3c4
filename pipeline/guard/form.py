"""Check a reply's form: length, sentences, language, characters, and nothing that a chat client would act on."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from linkify_it.tlds import TLDS

from core.domain import Intent
from core.settings import GuardSettings
from pipeline import sentences
from pipeline.detection import FEW_LETTERS, detect
from pipeline.guard.material import LONGEST_READ, GuardContext, Material, terms_pattern
from pipeline.guard.measurement import Measurement
from pipeline.languages import packs

_MENTION = re.compile(r"(?:^|[^\w/&])[@＠]\s?\w+|(?<![\w&])[#＃]\w+|@(?:everyone|here|channel)", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@\w")
_TLDS = frozenset(name for tld in (*map(str.lower, TLDS), "onion") for name in (tld, tld.encode().decode("idna")))
"""Every top-level domain; international ones both encoded and in their own script."""
_DOMAIN = re.compile(r"\b[\w-]{1,63}\.(?P<tld>xn--[\w-]{1,59}|[^\W\d_]{2,63})\b(?!\.\w)", re.IGNORECASE)
_JOINED = re.compile(r"(?<![\w-])(?P<left>[\w-]+)\.(?=(?P<right>[^\W\d_]{2,63}))")
"""Two words with a dot between them; some chat clients link any such pair, even if no such domain exists."""
_ABBREVIATION = re.compile(r"[A-Z]{1,2}\.[A-Z]{1,2}|(?:\w|\d+)\.[^\W\d_]{1,3}")
"""What may be joined by a dot: "EE.UU", "p.ej", "D.Lgs", "16.bis"."""
# The list of domains misses schemes, `www.` and numeric addresses.
_LINK = re.compile(
    r"[\w+.-]{0,32}://|\bwww\.|\b(?:javascript|data|mailto|tel):\S|\b(?:\d{1,3}\.){3}\d{1,3}\b",
    re.IGNORECASE,
)
MOST_SENTENCES = 2
"""Most sentences of a reply: "at most 2", as the papers have it."""
_MARKUP = re.compile(
    r"<\s?[a-z/!?@#:]|&(?:#\d+|#x[0-9a-f]+|[a-z]{2,8});|\]\s?\(|`|\*\w|\w\*|__|~~|\|\||^[^\S\n]*(?:[>#*-]|\d+\.)\s|"
    r"\{\{|\}\}|\{%|\[/?(?:b|i|u|url|img|quote)\b|:[a-z_][a-z0-9_]{1,31}:",
    re.IGNORECASE | re.MULTILINE,
)


def not_empty(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that the reply has letters to read."""
    letters = sum(map(str.isalpha, reply.text))
    detail = "" if letters else "There is no text."
    return Measurement(passed=letters > 0, value=letters, threshold=1, detail=detail)


def length(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that the reply fits the platform."""
    limit = limit_for(context.post.platform, settings)
    size = reply.size
    detail = f"{size} characters of at most {limit} on {context.post.platform}."
    return Measurement(passed=size <= limit, value=size, threshold=limit, detail=detail)


def limit_for(platform: str, settings: GuardSettings) -> int:
    """Return the most characters of a reply on `platform`, at most LONGEST_READ."""
    return min(settings.platform_max_chars.get(platform.lower(), settings.max_chars), LONGEST_READ)


def at_most_two_sentences(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check for one or two complete sentences, as the papers have it, with a question if the intent is to question."""
    count = len(reply.parts)
    allowed = range(1, MOST_SENTENCES + 1)
    cut = [part.text for part in reply.parts if not sentences.is_complete(part.text)]
    asks = context.intent is not Intent.QUESTIONING or any(sentences.is_question(p.text) for p in reply.parts)
    detail = f"{count} sentence{'' if count == 1 else 's'}, {' or '.join(map(str, allowed))} expected."
    if count in allowed and cut:
        detail = f"A sentence has no end mark: “…{cut[0][-40:]}”"
    elif count in allowed and not asks:
        detail = "A questioning reply needs a question mark."
    passed = count in allowed and not cut and asks
    return Measurement(passed=passed, value=count, threshold=MOST_SENTENCES, detail=detail)


def same_language(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that the reply is in the post's language, or in English if that is unknown, and so is each sentence.

    A long fact would hide a sentence in another language. Sentences on file, and the names of sources, may be in any.
    """
    own = (_without_sources(part.text, reply) for part in reply.parts if not part.quoted)
    texts = [reply.text, *(text for text in own if sum(map(str.isalpha, text)) >= FEW_LETTERS)]
    readings = [detect(text, reply.language) for text in texts]
    language, confidence = next((read for read in readings if read[0] != reply.language), readings[0])
    passed = language == reply.language
    detail = f"Reads as “{language}”; the post calls for “{reply.language}”."
    return Measurement(passed=passed, value=round(confidence, 3), threshold=0, detail=detail)


def _without_sources(text: str, reply: Material) -> str:
    """Return a text without the names of the evidence's institutions and titles."""
    for source in (statement.evidence.source for statement in reply.statements):
        for name in filter(None, (source.institution, source.title)):
            text = text.replace(name, " ")
    return text


def hidden_characters(text: str) -> list[str]:
    """Return the invisible characters of a text and those that change its direction, as `U+202E`."""
    return [f"U+{ord(char):04X}" for position, char in enumerate(text) if _is_hidden(text, position, char)]


def plain_characters(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check for invisible, control and direction-changing characters, and for words that mix scripts."""
    hidden = hidden_characters(reply.text)
    mixed = [f"“{word}”" for word in re.findall(r"[^\W\d_]+", reply.text) if _mixes_scripts(word)]
    findings = [
        f"Hidden or disguised characters: {_first_few(hidden)}." if hidden else "",
        f"Mixes scripts within a word: {_first_few(mixed)}." if mixed else "",
    ]
    number = len(hidden) + len(mixed)
    return Measurement(passed=not number, value=number, threshold=0, detail=" ".join(filter(None, findings)))


def no_mentions(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that nobody is addressed by handle, hashtag, mail address or channel-wide mention."""
    text = unicodedata.normalize("NFKC", reply.text)
    return _none_of([*_MENTION.findall(text), *_EMAIL.findall(text)])


def no_links(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that there is no link, no bare domain, and no two words joined by a dot."""
    text = unicodedata.normalize("NFKC", reply.text)
    links = [match.group() for pattern in (_LINK, _spelled_out()) for match in pattern.finditer(text)]
    joined = [f"{match['left']}.{match['right']}" for match in _JOINED.finditer(text)]
    links += [pair for pair in joined if not _ABBREVIATION.fullmatch(pair)]
    links += [match.group() for match in _DOMAIN.finditer(text) if match["tld"].lower() in _TLDS]
    return _none_of(list(dict.fromkeys(links)))


def no_markup(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check for HTML, Markdown, BBCode, templates and Discord or Slack control sequences."""
    return _none_of([match.group() for match in _MARKUP.finditer(reply.text)])


@lru_cache(maxsize=1)
def _spelled_out() -> re.Pattern[str]:
    """Return a pattern for domains whose dot is spelled out, "example (dot) org", in any language."""
    dot = terms_pattern(pack.spelled_dot for pack in packs().values())
    return re.compile(rf"\b[\w-]{{2,63}}\s?(?:\((?:{dot})\)|\[(?:{dot})\])\s?\w{{2,}}", re.IGNORECASE)


def _none_of(pieces: list[str]) -> Measurement:
    shown = ", ".join(f"“{piece.strip()[:40]}”" for piece in pieces[:3])
    detail = f"Remove {shown}." if pieces else ""
    return Measurement(passed=not pieces, value=len(pieces), threshold=0, detail=detail)


def _is_hidden(text: str, position: int, char: str) -> bool:
    if char in "\n\u00a0\u202f" or (char.isprintable() and char != "\ufffd"):
        return False
    joins = char in "\u200c\u200d" and position > 0
    # Joiners are legitimate inside emoji and inside Arabic and Indic words, never inside a word in Latin letters.
    return not (joins and not text[position - 1].isascii() and not _is_latin(text[position - 1]))


def _first_few(pieces: list[str]) -> str:
    return ", ".join(sorted(set(pieces))[:5])


def _is_latin(char: str) -> bool:
    return unicodedata.name(char, "").startswith("LATIN")


def _mixes_scripts(word: str) -> bool:
    if word.isascii():
        return False
    scripts = {unicodedata.name(char, "").split(" ")[0] for char in word}
    return len(
        scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL"}
    ) > 1 or bool(scripts & {"FULLWIDTH", "MATHEMATICAL"})
