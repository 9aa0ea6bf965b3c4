from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import BadInput, KnowledgeBaseError
from kb.extract.harvest import FILE, Entry, Harvest, SketchedParagraph, Status
from kb.extract.near_duplicates import bands, say_the_same
from tests.factories import make_evidence

LONG = (
    "Recognizing that persons who arrive in the harbours of the coast face discrimination in employment, housing "
    "and education, and underlining that the same rights belong to everybody who lives there, whatever boat they "
    "came on, as well as the duty of all harbour masters to protect these rights without distinction of any kind"
)


def sketched(name: str, text: str) -> SketchedParagraph:
    return SketchedParagraph(make_evidence(name, text), tuple(bands(text)))


def entry(sha256: str, status: Status = Status.DONE, *notes: str) -> Entry:
    return Entry(sha256, "1:x", status, notes)


def test_a_changed_word_or_two_is_a_repetition() -> None:
    again = LONG.replace("Recognizing", "Recognizing also").replace("any kind", "any sort")
    assert say_the_same(LONG, again)
    assert set(bands(LONG)) & set(bands(again))


def test_another_figure_is_another_fact() -> None:
    assert not say_the_same(f"{LONG}: 34 per cent of them", f"{LONG}: 22 per cent of them")
    assert not say_the_same(LONG, LONG[: len(LONG) // 2])


def test_gives_out_each_paragraph_once(tmp_path: Path) -> None:
    with Harvest(tmp_path) as harvest:
        assert harvest.put("B", 2025, entry("b"), [sketched("B#1", LONG), sketched("B#2", "Something else.")]) == 2
        assert harvest.put("A", 2023, entry("a"), [sketched("A#1", f"{LONG},")]) == 0
        assert [paragraph.id for paragraph in harvest.evidence()] == ["B#1", "B#2"]
        assert harvest.counts() == (2, 1)


def test_a_repetition_takes_over_when_its_original_goes(tmp_path: Path) -> None:
    with Harvest(tmp_path) as harvest:
        harvest.put("B", 2025, entry("b"), [sketched("B#1", LONG)])
        harvest.put("A", 2023, entry("a"), [sketched("A#1", LONG)])
        harvest.put("C", 2022, entry("c"), [sketched("C#1", LONG)])
        harvest.put("B", 2025, entry("b2"), [sketched("B#1", "Rewritten from start to end.")])
        assert [paragraph.id for paragraph in harvest.evidence()] == ["A#1", "B#1"]
        assert harvest.counts() == (2, 1)


def test_a_replaced_document_stays_the_original_of_what_it_still_says(tmp_path: Path) -> None:
    with Harvest(tmp_path) as harvest:
        harvest.put("B", 2025, entry("b"), [sketched("B#1", LONG)])
        harvest.put("A", 2023, entry("a"), [sketched("A#1", LONG)])
        harvest.put("B", 2025, entry("b2"), [sketched("B#1", f"{LONG}.")])
        assert [paragraph.id for paragraph in harvest.evidence()] == ["B#1"]


def test_removed_documents_leave_their_place_to_the_newest_that_repeats_them(tmp_path: Path) -> None:
    with Harvest(tmp_path) as harvest:
        for name, year in (("B", 2025), ("A", 2001), ("C", 2022), ("D", 2024)):
            harvest.put(
                name, year, entry(name), [sketched(f"{name}#1", LONG), sketched(f"{name}#2", f"Only in {name}.")]
            )
        assert harvest.remove(["B", "D"]) == 4
        assert [paragraph.id for paragraph in harvest.evidence()] == ["A#2", "C#1", "C#2"]
        assert harvest.counts() == (3, 1)
        assert harvest.remove(["C"]) == 2
        assert [paragraph.id for paragraph in harvest.evidence()] == ["A#1", "A#2"]
        assert harvest.find("B") is None


def test_an_unknown_document_is_named_and_nothing_removed(tmp_path: Path) -> None:
    with Harvest(tmp_path) as harvest:
        harvest.put("B", 2025, entry("b"), [sketched("B#1", LONG)])
        with pytest.raises(BadInput, match="no document 'X', 'Y'"):
            harvest.remove(["X", "B", "Y"])
        assert harvest.counts() == (1, 0)


def test_keeps_its_content_when_opened_again(tmp_path: Path) -> None:
    with Harvest(tmp_path) as harvest:
        harvest.put("B", 2025, entry("b", Status.PARTIAL, "Page 2 is a picture."), [sketched("B#1", LONG)])
    with Harvest(tmp_path) as harvest:
        assert harvest.find("B") == entry("b", Status.PARTIAL, "Page 2 is a picture.")
        assert harvest.find("A") is None
        assert harvest.holder("b") == "B"
        assert [paragraph.text for paragraph in harvest.evidence()] == [LONG]


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        Harvest(tmp_path)
