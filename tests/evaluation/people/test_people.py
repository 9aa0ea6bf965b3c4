"""People: blind forms, attention checks, and what is counted of what comes back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core.errors import BadInput
from evaluation.command import evaluate
from evaluation.people.collecting import Rating, alpha, bias, inattentive, read_ratings, summarise
from evaluation.people.forms import read_key, write_forms
from evaluation.people.questions import QUESTIONS
from evaluation.run import RunFolder
from rejoinder.cli import Program
from tests.evaluation.runs import make_run

PROGRAM = Program(commands=[evaluate])
DRAFTS = {"compose": [f"Kind reply {n}." for n in range(8)], "free": [f"Other reply {n}." for n in range(8)]}
NAMES = [question.name for question in QUESTIONS]


def answered(folder: Path, rater: str, key: dict[str, dict[str, str]], value: int, check: int = 5) -> Path:
    """Write what a rater sends back who likes `compose` by one more than `free`."""
    file = folder / f"{rater}.csv"
    with file.open("w", newline="") as sheet:
        writer = csv.writer(sheet)
        writer.writerow(["rater", "item", *NAMES])
        for item, what in key.items():
            liking = check if "check" in what else value + ("compose" in what["system"])
            writer.writerow([rater, item, *[liking] * 4, min(liking, 1)])
    return file


def test_forms_say_nothing_of_who_wrote_what(tmp_path: Path) -> None:
    html, sheet = write_forms(make_run(tmp_path, DRAFTS), 5)
    for text in (html.read_text(), sheet.read_text(encoding="utf-8-sig")):
        assert "Kind reply" in text
        assert not any(name in text for name in ("compose", "hybrid", "p1"))
    assert "http://" not in html.read_text() and "https://" not in html.read_text()


def test_every_system_is_rated_on_the_same_posts_with_checks_between(tmp_path: Path) -> None:
    run = make_run(tmp_path, DRAFTS)
    write_forms(run, 6)
    key = read_key(run)
    rated = [(what["post_id"], what["system"]) for what in key.values() if "check" not in what]
    assert len(set(rated)) == 12 and len({post for post, _ in rated}) == 6
    assert sum("check" in what for what in key.values()) == 2
    assert [system for _, system in rated] != sorted(system for _, system in rated)


def test_the_same_seed_gives_the_same_form(tmp_path: Path) -> None:
    html, _ = write_forms(make_run(tmp_path, DRAFTS), 5)
    first = html.read_bytes()
    write_forms(RunFolder.open(tmp_path), 5)
    assert html.read_bytes() == first


def test_collected_answers_become_means_agreement_and_bias(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", DRAFTS)
    assert CliRunner().invoke(PROGRAM, ["evaluate", "people", str(run.path), "--posts", "6"]).exit_code == 0
    back = tmp_path / "back"
    back.mkdir()
    for rater, value, check in (("ana", 3, 5), ("ben", 2, 5), ("hurried", 1, 2)):
        answered(back, rater, read_key(run), value, check)
    result = CliRunner().invoke(PROGRAM, ["evaluate", "people", str(run.path), "--collect", str(back)])
    assert result.exit_code == 0, result.output
    assert "hurried" in result.output
    counted = json.loads((run.path / "people.json").read_text())
    assert counted["inattentive"] == ["hurried"]
    assert counted["systems"]["compose/none/hybrid"]["relevance"]["mean"] == 3.5
    assert counted["systems"]["free/none/hybrid"]["relevance"]["mean"] == 2.5
    assert (counted["raters"]["ana"]["bias"]["relevance"], counted["raters"]["ben"]["bias"]["relevance"]) == (1, -1)


def test_nothing_that_came_back_leaves_what_was_collected(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", DRAFTS)
    write_forms(run, 2)
    back = answered(tmp_path, "ana", read_key(run), 3)
    (tmp_path / "empty").mkdir()
    for collected, code in ((back, 0), (tmp_path / "empty", 1)):
        result = CliRunner().invoke(PROGRAM, ["evaluate", "people", str(run.path), "--collect", str(collected)])
        assert result.exit_code == code, result.output
    assert "holds no answer" in result.output
    assert list(json.loads((run.path / "people.json").read_text())["raters"]) == ["ana"]


def ratings(*rows: tuple[str, str, int]) -> list[Rating]:
    return [Rating(rater=rater, item=item, question="relevance", value=value) for rater, item, value in rows]


def test_alpha_is_one_for_agreement_and_none_without_pairs() -> None:
    both = ratings(("a", "i", 1), ("b", "i", 1), ("a", "j", 5), ("b", "j", 5))
    assert alpha(both) == 1
    assert alpha(ratings(("a", "i", 1), ("b", "j", 5))) is None
    assert alpha(ratings(("a", "i", 3), ("b", "i", 3))) is None


def test_alpha_of_opposite_raters_is_that_of_krippendorffs_formula() -> None:
    # Two values, two units, all distances 1 or 0 after scaling. Do = 1, De = 4 * 2 / (4 * 3) = 2/3, alpha = 1 - 3/2.
    assert alpha(ratings(("a", "i", 1), ("b", "i", 5), ("a", "j", 5), ("b", "j", 1))) == pytest.approx(-0.5)


def test_bias_is_against_others_on_the_same_items() -> None:
    some = ratings(("a", "i", 5), ("b", "i", 3), ("c", "i", 1), ("a", "j", 1))
    assert bias("a", some) == 3
    assert bias("a", ratings(("a", "i", 5))) is None


def test_a_failed_check_is_noticed() -> None:
    key = {"i": {"post_id": "p", "system": "s"}, "check": {"check": "highest"}}
    assert inattentive(ratings(("a", "check", 5), ("b", "check", 4)), key) == {"b"}


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"rater": "a", "item": "nowhere", "relevance": "3"}, "no item 'nowhere'"),
        ({"rater": "", "item": "i", "relevance": "3"}, "no rater"),
        ({"rater": "a", "item": "i", "relevance": "9"}, "relevance is '9', not 1 to 5"),
        ({"rater": "a", "item": "i", "relevance": "good"}, "relevance is 'good'"),
    ],
)
def test_answers_that_can_not_be_used_are_told(tmp_path: Path, row: dict[str, Any], complaint: str) -> None:
    file = tmp_path / "back.csv"
    file.write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")
    returned = read_ratings([file], {"i": {}})
    assert returned.ratings == [] and complaint in returned.complaints[0]


def test_a_half_filled_sheet_counts_as_far_as_it_is_filled(tmp_path: Path) -> None:
    run = make_run(tmp_path, DRAFTS)
    _, sheet = write_forms(run, 2)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0] |= {"rater": "ana", "relevance": "4"}
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    returned = read_ratings([sheet], read_key(run))
    assert [(rating.question, rating.value) for rating in returned.ratings] == [("relevance", 4)]
    assert returned.complaints == []
    assert summarise(returned.ratings, read_key(run), 1)["raters"]["ana"]["ratings"] == 1


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "back.csv"
    file.write_text("name,score\nana,3\n")
    with pytest.raises(BadInput, match="no column rater, item"):
        read_ratings([file], {})
