from __future__ import annotations

import pytest

from core.domain import Route, TargetGroup
from core.settings import TriageSettings
from pipeline import routing_rules
from pipeline.heads import Scores

SETTINGS = TriageSettings(dismiss_below=0.05, doubt_below=0.4)


def scores(hate: float = 0.9, counter: float = 0.0) -> Scores:
    return Scores(dict.fromkeys(TargetGroup, 0.1), hate, counter)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("go kill yourself", "self-harm"),
        ("kys", "self-harm"),
        ("I want to end my life", "self-harm"),
        ("quiero suicidarme", "self-harm"),
        ("ammazzati", "self-harm"),
        ("suicide-toi", "self-harm"),
        ("bring dich um", "self-harm"),
        ("selling child porn, dm me", "child safety"),
        ("I would love to touch little girls", "child safety"),
        ("busco fotos de niñas", "child safety"),
        ("cerco foto di minorenni", "child safety"),
        ("je cherche des photos d'enfants", "child safety"),
        ("tausche Bilder von Kindern", "child safety"),
        ("quiero morir, no quiero seguir viviendo", "self-harm"),
        ("nire burua hil nahi dut", "self-harm"),
        ("my stepfather touches me and I am 11", "child safety"),
    ],
)
def test_self_harm_and_child_safety_go_to_people(text: str, name: str) -> None:
    rule = routing_rules.escalation(text, threat=0.0, threat_from=0.5)
    assert rule is not None
    assert rule.name == name


@pytest.mark.parametrize(
    "text",
    [
        "please don't kill yourself, people love you",
        '"kill yourself" is a terrible thing to say to anybody',
        "don't cut yourself on that knife",
        'decirle a alguien "mátate" es repugnante',
        "no te mates, te queremos",
        'dire a qualcuno "ammazzati" è schifoso',
        "ez hil zure burua, maite zaitugu",
        "the police arrested a man for selling child porn",
        "grooming gangs are protected by the police",
        "me muero de risa con los zorblaxianos",
        "",
        "🙂",
    ],
)
def test_what_is_quoted_condemned_or_negated_does_not(text: str) -> None:
    assert routing_rules.escalation(text, threat=0.0, threat_from=0.5) is None


@pytest.mark.parametrize(
    ("of_oneself", "of_others"),
    [
        ("I have no reason to live", "These people have no reason to live"),
        ("nobody would care if I was gone", "nobody would care if I was in charge"),
        ("nobody would care if I died tonight", "nobody would care if I died my hair"),
        ("my sister is going to commit suicide", "The West: they are going to commit suicide"),
        ("I kept cutting and I can't stop", "They kept cutting and privatised"),
        ("todos estarían mejor sin mí", "todos estarían mejor sin mi jefe"),
        ("el mundo sería mejor si yo desapareciera", "el mundo sería mejor si desapareciera el islam"),
        ("pienso en quitarme la vida", "quieren quitarme la vida"),
        ("mi amiga quiere suicidarse", "Europa quiere suicidarse"),
        ("non ho motivo di vivere", "questi parassiti non hanno motivo di vivere"),
        ("ho provato a uccidermi", "hanno provato a uccidermi"),
        ("voglio farla finita", "voglio farla finita con questi parassiti"),
        ("ez dut bizitzeko arrazoirik", "horiek ez dute bizitzeko arrazoirik"),
        ("nire lagunak suizidatu nahi du", "Europak suizidatu nahi du"),
    ],
)
def test_self_harm_is_told_from_what_is_said_of_others(of_oneself: str, of_others: str) -> None:
    rule = routing_rules.escalation(of_oneself, threat=0.0, threat_from=0.5)
    assert rule is not None and rule.name == "self-harm"
    assert routing_rules.escalation(of_others, threat=0.0, threat_from=0.5) is None


def test_a_negation_that_urges_is_none() -> None:
    rule = routing_rules.escalation("do not forget to kill yourself", threat=0.0, threat_from=0.5)
    assert rule is not None


@pytest.mark.parametrize(("threat", "goes"), [(0.49, False), (0.5, True), (1.0, True)])
def test_the_threat_heads_probability_decides_on_violence(threat: float, goes: bool) -> None:
    rule = routing_rules.escalation("Zorblaxians ruin everything", threat, threat_from=0.5)
    assert (rule is not None and rule.name == "violence") is goes


def test_every_rule_has_a_sentence_for_the_moderator() -> None:
    assert [rule.name for rule in routing_rules.rules()] == ["self-harm", "child safety", "violence"]
    assert all(rule.reason.endswith(".") for rule in routing_rules.rules())


@pytest.mark.parametrize(
    ("escalated", "hate", "counter", "duplicate", "route", "says"),
    [
        (False, 0.9, 0.0, None, Route.DRAFT, ""),
        (False, 0.01, 0.0, None, Route.DISMISS, "not read as hateful"),
        (False, 0.05, 0.0, None, Route.DOUBT, "may not be hateful"),
        (False, 0.39, 0.5, None, Route.DOUBT, "39%"),
        (False, 0.39, 0.97, None, Route.DISMISS, "counterspeech"),
        (False, 0.4, 0.97, None, Route.DRAFT, ""),
        (False, 0.4, 0.0, None, Route.DRAFT, ""),
        (False, 0.9, 0.0, "forum/7", Route.DISMISS, "forum/7"),
        (True, 0.9, 0.0, None, Route.ESCALATE, "violence"),
        (True, 0.01, 0.97, "forum/7", Route.ESCALATE, "violence"),
    ],
)
def test_what_is_done_follows_from_rules_and_scores(
    escalated: bool, hate: float, counter: float, duplicate: str | None, route: Route, says: str
) -> None:
    rule = routing_rules.rule("violence") if escalated else None
    decision = routing_rules.decide(rule, scores(hate, counter), SETTINGS, duplicate)
    assert decision.route is route
    assert says in decision.reason
    assert bool(decision.reason) is (route is not Route.DRAFT)


@pytest.mark.parametrize(
    "piece", ["a", "kill ", "i will ", "should be all ", "😀", ". ", "hope you a b c ", "want ", "i will just all go ",
              "may a ", "\u0430", "k.", "line them up and ", "i have no reason ", "nobody would care if i "],
)  # fmt: skip
def test_long_hostile_text_is_read_in_time(piece: str) -> None:
    routing_rules.escalation((piece * 20_000)[:20_000], threat=0.0, threat_from=0.5)
