from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.domain import Route, TargetGroup
from core.settings import TriageSettings
from pipeline import routing_rules
from pipeline.heads import Scores

SETTINGS = TriageSettings(dismiss_below=0.05, doubt_below=0.4)
REAL = Path(__file__).parents[3] / "../shared/data/flags/real_posts.jsonl"


def scores(hate: float = 0.9, counter: float = 0.0) -> Scores:
    return Scores(dict.fromkeys(TargetGroup, 0.1), hate, counter)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I will kill you all", "violence"),
        ("we should shoot them at the border", "violence"),
        ("Kill all Zorblaxians", "violence"),
        ("k1ll th3m", "violence"),
        ("k i l l them all", "violence"),
        ("let's burn down their mosque", "violence"),
        ("Zorblaxians should be shot", "violence"),
        ("they all deserve to die", "violence"),
        ("Death to all Zorblaxians!", "violence"),
        ("hope you get raped", "violence"),
        ("the only good Zorblaxian is a dead Zorblaxian", "violence"),
        ("I know where you live", "violence"),
        ("put a bullet in their heads", "violence"),
        ("Hay que matarlos a todos", "violence"),
        ("te voy a matar", "violence"),
        ("Muerte a los zorblaxianos", "violence"),
        ("Bisogna ammazzarli tutti", "violence"),
        ("dovrebbero morire tutti", "violence"),
        ("Il faut les tuer tous", "violence"),
        ("je vais te tuer", "violence"),
        ("Man sollte sie alle erschießen", "violence"),
        ("ich bringe dich um", "violence"),
        ("Die gehören alle vergast", "violence"),
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
    ],
)
def test_threats_self_harm_and_child_safety_go_to_people(text: str, name: str) -> None:
    rule = routing_rules.escalation(text)
    assert rule is not None
    assert rule.name == name


@pytest.mark.parametrize(
    "text",
    [
        "this kills me, Zorblaxians can't cook",
        "I'd kill for a pizza",
        "you are killing it",
        "kill the lights before you leave",
        "I'm sick to death of them",
        "don't shoot the messenger",
        "shoot me an email",
        "I'll shoot you a message",
        "let's hang out",
        "let's burn some calories",
        "go burn your bra",
        "Zorblaxians ruin everything, send them home",
        "they kill our jobs and rape our country",
        "Zorblaxians kill people every day",
        "he was killed by one of them",
        "nobody should be killed for their faith",
        "no one should be shot",
        "they should not be killed",
        "the death penalty is wrong",
        "I hope you learn something",
        "grooming gangs are protected by the police",
        "women die of this every year",
        "me muero de risa con los zorblaxianos",
        "los zorblaxianos nos quieren matar de hambre",
        "sto morendo dal ridere",
        "je suis mort de rire",
        "ich lach mich tot",
        "Die Zorblaxianer gehören nicht hierher",
        "Ich bringe dich nach Hause",
        "",
        "🙂",
    ],
)
def test_idioms_accusations_and_plain_hate_do_not(text: str) -> None:
    assert routing_rules.escalation(text) is None


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
    rule = routing_rules.escalation("I will kill you") if escalated else None
    decision = routing_rules.decide(rule, scores(hate, counter), SETTINGS, duplicate)
    assert decision.route is route
    assert says in decision.reason
    assert bool(decision.reason) is (route is not Route.DRAFT)


@pytest.mark.parametrize(
    "piece", ["a", "kill ", "i will ", "should be all ", "😀", ". ", "hope you a b c ", "want ", "i will just all go ",
              "may a ", "\u0430", "k.", "line them up and "],
)  # fmt: skip
def test_long_hostile_text_is_read_in_time(piece: str) -> None:
    routing_rules.escalation((piece * 20_000)[:20_000])


@pytest.mark.skipif(not REAL.exists(), reason="the flagged posts are not beside this checkout")
def test_few_of_the_real_posts_are_escalated() -> None:
    texts = [json.loads(line)["text"] for line in REAL.read_text("utf-8").splitlines()]
    share = sum(routing_rules.escalation(text) is not None for text in texts) / len(texts)
    assert 0.01 < share < 0.04
