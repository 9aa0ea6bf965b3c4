"""`rejoinder train rank`, on verdicts of scripted moderators."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from core.domain import Intent, TargetGroup
from kb.claims.loading import load_claims
from kb.claims.ranking import CARD, Occasion, load_ranker
from kb.claims.records import FactKind
from rejoinder.cli import main
from training.decisions.records import VERDICTS, Outcome, Verdict, write_lines

FILES = load_claims()


def verdicts(raters: int = 3) -> list[Verdict]:
    """Return the verdicts of people who like rules and nothing else."""
    made = []
    for number, claim in enumerate(list(FILES.claims.values())[:120]):
        group = FILES.group_of(claim)
        for name in claim.facts:
            liked = FILES.facts[name].kind is FactKind.NORM
            made.append(
                Verdict(
                    case=f"{claim.id}/{name}", post=claim.wordings["en"][0], language="en", groups=(group,),
                    intent=Intent.INFORMATIVE, claim=claim.id, counter=claim.counter[Intent.INFORMATIVE]["en"][0],
                    fact=name, claim_approved=True if liked else None, counter_approved=True if liked else None,
                    fact_approved=liked, outcome=Outcome.APPROVED if liked else Outcome.REJECTED,
                    rater=f"h{number % raters}",
                )
            )  # fmt: skip
    return made


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path))
    # Few draws give a card with a rougher interval, and the same ranker.
    monkeypatch.setattr("training.ranking.fit.DRAWS", 20)
    return tmp_path


def rank(folder: Path, *options: str) -> str:
    result = CliRunner().invoke(main, ["train", "rank", str(folder), *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_what_is_liked_is_learned_also_for_claims_never_judged_and_needs_a_setting_to_serve(data_dir: Path) -> None:
    pytest.importorskip("sklearn")
    write_lines(data_dir / VERDICTS, verdicts())
    printed = rank(data_dir, "--name", "rules")
    ranker, last = load_ranker(data_dir, "rules"), list(FILES.claims.values())[-1]
    by_kind = {fact.kind: fact for fact in FILES.facts.values()}
    occasion = Occasion("en", TargetGroup.WOMEN)
    norm, finding = (ranker.fact(last, by_kind[kind], occasion) for kind in (FactKind.NORM, FactKind.FINDING))
    assert norm - finding > 1
    assert "REJOINDER_KB__RANKER=rules" in printed
    assert load_ranker(data_dir, "").weights == {}
    card = (data_dir / "rankers" / "rules" / CARD).read_text()
    assert "fact.kind:norm" in card.partition("**Avoided")[0] and "3 moderators" in card


def test_the_same_verdicts_give_the_same_bytes(data_dir: Path) -> None:
    pytest.importorskip("sklearn")
    write_lines(data_dir / VERDICTS, verdicts())
    for name in ("a", "b"):
        rank(data_dir, "--name", name)
    assert (data_dir / "rankers/a/ranker.json").read_bytes() == (data_dir / "rankers/b/ranker.json").read_bytes()


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (verdicts(1), "--min-raters"),
        ([], "--min-raters"),
        ([verdict for verdict in verdicts() if verdict.fact_approved], "approved and not"),
    ],
)
def test_what_can_not_teach_is_refused(data_dir: Path, lines: list[Verdict], complaint: str) -> None:
    pytest.importorskip("sklearn")
    write_lines(data_dir / VERDICTS, lines)
    result = CliRunner().invoke(main, ["train", "rank", str(data_dir)])
    assert result.exit_code == 1 and complaint in result.output


def test_a_ranker_is_not_overwritten_unasked(data_dir: Path) -> None:
    pytest.importorskip("sklearn")
    write_lines(data_dir / VERDICTS, verdicts())
    rank(data_dir)
    assert CliRunner().invoke(main, ["train", "rank", str(data_dir)]).exit_code == 1
    rank(data_dir, "--replace")


@pytest.mark.slow
async def test_after_learning_scripted_moderators_accept_more_of_unseen_posts(tmp_path: Path) -> None:
    from evaluation.bench.learning import rehearse

    pytest.importorskip("sklearn")
    rehearsal = await rehearse(tmp_path, 500, 200, 1)
    assert rehearsal.difference.interval.low > 0
