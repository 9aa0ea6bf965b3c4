"""`rejoinder kb review`: a speaker reads a sheet, and what is good is no longer provisional."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kb.claims.loading import load_claims
from kb.claims.reviews import load_reviews
from kb.claims.two_groups import two_groups
from rejoinder.cli import main


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own"
    monkeypatch.setenv("REJOINDER_KB__CLAIMS", str(folder))
    return folder


def review(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["kb", "review", *map(str, arguments)])


def rows(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def write(sheet: Path, listed: list[dict[str, str]]) -> None:
    with sheet.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, listed[0])
        writer.writeheader()
        writer.writerows(listed)


def test_a_sheet_has_every_sentence_of_the_language_beside_the_english_one(own: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "eu.csv"
    assert review("export", "eu", sheet).exit_code == 0
    listed = rows(sheet)
    files = load_claims()
    counters = sum(len(by.get("eu", ())) for claim in files.claims.values() for by in claim.counter.values())
    naming_two_groups = sum(len(by["eu"]) for by in two_groups().counter.values())
    said_by_posts = sum(1 + len(claim.wordings["eu"]) for claim in files.claims.values())
    assert len(listed) == counters + naming_two_groups + 2 * len(files.facts) + said_by_posts
    assert all(row["english"] and row["sentence"] and row["place"] for row in listed)


def test_what_posts_claim_comes_last_and_is_marked_like_what_replies_say(own: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "es.csv"
    review("export", "es", sheet)
    listed = rows(sheet)
    begin = next(number for number, row in enumerate(listed) if row["what"] == "claim")
    assert {row["what"] for row in listed[begin:]} == {"claim", "claim, as posts word it"}
    gist, good, bad = listed[begin : begin + 3]
    claim = load_claims().claims[gist["entry"]]
    assert [row["sentence"] for row in (gist, good, bad)] == [claim.gist["es"], *claim.wordings["es"][:2]]
    assert {row["english"] for row in (gist, good, bad)} == {claim.gist["en"]}
    gist["good"], good["good"], bad["better"] = "x", "x", "que se vayan"
    write(sheet, listed)
    result = review("take", "es", sheet)
    assert result.exit_code == 0, result.output
    assert f"{bad['place']}: {bad['entry']}, claim, as posts word it:\n  - {bad['sentence']}" in result.output
    assert "+ que se vayan" in result.output
    assert "2 reviewed" in result.output
    review("export", "es", sheet)
    unread = [row["sentence"] for row in rows(sheet)]
    assert bad["sentence"] in unread
    assert gist["sentence"] not in unread and good["sentence"] not in unread


def test_what_a_speaker_finds_good_is_reviewed_and_not_asked_again(own: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "es.csv"
    review("export", "es", sheet)
    listed = rows(sheet)
    listed[0]["good"], listed[1]["good"], listed[2]["better"] = "x", "OK", "Una frase mejor."
    write(sheet, listed)
    result = review("take", "es", sheet)
    assert result.exit_code == 0, result.output
    assert f"{listed[2]['place']}: {listed[2]['entry']}" in result.output
    assert "+ Una frase mejor." in result.output
    reviews = load_reviews(own)
    assert [reviews.provisional(row["sentence"], "es") for row in listed[:3]] == [False, False, True]
    review("export", "es", sheet)
    assert len(rows(sheet)) == len(listed) - 2


@pytest.mark.parametrize(
    ("damage", "message"),
    [("good", "not known"), ("column", "has no column sentence"), ("bytes", "has no column entry")],
)
def test_a_damaged_sheet_is_refused(own: Path, tmp_path: Path, damage: str, message: str) -> None:
    sheet = tmp_path / "it.csv"
    review("export", "it", sheet)
    listed = rows(sheet)[:3]
    if damage == "good":
        listed[1]["good"] = "perhaps"
    if damage == "column":
        listed = [{name: text for name, text in row.items() if name != "sentence"} for row in listed]
    write(sheet, listed)
    if damage == "bytes":
        sheet.write_bytes(b"\xff\xfe\x00")
    result = review("take", "it", sheet)
    assert result.exit_code != 0
    assert message in result.output
    assert not own.exists()


def test_without_a_folder_no_review_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REJOINDER_KB__CLAIMS", raising=False)
    result = review("take", "it", tmp_path / "none.csv")
    assert result.exit_code != 0
    assert "Set kb.claims" in result.output


def test_a_sheet_is_read_as_spreadsheets_abroad_save_it(own: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "es.csv"
    review("export", "es", sheet)
    listed = rows(sheet)[:2]
    listed[0]["good"] = "sí"
    with sheet.open("w", newline="", encoding="cp1252") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(listed[0])
        writer.writerow(listed[0].values())
        # What is empty at the end of a row may be left out.
        writer.writerow([listed[1][name] for name in ("entry", "place", "what", "english", "sentence")])
    result = review("take", "es", sheet)
    assert result.exit_code == 0, result.output
    reviews = load_reviews(own)
    assert [reviews.provisional(row["sentence"], "es") for row in listed] == [False, True]


def test_marked_sentences_that_are_not_on_file_are_named_and_not_taken(own: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "es.csv"
    review("export", "es", sheet)
    listed = rows(sheet)[:2]
    listed[0] |= {"good": "x"}
    listed[1] |= {"good": "x", "sentence": "La comida de la vida p\u0153blica."}
    write(sheet, listed)
    result = review("take", "es", sheet)
    assert result.exit_code == 0, result.output
    assert "1 marked sentences are not on file" in result.output and "another encoding" in result.output
    assert "1 reviewed" in result.output
    assert load_reviews(own).provisional(listed[1]["sentence"], "es")
