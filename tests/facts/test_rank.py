"""The order in which facts are needed."""

from holdfast.facts import Evidence, Fact, Kind, rank


def evidence(text: str, heat: float = 1.0) -> Evidence:
    return Evidence(Fact(Kind.IDENTIFIER, text), 0, 0, heat)


def order(*facts: Evidence, tail: str = "", focus: str = "") -> list[str]:
    return [each.fact.text for each in rank(facts, tail=tail, focus=focus)]


def test_the_hotter_fact_comes_first() -> None:
    assert order(evidence("cold_name", 1), evidence("warm_name", 2)) == ["warm_name", "cold_name"]


def test_of_equal_heat_the_shorter_fact_comes_first() -> None:
    long = "a_name_that_is_much_longer_than_the_other_one"
    assert order(evidence(long), evidence("short_name")) == ["short_name", long]


def test_what_the_tail_refers_to_counts_more() -> None:
    facts = (evidence("cold_name", 1.2), evidence("tail_name", 1.0))
    assert order(*facts, tail="now back to tail_name") == ["tail_name", "cold_name"]


def test_what_the_focus_names_counts_most() -> None:
    facts = (evidence("warm_name", 3.0), evidence("db_schema", 1.0))
    assert order(*facts, focus="the Schema of it") == ["db_schema", "warm_name"]


def test_a_focus_without_words_changes_nothing() -> None:
    facts = (evidence("warm_name", 3.0), evidence("db_schema", 1.0))
    assert order(*facts, focus="is it") == ["warm_name", "db_schema"]
