from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.errors import BadInput
from kb.extract.law import read_eu_xhtml, read_formex
from kb.extract.passages import Reading
from kb.extract.structure import blocks_of


def places(reading: Reading) -> dict[str, str]:
    by_place: dict[str, str] = {}
    for block in blocks_of(reading.passages):
        by_place[block.place] = f"{by_place.get(block.place, '')} {block.text}".strip()
    return by_place


@pytest.mark.parametrize(
    ("name", "articles", "recitals"),
    [
        ("12012P_TXT.en.xhtml", 54, 0),
        ("32006L0054.en.xhtml", 36, 41),
        ("32024L1500.en.xhtml", 26, 51),
        ("32022R2065.en.xhtml", 93, 156),
        ("32016L0680.en.xhtml", 65, 107),
        ("02006L0054-20260619.consolidated.en.html", 36, 0),
    ],
)
def test_finds_every_article_and_recital(shared: Path, name: str, articles: int, recitals: int) -> None:
    by_place = places(read_eu_xhtml((shared / "eurlex/cellar_xhtml" / name).read_bytes(), "en"))
    numbers = {int(hit[1]) for place in by_place if (hit := re.fullmatch(r"Article (\d+)", place))}
    # Three articles of the consolidated directive were deleted, and stand there without text.
    assert len(numbers) >= articles - (3 if "consolidated" in name else 0)
    assert max(numbers) == articles
    assert [f"Recital {n}" in by_place for n in range(1, recitals + 1)] == [True] * recitals


def test_reads_the_charter_as_it_is_cited(shared: Path) -> None:
    by_place = places(read_eu_xhtml((shared / "eurlex/cellar_xhtml/12012P_TXT.en.xhtml").read_bytes(), "en"))
    assert by_place["Article 1"] == "Human dignity is inviolable. It must be respected and protected."
    assert by_place["Article 21"].startswith("1. Any discrimination based on any ground such as sex, race, colour")
    assert "The peoples of Europe, in creating an ever closer union" in by_place["Preamble"]
    assert "DIGNITY" not in by_place["Preamble"]
    assert by_place["Article 54"].endswith("than is provided for herein.")


def test_leaves_out_footnotes_tables_and_signatures(shared: Path) -> None:
    by_place = places(read_eu_xhtml((shared / "eurlex/cellar_xhtml/32006L0054.en.xhtml").read_bytes(), "en"))
    text = " ".join(by_place.values())
    assert "OJ L " not in text
    assert "BORRELL" not in text
    assert "Having regard to the opinion of the European Economic and Social Committee," in text


def test_formex_and_xhtml_of_one_act_say_the_same(shared: Path) -> None:
    formex = places(read_formex(next((shared / "eurlex/formex").glob("32022R2065*")).read_bytes(), "en"))
    xhtml = places(read_eu_xhtml((shared / "eurlex/cellar_xhtml/32022R2065.en.xhtml").read_bytes(), "en"))
    shared_places = [place for place in xhtml if place.startswith(("Article", "Recital"))]
    same = [place for place in shared_places if bare(formex.get(place, "")) == bare(xhtml[place])]
    assert len(same) >= 0.97 * len(shared_places)


def test_torn_formex_is_refused() -> None:
    with pytest.raises(BadInput, match="torn"):
        read_formex(b"<ACT><ENACTING.TERMS><ARTICLE>", "en")


def bare(text: str) -> str:
    return re.sub(r"\W+", "", text.casefold())
