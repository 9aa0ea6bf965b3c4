"""Read the UN Digital Library's catalogue records, MARC 21 in XML.

Fields: 001 number, 191a symbol (791a in voting records), 245 title, 269a and 992a date, 520a abstract, 650a and 991d
subjects, 856u files with 856y language. Source: the library's help pages and recorded answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from xml.sax import SAXException

from pymarc import Record, parse_xml_to_array

from core.errors import KnowledgeBaseError

_LANGUAGES = {
    "english": "en",
    "français": "fr",
    "french": "fr",
    "español": "es",
    "spanish": "es",
    "العربية": "ar",
    "arabic": "ar",
    "中文": "zh",
    "chinese": "zh",
    "русский": "ru",
    "russian": "ru",
}
_SUFFIXES = {"EN": "en", "FR": "fr", "ES": "es", "AR": "ar", "ZH": "zh", "RU": "ru"}
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")


@dataclass(frozen=True)
class CatalogueFile:
    """A file of a record; `language` is ISO 639-1, None if it is not given."""

    url: str
    language: str | None


@dataclass(frozen=True)
class CatalogueRecord:
    """A document's catalogue record; `statement` says what kind of text it is and whose."""

    number: str
    symbols: tuple[str, ...]
    title: str
    statement: str
    year: int | None
    abstract: str
    subjects: tuple[str, ...]
    files: tuple[CatalogueFile, ...]


def read_records(content: bytes) -> list[CatalogueRecord]:
    """Return the records in an OAI-PMH page, an export or a search answer; raises KnowledgeBaseError if damaged."""
    try:
        records = parse_xml_to_array(BytesIO(content), strict=True)  # type: ignore[no-untyped-call]
    except (SAXException, ValueError, KeyError) as error:
        raise KnowledgeBaseError(f"The catalogue's answer is torn: {error}. Run the crawl again.") from error
    return [_record(record) for record in records if record is not None]


def language_of_file(label: str, name: str) -> str | None:
    """Return a file's language, from its label or else from the end of its name (`A_RES_80_193-EN.pdf`)."""
    by_label = _LANGUAGES.get(label.strip().casefold())
    ending = re.search(r"[-_]([A-Z]{2})(?:\.\w+)?$", name)
    return by_label or (_SUFFIXES.get(ending[1]) if ending else None)


def plain_symbol(symbol: str) -> str:
    """Return a symbol as in its document, without enclosing brackets or inner spaces (`S/RES/2812(2026)`)."""
    return re.sub(r"\s+", "", symbol.strip().removeprefix("[").removesuffix("]"))


def _record(record: Record) -> CatalogueRecord:
    number = record.get("001")
    symbols = [*_values(record, "191", "a"), *_values(record, "791", "a")]
    dates = [*_values(record, "269", "a"), *_values(record, "992", "a"), *_values(record, "260", "c")]
    return CatalogueRecord(
        number=(number.data or "") if number else "",
        symbols=tuple(dict.fromkeys(plain_symbol(symbol) for symbol in symbols if symbol.strip(" []"))),
        title=_trimmed(" ".join(_values(record, "245", "a")[:1])),
        statement=_trimmed(" ".join((*_values(record, "245", "b"), *_values(record, "245", "c")))),
        year=next((int(hit[1]) for date in dates if (hit := _YEAR.search(date))), None),
        abstract=" ".join(_values(record, "520", "a")),
        subjects=(*_values(record, "650", "a"), *_values(record, "991", "d")),
        files=tuple(_file(url, label) for url, label in _files(record)),
    )


def _values(record: Record, tag: str, code: str) -> list[str]:
    return [value for field in record.get_fields(tag) for value in field.get_subfields(code)]


def _files(record: Record) -> list[tuple[str, str]]:
    return [
        (url, " ".join(field.get_subfields("y")))
        for field in record.get_fields("856")
        for url in field.get_subfields("u")
    ]


def _file(url: str, label: str) -> CatalogueFile:
    return CatalogueFile(url.strip(), language_of_file(label, url.rpartition("/")[2]))


def _trimmed(text: str) -> str:
    """Drop the library's punctuation between the parts of a title."""
    return re.sub(r"\s+", " ", text).strip(" /:;.[]")
