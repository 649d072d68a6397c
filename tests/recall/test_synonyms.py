"""Words that stand for each other in a loose match."""

from holdfast.recall.term_index import synonyms_of


def test_irregular_forms_know_each_other() -> None:
    assert "bought" in synonyms_of("buy")
    assert "buy" in synonyms_of("Bought")


def test_a_word_is_not_its_own_synonym_in_any_form() -> None:
    assert "movie" not in synonyms_of("movies")
    assert "film" in synonyms_of("movies")


def test_most_words_have_no_synonyms() -> None:
    assert synonyms_of("holdfast") == ()
