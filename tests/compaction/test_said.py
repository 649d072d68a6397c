"""User words: quoted whole, newest first, within a budget."""

from holdfast.compaction.said import quote


def test_quotes_are_whole_messages_in_the_order_given() -> None:
    assert quote(["newest", "older", "newest"], 100, len) == ("newest", "older")


def test_a_message_that_does_not_fit_makes_room_for_one_that_does() -> None:
    assert quote(["x" * 50, "short"], 20, len) == ("short",)


def test_a_message_too_long_to_quote_gives_an_excerpt_that_says_so() -> None:
    (excerpt,) = quote(["word " * 400], 700, len)
    assert excerpt.startswith("word word")
    assert excerpt.endswith("[... 1400 characters more]")
