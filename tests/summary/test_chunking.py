import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.brief import Piece
from holdfast.summary.chunking import SAFETY, allot, answer_tokens, chunks, fits, halves
from tests.summary.material import count


def spoken(found: tuple[str, ...]) -> str:
    """Return the words in chunks without their labels."""
    return re.sub(r"(^|\n\n)\[\w+ \d \w+(, part \d+)?\]\n", "", "\n\n".join(found))


def pieces() -> st.SearchStrategy[Piece]:
    text = st.text(max_size=40) | st.builds(
        lambda word, times: word * times, st.text(min_size=1, max_size=9), st.integers(1, 900)
    )
    return st.builds(Piece, st.just("1 user"), text)


@given(st.lists(st.lists(pieces(), min_size=1, max_size=3), max_size=4), st.integers(24, 400))
def test_every_chunk_fits_and_no_letter_is_lost(groups: list[list[Piece]], room: int) -> None:
    found = chunks(groups, "0a0b0c0d", room, count)
    assert all(count(each) <= room for each in found)
    assert spoken(found) == "".join(piece.text for group in groups for piece in group)


def test_groups_stay_together_where_they_fit() -> None:
    groups = [[Piece("1 a", "x" * 40), Piece("2 b", "y" * 40)], [Piece("3 c", "z" * 40)]]
    first, second = chunks(groups, "m", 30, count)
    assert first == "[m 1 a]\n" + "x" * 40 + "\n\n[m 2 b]\n" + "y" * 40
    assert second == "[m 3 c]\n" + "z" * 40


def test_a_group_that_does_not_fit_is_parted_between_its_pieces() -> None:
    group = [Piece("1 a", "x" * 60), Piece("2 b", "y" * 60)]
    assert len(chunks([group], "m", 22, count)) == 2


def test_labels_that_differ_in_their_number_alone_are_weighed_once() -> None:
    asked: list[str] = []

    def noted(text: str) -> int:
        asked.append(text)
        return count(text)

    groups = [[Piece(f"{number} user", "x" * 40)] for number in (1, 2, 10, 11)]
    assert len(chunks(groups, "m", 400, noted)) == 1
    assert [text for text in asked if text.startswith("[")] == ["[m 1 user]\n", "[m 10 user]\n"]


def test_a_huge_piece_is_parted_at_words() -> None:
    text = " ".join(f"word{index}" for index in range(2_000))
    found = chunks([[Piece("1 user", text)]], "m", 100, count)
    assert found[0].startswith("[m 1 user, part 1]\nword0 word1 ")
    assert spoken(found) == text


def test_dense_text_in_the_middle_of_light_text_is_parted_too() -> None:
    text = "a" * 2_000 + "漢" * 2_000 + "a" * 2_000
    found = chunks([[Piece("1 user", text)]], "m", 80, count)
    assert spoken(found) == text
    assert max(map(count, found)) <= 80


@given(st.integers(0, 10_000_000), st.integers(1, 12_000), st.integers(0, 2_000))
def test_what_is_allotted_fits_with_a_quarter_to_spare(
    window: int, wanted: int, overhead: int
) -> None:
    room = allot(window, wanted, overhead, least=50)
    if room is None:
        assert window < SAFETY * (overhead + max(window // 8, 32)) + 2.55 * 51 + 1 or wanted < 50
        return
    assert 50 <= room.budget <= wanted
    assert room.material >= min(window // 8, 32)
    assert fits(overhead + room.budget + room.material, room.budget, window)


def test_an_answer_may_be_a_third_longer_than_its_target() -> None:
    assert answer_tokens(1_000) == 1_300


def test_a_text_comes_in_two() -> None:
    assert halves("abc") == ("a", "bc")
