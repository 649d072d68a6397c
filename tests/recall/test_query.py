"""Reading queries: operators, and that any text at all is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall import All, Either, Node, Query, Term, Without, parse


def word(text: str) -> Term:
    return Term(text, (text,))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("fox", word("fox")),
        ("fox dog", All((word("fox"), word("dog")))),
        ("fox AND dog", All((word("fox"), word("dog")))),
        ("fox OR dog cat", Either((word("fox"), All((word("dog"), word("cat")))))),
        ("fox NOT dog", Without(word("fox"), word("dog"))),
        ("fox -dog -cat", Without(word("fox"), Either((word("dog"), word("cat"))))),
        ("(fox OR dog) cat", All((Either((word("fox"), word("dog"))), word("cat")))),
        ('"brown fox"', Term("brown fox", ("brown", "fox"), is_quoted=True)),
        ("“brown fox”", Term("brown fox", ("brown", "fox"), is_quoted=True)),
        ("fox*", Term("fox", ("fox",), is_prefix=True)),
        ('"lazy do"*', Term("lazy do", ("lazy", "do"), is_prefix=True, is_quoted=True)),
        ("a*", Term("a", ("a",))),
        ("东*", Term("东", ("东",), is_prefix=True)),
        ("src/main.py", Term("src/main.py", ("src", "main", "py"))),
        ("user@example.com", Term("user@example.com", ("user", "example", "com"))),
        ("don't", Term("don't", ("don", "t"))),
        ("C#", Term("C#", ("csharp",))),
        ("fox!", Term("fox!", ("fox",))),
        ("main()", Term("main()", ("main",))),
        ("--dry-run", Term("--dry-run", ("dry", "run"))),
        ("- fox", word("fox")),
        ("fox OR", word("fox")),
        ("AND fox", word("fox")),
        ("((fox", word("fox")),
        ("fox))", word("fox")),
        ('"fox', Term("fox", ("fox",))),
        ("AND", Term("AND", ("and",))),
        ("fox OR NOT dog", word("fox")),
        ("fox ()", word("fox")),
    ],
)
def test_a_query_is_read_as_it_says(text: str, tree: Node) -> None:
    assert parse(text).tree == tree


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("  ", "The query is empty."),
        ("!?", "The query has no letter and no digit, so that nothing can match it."),
        ("🦊", "The query has no letter and no digit, so that nothing can match it."),
        ("NOT fox", "The query only says what to leave out: add a word that must be found."),
        ("-fox", "The query only says what to leave out: add a word that must be found."),
    ],
)
def test_a_query_that_can_find_nothing_says_why(text: str, problem: str) -> None:
    assert parse(text) == Query(text, None, (), is_plain=parse(text).is_plain, problem=problem)


@given(st.text() | st.text(alphabet='()"*-: ANDORNOTx\0'))
def test_any_text_is_a_query(text: str) -> None:
    query = parse(text)
    assert (query.tree is None) == bool(query.problem)
    assert all(
        word and not set(word) & set(' "()*\0') for term in query.terms for word in term.words
    )


def test_a_hundred_kilobytes_of_garbage_are_cut() -> None:
    query = parse("(fox OR " * 12_500)
    assert len(query.terms) == 1
    assert len(parse(" ".join(f"word{number}" for number in range(20_000))).terms) <= 96


def test_words_that_stand_in_every_sentence_do_not_count() -> None:
    query = parse("Where did the fox sleep?")
    assert [term.text for term in query.telling] == ["fox", "sleep?"]
    assert [term.text for term in parse("to be or to have").telling] == ["to", "be", "or", "have"]
    assert [term.text for term in parse("the NOT fox").telling] == ["the"]


@pytest.mark.parametrize(
    ("text", "is_prose"),
    [
        ("Where did the fox sleep?", True),
        ("who likes foxes?", True),
        ("brown fox", False),
        ("src/main/java/holdfast/fox.py", False),
        ("我昨天吃了什么", True),
        ("东京塔", False),
        ('where did the "brown fox" sleep', False),
        ("the fox NOT the dog", False),
    ],
)
def test_a_sentence_is_told_from_search_words(text: str, *, is_prose: bool) -> None:
    assert parse(text).is_prose == is_prose


def test_what_may_be_found_in_part() -> None:
    assert parse("brown fox").is_divisible
    assert parse("手机库存").is_divisible
    assert not parse("fox").is_divisible
    assert not parse("the fox").is_divisible
    assert not parse('"brown fox" "lazy dog"').is_divisible
    assert not parse("brown AND fox").is_divisible
