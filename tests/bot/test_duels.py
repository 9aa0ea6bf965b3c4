from __future__ import annotations

from bot.duels import duel_results, duelling_replies
from core.domain import Duel
from tests.factories import make_draft


def test_each_duel_is_told_with_its_scores_in_both_orders_and_who_won() -> None:
    duels = (
        Duel(first="One.", second="Two.", in_order=(7, 5.5), turned=(6, 6)),
        Duel(first="One.", second="Three.", in_order=(8.1, 2.2), turned=(2.2, 8.1)),
        Duel(first="Two.", second="Three.", in_order=(3, 4)),
    )
    draft = make_draft(text="Two.").model_copy(update={"duels": duels})
    assert duelling_replies(draft) == (("1", "One."), ("2, the draft", "Two."), ("3", "Three."))
    assert duel_results(draft) == (
        ("1 – 2", "7 to 5.5, in the other order 6 to 6: 1 wins"),
        ("1 – 3", "8.1 to 2.2, in the other order 2.2 to 8.1: a tie"),
        ("2 – 3", "3 to 4: 3 wins"),
    )


def test_a_draft_without_duels_has_none_to_tell() -> None:
    assert duelling_replies(make_draft()) == ()
    assert duel_results(make_draft()) == ()
