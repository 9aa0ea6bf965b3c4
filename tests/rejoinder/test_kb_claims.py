"""`rejoinder kb claims`: a curator lists, checks and extends what is on file, and sees what is missing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.domain import DraftRequest, Evidence, Grounding, TargetGroup
from core.settings import KnowledgeBaseSettings, Settings
from kb.claims.gaps import Unanswered, heaps
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.matching import ClaimMatcher
from kb.claims.reviews import Reviews
from models.embedders import default_embedder
from pipeline import vector
from rejoinder.assembly import open_claims, open_ledger
from rejoinder.cli import main
from rejoinder.commands.process import load_settings
from tests.factories import make_draft, make_evidence, make_post, make_triage


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own"
    monkeypatch.setenv("REJOINDER_KB__CLAIMS", str(folder))
    return folder


def claims(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["kb", "claims", *arguments])


def add(name: str, *more: str) -> Result:
    return claims(
        "add", "migrants", name, "--gist", "Migrants own the harbour.", "--wording", "they own the harbour now",
        "--fact", "migrants-equal-dignity", "--counter", "informative", "A harbour belongs to a town.", *more,
    )  # fmt: skip


BOATS = {
    "en": ("The Harbour Survey of 2020 counted 1,250 boats.", "The Harbour Survey of 2020 saw 1,250 boats."),
    "es": ("La Encuesta del Puerto de 2020 contó 1.250 barcos.", "La Encuesta del Puerto 2020 vio 1.250 barcos."),
    "it": ("L'Indagine del Porto del 2020 contò 1.250 barche.", "L'Indagine del Porto 2020 vide 1.250 barche."),
    "eu": ("2020ko Portuko Inkestak 1.250 itsasontzi zenbatu zituen.", "2020ko Portuko Inkestak 1.250 ikusi zituen."),
}
NAMES = {"es": "Encuesta del Puerto", "it": "Indagine del Porto", "eu": "Portuko Inkesta"}


def add_fact(name: str, *more: str, languages: str = "en es it eu", quote: str = "We counted 1,250 boats.") -> Result:
    forms = [
        part
        for language in languages.split()
        for form, sentence in zip(("--text", "--short"), BOATS[language], strict=True)
        for part in (form, language, sentence)
    ]
    return claims(
        "add-fact", "migrants", name, *forms, "--quote", quote, "--institution", "Harbour Survey", "--title", "Boats",
        "--year", "2020", "--url", "https://example.org/boats", "--region", "World", *more,
    )  # fmt: skip


NAMED = tuple(part for language, name in NAMES.items() for part in ("--speaker-name", language, name))


def test_the_list_counts_what_is_on_file_and_can_be_read_by_a_program() -> None:
    listed: list[dict[str, Any]] = json.loads(claims("list", "--json").output)
    assert len(listed) >= 250
    assert {row["group"] for row in json.loads(claims("list", "--group", "jews", "--json").output)} == {"jews"}
    assert "migrants-take-jobs" in claims("list", "--group", "migrants").output


def test_what_is_shipped_has_nothing_to_correct() -> None:
    result = claims("check")
    assert result.exit_code == 0, result.output
    assert "nothing to correct" in result.output


def test_addresses_are_looked_up_only_if_asked_and_one_that_is_gone_fails_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    async def one_is_gone(files: ClaimFiles) -> list[str]:
        asked.append(len(files.facts))
        return ["kb/facts/other.toml:7: other-boats: https://example.org/boats answers 404"]

    monkeypatch.setattr("kb.claims.links.dead_links", one_is_gone)
    assert claims("check").exit_code == 0
    assert asked == []
    result = claims("check", "--links")
    assert result.exit_code == 1
    assert asked == [len(load_claims().facts)]
    assert "https://example.org/boats answers 404" in result.output


def test_a_begun_claim_is_told_what_it_lacks_and_fails_the_check_with_its_place(own: Path) -> None:
    result = add("harbour")
    assert result.exit_code == 0, result.output
    assert "0 wordings in es; 6 are needed" in result.output
    assert "0 positive counter-claims in en; 1 needed" in result.output
    checked = claims("check")
    assert checked.exit_code == 1
    assert f"{own}/claims/migrants.toml:2: migrants-harbour: no gist in es" in checked.output


def test_a_second_claim_joins_the_file_and_an_id_is_taken_once(own: Path) -> None:
    assert add("harbour").exit_code == add("quay").exit_code == 0
    assert {"migrants-harbour", "migrants-quay"} <= set(load_claims(own).claims)
    again = add("harbour")
    assert again.exit_code != 0
    assert "is taken" in again.output


async def test_a_begun_claim_is_not_matched_and_hinders_nobody(own: Path) -> None:
    assert add("harbour").exit_code == 0
    embedder = default_embedder()
    try:
        matcher = await open_claims(load_settings(), embedder)
        (embedding,) = await embedder.queries(["they own the harbour now"])
    finally:
        await embedder.close()
    assert "migrants-harbour" not in matcher.names
    matcher.match("they own the harbour now", embedding, [TargetGroup.MIGRANTS], "es")


def _complete(path: Path) -> None:
    """Write what `add` leaves to the curator: the other languages and intents."""
    text = path.read_text(encoding="utf-8")
    gists = ", ".join(f'{language} = "El puerto {language}."' for language in ("es", "it", "eu"))
    text = text.replace('gist = { en = "Migrants own the harbour." }', f'gist = {{ en = "The harbour.", {gists} }}')
    head, _, _ = text.partition("[claim.wordings]")
    lines = [head + "[claim.wordings]"]
    lines += [
        f"{language} = {json.dumps([f'they own the harbour now {language} {number}' for number in range(6)])}"
        for language in ("en", "es", "it", "eu")
    ]
    for intent, end in (("informative", "."), ("questioning", "?"), ("denouncing", "."), ("positive", ".")):
        lines.append(f"[claim.counter.{intent}]")
        lines += [f'{language} = ["A harbour belongs to a town{end}"]' for language in ("en", "es", "it", "eu")]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


async def test_a_curators_fact_answers_the_claim_that_names_it(own: Path) -> None:
    result = add_fact("boats", *NAMED)
    assert result.exit_code == 0, result.output
    assert f"migrants-boats is in {own}/facts/migrants.toml" in result.output
    assert [line for line in result.output.splitlines() if line.startswith("  ")] == [
        "  no claim names it: put its id among the facts of a claim that it answers"
    ]
    added = add("harbour", "--fact", "migrants-boats")
    assert "migrants-boats" not in added.output, "the fact is whole"
    _complete(own / "claims" / "migrants.toml")
    checked = claims("check")
    assert checked.exit_code == 0, checked.output
    embedder = default_embedder()
    try:
        matcher = await open_claims(load_settings(), embedder)
        (embedding,) = await embedder.queries(["they own the harbour now es 3"])
    finally:
        await embedder.close()
    matched, facts = matcher.match("they own the harbour now es 3", embedding, [TargetGroup.MIGRANTS], "es")
    assert matched[0].id == "migrants-harbour"
    (fact,) = [fact for fact in facts if fact.id == "migrants-boats"]
    assert (fact.text, fact.short, fact.strength, fact.secondhand) == (*BOATS["es"], "fair", False)


def test_a_begun_fact_is_told_what_it_lacks(own: Path) -> None:
    result = add_fact("boats", "--region", "Zorblax", languages="en it")
    assert result.exit_code == 0, result.output
    for lack in ("no text in es", "no short in eu", "it: does not name its speaker", "no region is called 'Zorblax'"):
        assert lack in result.output


def test_a_fact_states_no_figure_that_its_quote_lacks(own: Path) -> None:
    assert "the figure 1250 is not in the quote" in add_fact("boats", *NAMED, quote="We counted 1,205.").output
    assert "not in the quote" not in add_fact("ships", quote="Contamos 1.250 barcos.").output, "in any language"


def test_a_second_fact_joins_the_file_and_takes_the_speaker_that_is_there(own: Path) -> None:
    assert add_fact("boats", *NAMED).exit_code == add_fact("ships").exit_code == 0
    files = load_claims(own)
    assert {files.facts[name].speaker for name in ("migrants-boats", "migrants-ships")} == {"harbour-survey"}
    assert add_fact("rafts", "--speaker", "eurostat").exit_code == 0
    assert load_claims(own).facts["migrants-rafts"].speaker == "eurostat"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--speaker", "nobody"), "No speaker is called 'nobody'"),
        (("--speaker", "who", "--speaker-name", "es", "OMS"), "has its names on file"),
        (("--url", "example.org"), "url: String should match pattern"),
        (("--year", "20"), "year: Input should be greater"),
        (("--text", "en", "Twice."), "--text has one language twice"),
    ],
)
def test_a_fact_that_cannot_be_is_refused_and_not_written(own: Path, wrong: tuple[str, ...], message: str) -> None:
    result = add_fact("boats", *wrong)
    assert result.exit_code != 0
    assert message in result.output
    assert not own.exists()


def test_a_fact_that_could_not_be_read_again_leaves_the_file_as_it_is(own: Path) -> None:
    assert add_fact("boats", *NAMED).exit_code == 0
    file = own / "facts" / "migrants.toml"
    before = file.read_text(encoding="utf-8")
    result = add_fact("ships", quote="We counted 1,250 boats, \udce9.")
    assert result.exit_code != 0
    assert "nothing was written" in result.output
    assert file.read_text(encoding="utf-8") == before
    assert add_fact("ships", quote="We counted 1,250\x7f boats.").exit_code == 0
    assert load_claims(own).facts["migrants-ships"].quote == "We counted 1,250\x7f boats."


@pytest.mark.parametrize("institution", ["", "Harbour\nSurvey", "harbour survey"])
def test_an_institution_that_cannot_be_a_speaker_is_refused(own: Path, institution: str) -> None:
    assert add_fact("boats", *NAMED).exit_code == 0
    result = add_fact("ships", "--institution", institution)
    assert result.exit_code != 0
    assert "run the command again" in result.output or "--speaker harbour-survey" in result.output


def test_the_id_of_a_fact_is_taken_once(own: Path) -> None:
    assert add_fact("boats", *NAMED).exit_code == 0
    again = add_fact("boats")
    assert again.exit_code != 0
    assert "The id migrants-boats is taken" in again.output


@pytest.mark.parametrize("adds", [add, add_fact])
def test_without_a_folder_nothing_is_added(monkeypatch: pytest.MonkeyPatch, adds: Callable[[str], Result]) -> None:
    monkeypatch.delenv("REJOINDER_KB__CLAIMS", raising=False)
    result = adds("harbour")
    assert result.exit_code != 0
    assert "Set kb.claims" in result.output


@pytest.fixture
async def matcher() -> ClaimMatcher:
    embedder = default_embedder()
    try:
        return await ClaimMatcher.open(load_claims(), Reviews(), embedder, KnowledgeBaseSettings())
    finally:
        await embedder.close()


async def test_like_posts_lie_on_one_heap_with_the_claim_that_is_nearest(matcher: ClaimMatcher) -> None:
    embedder = default_embedder()
    texts = ["migrants steal all our jobs", "they are taking our jobs, these migrants", "women can't drive at all"]
    vectors = await embedder.queries(texts)
    await embedder.close()
    posts = [
        Unanswered(f"forum/{number}", group, vector)
        for number, (group, vector) in enumerate(zip(("migrants", "migrants", "women"), vectors, strict=True))
    ]
    first, second = heaps(posts, matcher)
    assert (first.count, first.group, first.nearest) == (2, "migrants", "migrants-take-jobs")
    assert first.cases == ("forum/0", "forum/1")
    assert (second.count, second.group) == (1, "women")
    assert heaps([], matcher) == []


async def test_a_heap_is_compared_in_the_language_of_its_posts(matcher: ClaimMatcher) -> None:
    embedder = default_embedder()
    (embedding,) = await embedder.queries(["los inmigrantes nos quitan el trabajo a todos"])
    await embedder.close()
    (gap,) = heaps([Unanswered("forum/1", "migrants", embedding, "es")], matcher)
    assert gap.nearest == "migrants-take-jobs"
    assert gap.nearness == round(matcher.nearest(embedding, "es")[1], 3)
    assert gap.nearness > matcher.nearest(embedding, "en")[1] + 0.05


async def _bring_to_moderators(
    evidence: dict[str, tuple[Evidence, ...]], text: str = "migrants steal all our jobs", language: str = "en"
) -> None:
    """Bring a case about taking jobs before the moderators for each key, with this evidence."""
    embedder = default_embedder()
    (embedding,) = await embedder.queries([text])
    await embedder.close()
    triage = make_triage(TargetGroup.MIGRANTS, language=language, embedding=vector.pack(embedding))
    async with open_ledger(Settings(), migrating=True) as ledger:
        for number, (name, found) in enumerate(evidence.items()):
            post = make_post(name, f"a post number {number} about jobs")
            await ledger.stages.receive([post])
            await ledger.stages.triage(post, triage)
            await ledger.stages.ground(post.key, Grounding(evidence=found), DraftRequest())
            await ledger.stages.draft(make_draft(post.key))


def test_a_gap_is_a_case_that_came_to_moderators_without_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path))
    asyncio.run(_bring_to_moderators({"answered": (make_evidence(),), "open": ()}))
    result = claims("gaps", "--json")
    assert result.exit_code == 0, result.output
    (gap,) = json.loads(result.stdout)
    assert (gap["count"], gap["nearest"]) == (1, "migrants-take-jobs")
    assert [key.rpartition("/")[2] for key in gap["cases"]] == ["open"]
    assert "Heaps: 1. Posts: 1." in claims("gaps").output


async def _reject(name: str) -> None:
    async with open_ledger(Settings()) as ledger:
        case = await ledger.cases.get(make_post(name).key)
        await ledger.decisions.reject(case.key, case.version, "ana", "tone", case.updated_at)


def test_a_rejected_draft_is_a_gap_even_with_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path))
    asyncio.run(_bring_to_moderators({"waiting": (make_evidence(),), "rejected": (make_evidence(),)}))
    assert json.loads(claims("gaps", "--json").stdout) == []
    asyncio.run(_reject("rejected"))
    (gap,) = json.loads(claims("gaps", "--json").stdout)
    assert [key.rpartition("/")[2] for key in gap["cases"]] == ["rejected"]
    assert gap["nearest"] == "migrants-take-jobs"


def test_a_gap_of_a_spanish_post_is_as_near_to_its_claim_as_the_matching_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matcher: ClaimMatcher
) -> None:
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path))
    text = "los inmigrantes nos quitan el trabajo a todos"
    asyncio.run(_bring_to_moderators({"open": ()}, text, "es"))
    (gap,) = json.loads(claims("gaps", "--json").stdout)
    assert gap["nearest"] == "migrants-take-jobs"
    assert gap["nearness"] > 0.7
