"""The arithmetic of ranking."""

import pytest

from holdfast.recall import parse
from holdfast.recall.ranking import (
    NEAR,
    Candidate,
    Posting,
    closeness,
    exact_name,
    leading,
    prior,
    rarity,
    stands,
    weigh,
)
from holdfast.recall.term_index import phrase

DAY = 86_400_000


A, B = phrase(["a"]), phrase(["b"])


def said(id_: int, *, session: int = 1, tokens: int = 10, role: int = 1, at: int = 0) -> Candidate:
    return Candidate(id_, session, id_, role, at, tokens)


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    assert rarity(1, 1000) > rarity(10, 1000) > rarity(999, 1000) > 0


def test_people_and_fresh_messages_weigh_more() -> None:
    assert prior(said(1), 0) > prior(said(1, role=3), 0) > prior(said(1, role=0), 0)
    assert prior(said(1, at=90 * DAY), 90 * DAY) > prior(said(1, at=0), 90 * DAY)
    assert prior(said(1, at=DAY), 0) == prior(said(1), 0)


def test_the_heaviest_postings_lead_and_the_newer_of_equals() -> None:
    postings = [Posting(A, 2.0, [1, 2, 3]), Posting(B, 1.0, [3, 4])]
    assert leading(postings, 3) == [3, 2, 1]


def test_a_place_is_its_session_and_position() -> None:
    assert stands(said(7, session=5).place) == (5, 7)


def test_neighbors_share_a_word_and_other_sessions_do_not() -> None:
    scores = weigh([Posting(A, 1.0, [10])], [said(10), said(11, session=2)])
    beside = {stands(place) for place in scores}
    assert beside == {(1, position) for position in range(7, 14)}
    by_distance = [scores[said(10 + distance).place] for distance in range(4)]
    assert by_distance == sorted(by_distance, reverse=True)


def test_without_neighbors_only_what_holds_a_word_counts() -> None:
    assert list(weigh([Posting(A, 1.0, [10])], [said(10)], ())) == [said(10).place]


def test_two_words_side_by_side_beat_one_word_twice() -> None:
    postings = [Posting(A, 1.0, [10, 20, 21]), Posting(B, 1.0, [11])]
    scores = weigh(postings, [said(10), said(11), said(20), said(21)], NEAR)
    assert scores[said(10).place] > scores[said(20).place]


def test_a_shorter_message_wins_with_the_same_word() -> None:
    scores = weigh([Posting(A, 1.0, [10, 50])], [said(10, tokens=10), said(50, tokens=400)])
    assert scores[said(10).place] > scores[said(50).place]


def test_unknown_lengths_count_as_the_mean() -> None:
    scores = weigh([Posting(A, 1.0, [10, 50])], [said(10, tokens=0), said(50, tokens=0)])
    assert scores[said(10).place] == scores[said(50).place]


def test_words_close_together_and_verbatim_fit_better() -> None:
    terms = parse("brown fox").terms
    verbatim = closeness("a Brown Fox ran", terms, "brown fox")
    near = closeness("a fox, brown, ran", terms, "brown fox")
    far = closeness("a fox " + "and a dog " * 30 + "brown", terms, "brown fox")
    assert verbatim > near > far > closeness("a bear", terms, "brown fox")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("maxRetries", "maxRetries"),
        (" --base ", "--base"),
        ("VERSION", "VERSION"),
        ("_sessionManager", "_sessionManager"),
        ("retries", ""),
        ("Retries", ""),
        ("two words", ""),
        ("", ""),
    ],
)
def test_a_name_is_one_word_with_capitals_inside_or_signs(query: str, name: str) -> None:
    assert exact_name(query) == name


def test_a_name_letter_for_letter_beats_the_same_letters_in_another_case() -> None:
    (term,) = parse("maxRetries").terms
    near = closeness("maxretries maxretries maxretries", [term], "maxretries", "maxRetries")
    same = closeness("a long line that ends in maxRetries", [term], "maxretries", "maxRetries")
    assert same > near
