from __future__ import annotations

from kb.fusion import reciprocal_rank_fusion


def test_what_both_rankings_have_comes_before_what_one_has() -> None:
    assert reciprocal_rank_fusion([[1, 2], [3, 2]])[0] == 2


def test_scores_are_those_of_the_paper() -> None:
    # 7: 1/61; 8: 1/62 + 1/63 = 0.0320; 9: 1/63 + 1/61 = 0.0323
    assert reciprocal_rank_fusion([[7, 8, 9], [9, 5, 8]]) == [9, 8, 7, 5]


def test_a_smaller_constant_favours_first_places() -> None:
    rankings = [[1, 2, 3, 4], [5, 6, 7, 4]]
    assert reciprocal_rank_fusion(rankings)[0] == 4
    assert reciprocal_rank_fusion(rankings, k=1)[0] == 1


def test_equals_keep_the_order_in_which_they_were_met() -> None:
    assert reciprocal_rank_fusion([[4, 6], [5, 7]]) == [4, 5, 6, 7]


def test_nothing_fuses_to_nothing() -> None:
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []
