"""A predicate and a negation are looked for where the pack's word order has them."""

from __future__ import annotations

import pytest

from core.settings import GuardSettings
from pipeline.guard.material import GuardContext, material
from pipeline.guard.stance import takes_stance
from pipeline.languages import pack
from tests.factories import make_post


def passes(text: str, language: str) -> bool:
    context = GuardContext(post=make_post(), language=language)
    return takes_stance(material(text, context), context, GuardSettings()).passed


@pytest.mark.parametrize(
    "text",
    [
        "Musulmanak arriskutsuak dira.",
        "Arriskutsuak dira musulmanak.",
        "Etorkinak oso bortitzak dira, eta eskubideak dituzte.",
        "Emakumeek ez dute eskubiderik.",
        "Emakumeek eskubiderik ez dute.",
        "Emakumeek ez dute errespeturik merezi.",
        "Ados nago zurekin, eskubideak garrantzitsuak dira.",
    ],
)
def test_hostile_basque_fails_wherever_its_predicate_stands(text: str) -> None:
    assert not passes(text, "eu")


@pytest.mark.parametrize(
    "text",
    [
        "Musulmanak ez dira arriskutsuak.",
        "Musulmanak arriskutsuak ez dira.",
        "Ez dira arriskutsuak musulmanak.",
        "Arriskutsuak ez dira musulmanak.",
        "Emakumeek eskubide berdinak dituzte.",
        "Ez nago ados.",
        "Ados ez nago horrekin, ez da egia.",
        "Pertsona guztiek errespetua merezi dute.",
    ],
)
def test_basque_that_denies_or_affirms_passes(text: str) -> None:
    assert passes(text, "eu")


def test_english_looks_behind_the_group_only() -> None:
    assert pack("en").order.predicate == "after"
    assert passes("Attacks by criminals on women are wrong.", "en")
    assert not passes("Women are dangerous, with all due respect.", "en")
