"""A folder with one valid claim and its fact, which tests damage."""

from __future__ import annotations

from pathlib import Path

import pytest

FACTS = """\
regions = ["Zorblax"]

[speakers]
survey = {en = ["Harbour Survey"], es = ["Encuesta del Puerto"], it = ["Indagine del Porto"], eu = ["Portuko Inkesta"]}

[[fact]]
id = "other-boats-survey"
kind = "finding"
groups = ["other"]
region = "Zorblax"
strength = "strong"
speaker = "survey"
institution = "Harbour Survey"
title = "Boats"
year = 2020
url = "https://example.org/boats"
figures = ["1,250", "3.5"]
reviewed_at = 2026-11-22
[fact.text]
en = "The Harbour Survey of 2020 counted 1,250 boats, 3.5 for each street."
es = "La Encuesta del Puerto de 2020 contó 1.250 barcos, 3,5 por calle."
it = "L'Indagine del Porto del 2020 contò 1.250 barche, 3,5 per strada."
eu = "2020ko Portuko Inkestak 1.250 itsasontzi zenbatu zituen, 3,5 kale bakoitzeko."
[fact.short]
en = "The Harbour Survey of 2020 saw 1,250 boats."
es = "La Encuesta del Puerto 2020 vio 1.250 barcos."
it = "L'Indagine del Porto 2020 vide 1.250 barche."
eu = "2020ko Portuko Inkestak 1.250 itsasontzi ikusi zituen."
"""


def claims_toml() -> str:
    """Return a valid claims file."""
    lines = [
        "[[claim]]",
        'id = "other-no-boats"',
        'kind = "claim"',
        'facts = ["other-boats-survey"]',
        'gist = { en = "No boats.", es = "Sin barcos.", it = "Senza barche.", eu = "Itsasontzirik ez." }',
        "[claim.wordings]",
    ]
    for language in ("en", "es", "it", "eu"):
        listed = ", ".join(f'"no boats {number} {language}"' for number in range(6))
        lines.append(f"{language} = [{listed}]")
    for intent in ("informative", "questioning", "denouncing", "positive"):
        lines.append(f"[claim.counter.{intent}]")
        end = "?" if intent == "questioning" else "."
        lines += [f'{language} = ["Zorblaxians sail in {language}{end}"]' for language in ("en", "es", "it", "eu")]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "claims").mkdir()
    (tmp_path / "facts").mkdir()
    (tmp_path / "claims" / "other.toml").write_text(claims_toml(), encoding="utf-8")
    (tmp_path / "facts" / "other.toml").write_text(FACTS, encoding="utf-8")
    return tmp_path


def change(path: Path, before: str, after: str) -> None:
    """Replace a text that occurs exactly once in a file."""
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
