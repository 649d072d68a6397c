"""Claims: names, places and rules weigh more than talk, in the languages that users write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.claims import LASTS, claim


@pytest.mark.parametrize(
    "sentence",
    [
        "My name is Ines Calloway.",
        "I'm Ruth and I look after the mill.",
        "Ich heiße Greta Voss.",
        "Soy Pilar Montes, dirijo la tienda.",
        "Mon chat s'appelle Grisou.",
        "我叫林晓，在苏州工作。",
        "The main branch is called harvest.",
        "The queue is named parcels.",
        "Never push to the main branch.",
        "Guests must not be photographed.",
        "Please always answer in French.",
        "Nobody else may change the plan.",
        "Rechnungen dürfen niemals per Mail verschickt werden.",
        "Antworte immer auf Deutsch.",
        "Responde siempre en español.",
        "No ofrezcas nunca la habitación siete.",
        "回答不要超过三句话。",
        "From now on write times in UTC.",
        "I prefer metric units.",
        "The settings are in /etc/mill/grain.toml.",
        "It listens on port 8443.",
        "The page is https://mill.example/panel.",
        "We open at 6:30.",
        "The tides: https://mill.example/tides?y=2027",
        "A ticket costs 18 euros.",
        "Write to ada@mill.example.",
        "The inspector is Frau Edda Brinkmann.",
    ],
)
def test_what_holds_beyond_its_turn_has_a_claim(sentence: str) -> None:
    assert claim(sentence) >= LASTS


@pytest.mark.parametrize(
    "sentence",
    [
        "What is my name?",
        "Should I never push to the main branch?",
        "It must have been like this since spring.",
        "I never liked that part of it.",
        "It always takes longer than one thinks.",
        "My colleague thinks that it has to do with the weather.",
        "The boats can leave now.",
        "Das glaube ich nicht.",
        "Yo no lo creo.",
        "以前都很好。",
    ],
)
def test_questions_and_talk_have_none(sentence: str) -> None:
    assert claim(sentence) < LASTS


def test_more_of_what_lasts_makes_a_stronger_claim() -> None:
    named = claim("I'm Ines Calloway.")
    assert named > claim("It listens on port 8443.") > claim("Nice weather today.")


@given(st.text())
def test_any_text_has_a_claim(text: str) -> None:
    assert claim(text) >= 0
