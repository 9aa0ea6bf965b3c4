"""What every language pack must do: the same suite for each, whatever its level."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

import pytest
import snowballstemmer

from core.domain import Intent, TargetGroup
from core.settings import GuardSettings
from pipeline import routing_rules
from pipeline.compose import Composer, people, templates
from pipeline.grammar import two_sentences
from pipeline.guard import GuardContext, form
from pipeline.guard.echo import no_echo
from pipeline.guard.harm import no_insult
from pipeline.guard.leak import no_leak, no_refusal
from pipeline.guard.material import group_pattern, material, terms_pattern
from pipeline.guard.names import names
from pipeline.guard.numbers import numbers
from pipeline.guard.stance import takes_stance
from pipeline.guard.support import supported
from pipeline.guard.words import claim_stems, fold, function_words
from pipeline.languages import DEFAULT, LanguagePack, Level, pack, packs
from pipeline.prompt import language_name
from pipeline.strategies import tidy
from tests.factories import make_evidence, make_post

STATEMENTS = {
    "en": "The Universal Declaration of Human Rights says that all people are born free and equal in dignity.",
    "es": "La Declaración Universal de Derechos Humanos dice que todas las personas nacen libres e iguales.",
    "it": "La Dichiarazione universale dei diritti umani dice che tutte le persone nascono libere e uguali in dignità.",
    "fr": "La Déclaration universelle des droits de l'homme dit que toutes les personnes naissent libres et égales.",
    "de": "Die Allgemeine Erklärung der Menschenrechte sagt, dass alle Menschen frei und gleich geboren sind.",
    "eu": "Giza Eskubideen Aldarrikapen Unibertsalak dio pertsona guztiak aske eta berdin jaiotzen direla.",
}
"""One sentence of evidence for each language."""
SAID_OF_A_GROUP = {
    "en": ("Muslims are dangerous.", "Muslims are not dangerous."),
    "es": ("Los musulmanes son peligrosos.", "Los musulmanes no son peligrosos."),
    "it": ("I musulmani sono pericolosi.", "I musulmani non sono pericolosi."),
    "fr": ("Les musulmans sont dangereux.", "Les musulmans ne sont pas dangereux."),
    "de": ("Muslime sind gefährlich.", "Muslime sind nicht gefährlich."),
    "eu": ("Musulmanak arriskutsuak dira.", "Musulmanak ez dira arriskutsuak."),
}
"""A generalisation about a group, and its denial."""
BEGINS_WITH_A_COUNTRY = {
    "en": "Germany says so.",
    "es": "Alemania lo dice.",
    "it": "Germania lo dice.",
    "fr": "Allemagne le dit.",
    "de": "Deutschland sagt es.",
    "eu": "Alemaniak hala dio.",
}
"""A sentence whose first word is a country."""
SENDS_TO_THE_FACTS = re.compile(
    r"\b(?:before|records?|facts?|antes de|hechos|datos|prima di|fatti|dati|aurretik|egia\w*|datu\w*|bevor|fakten|"
    r"daten|avant de|faits|données)\b",
    re.IGNORECASE,
)
"""Words that lecture: "look at the record first", "before judging, check the facts"."""
CHECKS = (
    form.at_most_two_sentences,
    form.same_language,
    no_refusal,
    no_leak,
    no_echo,
    takes_stance,
    numbers,
    names,
    supported,
    no_insult,
)
"""What a pack's data decides."""

each_language = pytest.mark.parametrize("language", sorted(packs()))


def patterns(entry: LanguagePack) -> Iterator[str]:
    """Yield what is searched in folded text."""
    stance = entry.stance.model_dump().values()
    escalation = (*entry.escalation.idioms, *chain(*entry.escalation.patterns.values()))
    yield from chain(*stance, entry.conjunctions, entry.numbers.percent, entry.refusals, escalation)


def test_the_default_comes_first_and_is_the_only_full_one() -> None:
    assert next(iter(packs())) == DEFAULT
    assert [code for code, entry in packs().items() if entry.level is Level.FULL] == [DEFAULT]


def test_every_pack_has_its_samples_here() -> None:
    assert set(STATEMENTS) == set(SAID_OF_A_GROUP) == set(BEGINS_WITH_A_COUNTRY) == set(packs())


@each_language
def test_the_name_is_used_and_the_stemmer_known(language: str) -> None:
    assert language_name(language) == pack(language).name
    assert pack(language).stemmer in snowballstemmer.algorithms()


@each_language
def test_patterns_are_written_for_folded_text(language: str) -> None:
    for pattern in patterns(pack(language)):
        assert not any(unicodedata.combining(char) for char in unicodedata.normalize("NFKD", pattern)), pattern
        assert not re.search(r"(?<!\\)[A-ZÀ-Þß]", pattern), pattern


