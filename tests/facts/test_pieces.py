"""Whether something stands inside a piece of text."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts.pieces import Pieces, stands

pieces = st.lists(st.text(alphabet="ab.", min_size=1, max_size=6).map(str.encode), max_size=12)


@given(pieces, st.text(alphabet="ab.", min_size=1, max_size=4).map(str.encode))
def test_a_piece_holds_what_searching_each_of_them_would_find(
    texts: list[bytes], wanted: bytes
) -> None:
    assert (wanted in Pieces(texts)) == any(stands(text, wanted, len(text)) for text in texts)


def test_a_part_of_a_word_does_not_stand_in_a_text() -> None:
    text = b"myapp.py app.pyc app.py"
    assert stands(text, b"app.py", len(text))
    assert not stands(text, b"app.py", len(text) - 1)
    assert stands(text, b".pyc", len(text))


def test_nothing_stands_in_no_pieces() -> None:
    assert b"a" not in Pieces([])


def test_only_bytes_can_stand_in_a_piece() -> None:
    assert "a" not in Pieces([b"ab"])
