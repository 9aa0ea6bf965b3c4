from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain import Check

Judge = Callable[..., Check]


@pytest.mark.parametrize(
    "text",
    [
        "Under CEDAW, women have the right to vote and to hold public office at every level.",
        "CEDAW guarantees women the right to vote, stand for election and hold office.",
        "Everyone deserves to be treated with respect.",
        "Blaming people for who they are is wrong.",
        "What makes you think that women would do worse in this?",
        "The UN General Assembly estimated in 2024 that 16 per cent of the world's population have disabilities.",
        "It is not true that women have no business in politics.",
        "Please listen before you write women off.",
    ],
)
def test_what_the_evidence_says_and_plain_talk_of_rights_pass(judge: Judge, text: str) -> None:
    check = judge("supported", text)
    assert check.passed, check.detail


@pytest.mark.parametrize(
    "text",
    [
        "Women in parliaments write stronger budgets and waste less money on roads.",
        "Under CEDAW, every company has to pay women a bonus and free travel.",
        "Migrants pay more taxes than they receive in benefits from hospitals.",
        "Historically queens governed large empires with enormous success.",
    ],
)
def test_facts_that_no_evidence_gives_fail(judge: Judge, text: str) -> None:
    assert not judge("supported", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "CEDAW does not guarantee women the right to vote, to stand for election or to hold public office.",
        "The UN treaty against racial discrimination allows nationality laws to discriminate against any nationality.",
        "Under CEDAW, states must never guarantee women the right to vote.",
    ],
)
def test_the_opposite_of_the_evidence_fails(judge: Judge, text: str) -> None:
    check = judge("supported", text)
    assert (check.passed, check.value) == (False, 0.0)


def test_a_reply_in_another_language_than_the_evidence_cannot_state_facts(judge: Judge) -> None:
    check = judge(
        "supported", "La convención CEDAW garantiza a las mujeres cargos públicos en todos los niveles.", language="es"
    )
    assert not check.passed
    assert "“en”" in check.detail


def test_a_reply_in_another_language_may_speak_of_rights(judge: Judge) -> None:
    assert judge("supported", "Todas las personas merecen respeto.", language="es").passed


def test_use_of_the_evidence_is_measured_but_only_advice(judge: Judge, good: str) -> None:
    using, without = judge("evidence", good), judge("evidence", "Everyone deserves respect. That is only fair.")
    assert (using.value, using.passed, using.hard) == (1.0, True, False)
    assert not without.passed
