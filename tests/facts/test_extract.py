"""Facts of one text."""

from holdfast.facts import Fact, Kind, extract


def test_a_text_gives_its_names_and_then_its_lines_each_once() -> None:
    text = (
        "You must not edit src/app.py. We chose parse_url over src/app.py.\n== 3 passed in 0.1s =="
    )
    assert extract(text) == (
        Fact(Kind.PATH, "src/app.py"),
        Fact(Kind.IDENTIFIER, "parse_url"),
        Fact(Kind.NUMBER, "0.1s"),
        Fact(Kind.CONSTRAINT, "You must not edit src/app.py"),
        Fact(Kind.DECISION, "We chose parse_url over src/app.py"),
        Fact(Kind.TEST, "3 passed in 0.1s"),
    )


def test_an_empty_text_has_no_facts() -> None:
    assert extract("") == ()
