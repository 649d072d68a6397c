"""Stems agree with SQLite's, letter for letter."""

import sqlite3
from contextlib import closing

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.recall.folding import stem

ENDINGS = """
s es ies ed eed ing ational tional enci anci izer logi bli alli entli eli ousli ization ation ator
alism iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence
er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize y e ll
""".split()
WORDS = (
    st.tuples(st.text(alphabet="abcdeilnorstuyzßж", max_size=8), st.sampled_from(["", *ENDINGS]))
    .map("".join)
    .filter(bool)
)


def by_sqlite(words: list[str]) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
        connection.executemany("INSERT INTO t(rowid, text) VALUES (?, ?)", enumerate(words))
        rows = connection.execute("SELECT term FROM v ORDER BY doc").fetchall()
    return [term for (term,) in rows]


@settings(max_examples=60)
@given(st.lists(WORDS, min_size=1, max_size=60))
def test_a_stem_is_what_sqlite_indexes(words: list[str]) -> None:
    assert [stem(word) for word in words] == by_sqlite(words)


def test_an_ending_that_is_the_whole_word_is_none() -> None:
    words = ["eed", "eeds", "ies", "sses", "ied", "aed", "aies", "ing", "ness", "ational"]
    assert [stem(word) for word in words] == by_sqlite(words)
    assert [stem(word) for word in words[:4]] == ["e", "e", "ie", "sse"]


def test_a_letter_outside_ascii_is_as_many_consonants_as_it_has_bytes() -> None:
    words = ["øs", "ßed", "øaßed", "aжжing", "ßaжes", "日ness", "日es", "ß" * 31 + "aed", "ß" * 40]
    assert [stem(word) for word in words] == by_sqlite(words)
    assert stem("øs") == "ø"


def test_a_doubled_l_at_the_end_is_one() -> None:
    assert [stem("controlling"), stem("rolling")] == ["control", "roll"]


def test_stems_of_words_that_people_use() -> None:
    words = ["caresses", "ponies", "agreed", "hopping", "relational", "happily", "roll", "at"]
    assert [stem(word) for word in words] == [
        "caress",
        "poni",
        "agre",
        "hop",
        "relat",
        "happili",
        "roll",
        "at",
    ]
