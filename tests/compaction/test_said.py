"""User words: what lasts before what is new, whole messages, within a budget."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.said import quote, standing
from holdfast.summary import Lasting


def test_quotes_are_whole_messages_in_the_order_given() -> None:
    assert quote(["newest", "older", "newest"], 100, len) == ("newest", "older")


def test_a_message_that_does_not_fit_makes_room_for_one_that_does() -> None:
    assert quote(["x" * 50, "short"], 20, len) == ("short",)


def test_a_message_too_long_to_quote_gives_an_excerpt_that_says_so() -> None:
    (excerpt,) = quote(["word " * 400], 700, len)
    assert excerpt.startswith("word word")
    assert excerpt.endswith("[... 1400 characters more]")


def test_the_strongest_claims_are_quoted_first_and_shown_in_the_order_said() -> None:
    said = [Lasting("weak" * 3, 2), Lasting("rule", 6), Lasting("name", 8)]
    assert standing(said, 12, len) == ("rule", "name")
    assert standing(said, 100, len) == ("weakweakweak", "rule", "name")


def test_among_equals_the_oldest_stay() -> None:
    said = [Lasting(f"word {number}", 4) for number in range(9)]
    assert standing(said, 3 * 8, len) == ("word 0", "word 1", "word 2")


def test_a_quote_that_does_not_fit_gives_its_statements() -> None:
    said = [Lasting("My name is Ada Quist. The weather is fine today. Never push to main.", 8)]
    assert standing(said, 50, len) == ("My name is Ada Quist.", "Never push to main.")


def test_what_a_longer_quote_holds_is_not_quoted_again() -> None:
    said = [Lasting("I am Ada. Never push.", 8), Lasting("Never push.", 4)]
    assert standing(said, 100, len) == ("I am Ada. Never push.",)


@given(st.lists(st.builds(Lasting, st.text(min_size=1), st.integers(0, 12))), st.integers(0, 300))
def test_standing_words_never_weigh_more_than_their_budget(
    said: list[Lasting], budget: int
) -> None:
    chosen = standing(said, budget, len)
    assert sum(len(words) + 2 for words in chosen) <= budget
    assert len(set(chosen)) == len(chosen)