@each_language
def test_no_pattern_matches_nothing(language: str) -> None:
    entry = pack(language)
    expanded = chain(*(entry.escalation.expanded(rule.name) for rule in routing_rules.rules()))
    for pattern in (*patterns(entry), *expanded):
        assert not re.search(pattern, ""), pattern


@each_language
def test_every_escalation_rule_is_answered_and_no_other(language: str) -> None:
    escalation = pack(language).escalation
    assert set(escalation.patterns) == {rule.name for rule in routing_rules.rules()}
    for name in escalation.patterns:
        assert not re.search(r"\{[a-z]", "".join(escalation.expanded(name)))


@each_language
def test_there_are_function_words_and_a_vocabulary_of_rights(language: str) -> None:
    assert function_words(language)
    assert claim_stems(language)


@each_language
def test_every_group_is_recognised_by_its_terms(language: str) -> None:
    for terms in pack(language).groups.values():
        for term in terms:
            assert group_pattern().search(fold(term.replace("*", ""))), term


@each_language
def test_abbreviations_can_be_written_as_one_word(language: str) -> None:
    grammar = two_sentences(Intent.INFORMATIVE, 500, language)
    for abbreviation in pack(language).abbreviations:
        assert " " not in abbreviation
        assert f'"{abbreviation}"' in grammar
    assert all(word == word.lower() and not word.endswith(".") for word in pack(language).unfinished)


@each_language
def test_its_words_are_written_in_letters_that_the_grammar_allows(language: str) -> None:
    letters = re.compile(r"[a-zA-ZÀ-ÖØ-öø-ɏ]+")
    text = " ".join(term for terms in pack(language).groups.values() for term in terms)
    assert all(letters.fullmatch(word) for word in re.findall(r"[^\W\d_]+", text))


@each_language
def test_there_are_three_templates_for_every_intent_and_group(language: str) -> None:
    for intent in Intent:
        for group in TargetGroup:
            listed = templates(language, intent, group)
            assert len(set(listed)) == len(listed) >= 3
            assert all(template.count("{evidence}") == 1 for template in listed)
            assert people(language, group)


@each_language
def test_no_template_sends_the_author_to_the_facts(language: str) -> None:
    listed = chain(*(texts for by_group in pack(language).templates.values() for texts in by_group.values()))
    assert [text for text in listed if SENDS_TO_THE_FACTS.search(text)] == []


@each_language
def test_what_is_composed_passes_every_check(language: str) -> None:
    evidence = make_evidence(text=STATEMENTS[language], groups=tuple(TargetGroup), language=language)
    post = make_post(text="zorblaxians ruin everything and should leave our town")
    for group in TargetGroup:
        for intent in Intent:
            context = GuardContext(post=post, language=language, intent=intent, evidence=(evidence,), groups=(group,))
            for text in Composer(GuardSettings()).variants(context, 1):
                reply = material(text, context)
                results = [check(reply, context, GuardSettings()) for check in CHECKS]
                assert [result.detail for result in results if not result.passed] == [], text


@each_language
def test_a_generalisation_fails_and_its_denial_takes_a_stance(language: str) -> None:
    context = GuardContext(post=make_post(), language=language)

    def passes(text: str) -> bool:
        return takes_stance(material(text, context), context, GuardSettings()).passed

    assert [passes(text) for text in SAID_OF_A_GROUP[language]] == [False, True]


@each_language
def test_a_country_at_the_start_of_a_sentence_is_a_name(language: str) -> None:
    context = GuardContext(post=make_post(), language=language)
    reply = material(BEGINS_WITH_A_COUNTRY[language], context)
    assert not names(reply, context, GuardSettings()).passed


@each_language
def test_no_common_word_is_taken_for_a_country(language: str) -> None:
    entry = pack(language)
    countries = re.compile(terms_pattern((*pack(DEFAULT).countries, *entry.countries)))
    assert [word for word in (*entry.words.function, *entry.words.claim) if countries.fullmatch(fold(word))] == []


@each_language
def test_a_label_before_a_reply_is_dropped(language: str) -> None:
    for label in pack(language).reply_labels:
        assert tidy(f"{label.capitalize()}: zorblax.") == "zorblax."


@each_language
def test_a_domain_with_its_dot_spelled_out_is_a_link(language: str) -> None:
    context = GuardContext(post=make_post(), language=language)
    reply = material(f"example ({pack(language).spelled_dot}) org", context)
    assert not form.no_links(reply, context, GuardSettings()).passed
