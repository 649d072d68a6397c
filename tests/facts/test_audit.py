"""Proof that facts were kept."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts import Audit, Evidence, Fact, Kind, Presence, audit
from holdfast.transcript import Role

texts = st.text(alphabet="ab_./ -é", max_size=40)


@given(texts, texts)
def test_presence_says_what_searching_the_text_would_say(text: str, fact: str) -> None:
    assert (fact in Presence(text)) == (fact in text)


@given(texts, st.integers(0, 40), st.integers(0, 40))
def test_every_piece_of_a_text_is_present(text: str, start: int, end: int) -> None:
    assert text[start:end] in Presence(text)


def test_only_text_can_be_present() -> None:
    assert 7 not in Presence("7")


def test_an_audit_counts_facts_before_and_after_the_ledger() -> None:
    evidence = [
        Evidence(Fact(Kind.IDENTIFIER, name), 1, 0, 0, frozenset({Role.USER}))
        for name in ("in_summary", "in_ledger", "nowhere")
    ]
    final = "in_summary\nNames: in_ledger"
    assert audit(evidence, "kept in_summary", final) == Audit(3, 1, 2)
