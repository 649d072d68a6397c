"""Words that stand for each other in a loose match."""

from holdfast.recall.kinship import kin


def test_irregular_forms_know_each_other() -> None:
    assert "bought" in kin("buy")
    assert "buy" in kin("Bought")


def test_a_word_is_not_its_own_kin_in_any_form() -> None:
    assert "movie" not in kin("movies")
    assert "film" in kin("movies")


def test_most_words_have_no_kin() -> None:
    assert kin("holdfast") == ()
