"""Proof that facts were kept."""

import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts import Audit, Evidence, Fact, Kind, Presence, audit

texts = st.text(alphabet="ab_./ -é", max_size=40)


def searched(text: str, fact: str) -> bool:
    """Search for a fact with a pattern, between ends of words."""
    before = r"(?<![A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", fact) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"[A-Za-z0-9_]\Z", fact) else ""
    return re.search(before + re.escape(fact) + after, text) is not None


@given(texts, texts)
def test_presence_says_what_searching_the_text_would_say(text: str, fact: str) -> None:
    assert (fact in Presence(text)) == searched(text, fact)


@given(texts, st.lists(st.text(alphabet="ab_./ -é\n", max_size=12), max_size=8))
def test_facts_that_are_looked_for_together_are_missed_like_each_alone(
    text: str, facts: list[str]
) -> None:
    presence = Presence(text)
    assert list(presence.missing(facts)) == [fact for fact in facts if fact not in presence]


@given(texts, texts, texts)
def test_every_piece_of_a_text_that_stands_alone_is_present(
    before: str, fact: str, after: str
) -> None:
    assert fact in Presence(f"{before} {fact} {after}")


def test_a_part_of_a_longer_name_is_not_that_name() -> None:
    presence = Presence("load_config in src/myapp.py:3")
    assert [name in presence for name in ("load", "app.py", "myapp.py", "src/myapp")] == [
        False,
        False,
        True,
        True,
    ]


def test_only_text_can_be_present() -> None:
    assert 7 not in Presence("7")


def test_an_audit_counts_facts_before_and_after_the_ledger() -> None:
    evidence = [
        Evidence(Fact(Kind.IDENTIFIER, name), 0, 0)
        for name in ("in_summary", "in_ledger", "nowhere")
    ]
    final = "in_summary\nNames: in_ledger"
    assert audit(evidence, "kept in_summary", final) == Audit(3, 1, 2)
