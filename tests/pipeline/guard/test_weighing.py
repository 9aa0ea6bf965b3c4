"""What the readers and the checks by words come to together, and which failures stand whatever else is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from core.domain import Check
from core.errors import WeightsError
from core.settings import Settings
from pipeline.guard import Guard, GuardContext
from pipeline.guard.material import Material
from pipeline.guard.reward import RewardTerm
from pipeline.guard.weighing import FLAGS, NAME, READERS, WEAKEST, Weighing, shipped_weights
from rejoinder.guard_assembly import open_drafting_guard
from tests.pipeline.guard.conftest import VOTE

FREE = "Women have stood for office for a century, and their neighbours elected them."
SURE, UNSURE = 0.95, 0.3


@dataclass
class Says:
    """A check that says the same about every reply, and counts how often it was asked."""

    name: str
    passed: bool = True
    value: float = 0.0
    detail: str = ""
    costly: bool = False
    hard: bool = True
    reward: RewardTerm | None = None
    asked: list[Material] = field(default_factory=list)

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        self.asked += replies
        check = Check(name=self.name, passed=self.passed, value=self.value, threshold=0.5, detail=self.detail)
        return [check for _ in replies]


def readers(probability: float, *, detail: str = "") -> list[Says]:
    return [Says(name, not detail, probability, detail, costly=True) for name in READERS]


def failing(name: str, value: float = 0.6) -> Says:
    return Says(name, passed=False, value=value, detail=f"Fails {name}.")


async def judged(context: GuardContext, *checks: Says, text: str = FREE, limit: float = 0.6) -> dict[str, Check]:
    found = await Guard(checks, Weighing(limit)).check(text, context)
    return {check.name: check for check in found}


def passes(found: dict[str, Check]) -> bool:
    return all(check.passed or not check.hard for check in found.values())


@pytest.mark.parametrize("doubted", ["supported", "overclaim", "echo", "topic"])
async def test_a_single_doubt_is_advice_where_both_readers_are_sure(context: GuardContext, doubted: str) -> None:
    found = await judged(context, failing(doubted), *readers(SURE))
    assert passes(found) and found[NAME].passed
    assert not found[doubted].passed and not found[doubted].hard, "it is still told"
    assert list(found)[-1] == NAME


async def test_a_doubt_stops_a_reply_of_which_the_readers_are_unsure_and_says_why(context: GuardContext) -> None:
    found = await judged(context, failing("supported"), failing("echo"), *readers(UNSURE))
    assert not passes(found) and not found[NAME].passed
    assert found["supported"].hard and found["echo"].hard, "they are the reasons"


async def test_readers_that_are_unsure_stop_a_reply_that_no_check_stops(context: GuardContext) -> None:
    found = await judged(context, *readers(0.05))
    assert not passes(found) and "60% is the least" in found[NAME].detail
    assert passes(await judged(context, *readers(0.05), limit=0.0))


async def test_the_readers_are_asked_about_a_reply_that_a_check_doubts(context: GuardContext) -> None:
    both = readers(SURE)
    await judged(context, failing("supported"), *both)
    assert all(len(reader.asked) == 1 for reader in both)


@pytest.mark.parametrize(
    "stands",
    [failing("numbers"), failing("names"), failing("swap"), failing("insult"), failing("toxicity"), failing("stance")],
)
async def test_checks_that_are_not_weighed_stop_a_reply_unread(context: GuardContext, stands: Says) -> None:
    both = readers(SURE)
    found = await judged(context, stands, *both)
    assert not passes(found) and NAME not in found
    assert not any(reader.asked for reader in both)


@pytest.mark.parametrize("plain", [failing("echo", 1.0), failing("supported", 0.0)])
async def test_a_copied_clause_or_the_opposite_of_the_evidence_stops_it(context: GuardContext, plain: Says) -> None:
    assert not passes(await judged(context, plain, *readers(SURE)))


@pytest.mark.parametrize("doubting", READERS)
async def test_no_reader_outweighs_the_failure_of_the_other(context: GuardContext, doubting: str) -> None:
    def both(value: float) -> list[Says]:
        return [
            Says(name, passed=name != doubting, value=value if name == doubting else 0.996, detail="So.", costly=True)
            for name in READERS
        ]

    assert not passes(await judged(context, *both(0.45)))


async def test_what_no_reader_could_read_is_not_weighed(context: GuardContext) -> None:
    unread = [Says("opposes", value=SURE, costly=True), Says("grounded", value=0.5, costly=True)]
    found = await judged(context, failing("supported"), *unread)
    assert not passes(found) and NAME not in found


async def test_a_reply_that_cannot_be_weighed_costs_no_reader(context: GuardContext) -> None:
    both = readers(SURE)
    await judged(context, failing("supported"), *both, text=VOTE.text)
    assert not any(reader.asked for reader in both)


async def test_sentences_on_file_are_not_weighed(context: GuardContext) -> None:
    found = await judged(context, failing("supported"), *readers(SURE), text=VOTE.text)
    assert not passes(found) and found["supported"].hard and NAME not in found


async def test_what_no_reader_could_judge_is_not_weighed(context: GuardContext) -> None:
    found = await judged(context, *readers(0.0, detail="Not judged: the judge is away."))
    assert not passes(found) and NAME not in found


async def test_evidence_in_another_language_is_not_weighed(context: GuardContext) -> None:
    abroad = replace(context, evidence=(VOTE.model_copy(update={"language": "es"}),))
    found = await judged(abroad, failing("supported"), *readers(SURE))
    assert not passes(found) and NAME not in found


async def test_the_larger_model_has_weights_and_a_limit_of_its_own(context: GuardContext) -> None:
    checks = [failing("overclaim"), *readers(0.8)]
    (with_it,) = await Guard(checks, Weighing(0.6, 0.7, frozenset({"en"}))).judge([FREE], context)
    (without,) = await Guard(checks, Weighing(0.6, 0.7, frozenset({"es"}))).judge([FREE], context)
    assert with_it.checks[-1].value != without.checks[-1].value
    assert (with_it.checks[-1].threshold, without.checks[-1].threshold) == (0.7, 0.6)


def test_no_failure_speaks_for_a_reply_and_no_reader_against_what_it_is_sure_of() -> None:
    assert set(shipped_weights()) == {"reread", "layers"}
    for weights in shipped_weights().values():
        assert set(weights.failures) == set(FLAGS) and all(weight <= 0 for weight in weights.failures.values())
        assert set(weights.readers) == {*READERS, WEAKEST} and all(weight >= 0 for weight in weights.readers.values())


@pytest.mark.parametrize("torn", ["[reread]\nbias = 1.2", "[reread", None])
def test_damaged_weights_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, torn: str | None) -> None:
    (tmp_path / "data").mkdir()
    if torn is not None:
        (tmp_path / "data" / "weighing.toml").write_text(torn, encoding="utf-8")
    monkeypatch.setattr("pipeline.guard.weighing.files", lambda _room: tmp_path)
    with pytest.raises(WeightsError, match=r"weights of checks.*weighing\.toml.*install Rejoinder again"):
        shipped_weights.__wrapped__()


async def test_the_shipped_guard_weighs_what_the_head_has_read(context: GuardContext) -> None:
    async with open_drafting_guard(Settings()) as guard:
        checks = await guard.check("Women deserve an equal say in politics, as all their neighbours do.", context)
    overall = checks[-1]
    limits = Settings().guard
    assert overall.name == NAME and overall.passed
    assert overall.threshold in (limits.min_overall, limits.reread_min_overall)
