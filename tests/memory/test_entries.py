"""Entries: a file that people and models edit, and that never grows past its limit."""

from dataclasses import replace as changed

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import MemoryRefused
from holdfast.memory import MEMORY, AlreadyThere, Edited, read_entries, size_of, write_entries
from holdfast.memory.entries import add, remove, replace

SMALL = changed(MEMORY, limit=40)
ENTRY = (
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), min_size=1)
    .map(str.strip)
    .filter(lambda text: text not in {"", "§"} and "\ufeff" not in text)
)
ENTRIES = st.lists(
    st.one_of(ENTRY, st.lists(ENTRY, min_size=2, max_size=3).map("\n\n".join)), unique=True
).map(tuple)


@given(entries=ENTRIES)
def test_what_is_written_is_read_back(entries: tuple[str, ...]) -> None:
    assert read_entries(write_entries(entries)) == entries


@given(text=st.text())
def test_reading_what_was_read_and_written_changes_nothing_more(text: str) -> None:
    entries = read_entries(text)
    assert read_entries(write_entries(entries)) == entries


def test_hand_edits_are_tolerated() -> None:
    text = "\ufeffOne fact.  \r\n \t§ \r\n\r\nTwo\r\nlines.\r\n§\r\n\r\n§\r\n"
    assert read_entries(text) == ("One fact.", "Two\nlines.")


def test_paragraphs_and_items_of_a_file_written_by_hand_are_entries() -> None:
    text = "# Notes\n\nThe port is 8443.\nIt was 80.\n\n- tea\n  green\n- no meetings\n"
    found = ("# Notes", "The port is 8443.\nIt was 80.", "- tea\n  green", "- no meetings")
    assert read_entries(text) == found
    edition = remove(found, "tea", MEMORY)
    assert edition.entries == (found[0], found[1], found[3])


def test_an_entry_of_several_paragraphs_stays_one() -> None:
    assert write_entries(("One.\n\nTwo.",)) == "One.\n\nTwo.\n§\n"
    assert write_entries(()) == ""
    assert write_entries(("One.", "Two.")) == "One.\n§\nTwo.\n"


def test_adding_says_how_full_the_file_is() -> None:
    assert add(("One.",), " Two. \n", MEMORY) == Edited(
        ("One.", "Two."), "added to MEMORY.md (11 of 2,200 characters)"
    )


def test_adding_what_is_there_is_nothing_to_do() -> None:
    assert add(("One.",), "One.", MEMORY) == AlreadyThere(
        ("One.",), "MEMORY.md has this entry already"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (" \n", "there is nothing to remember: the content is empty"),
        ("One\n§\nTwo", "a line with nothing but § parts entries; add them one at a time"),
    ],
)
def test_what_cannot_be_an_entry_is_refused(content: str, message: str) -> None:
    with pytest.raises(MemoryRefused) as refused:
        add((), content, MEMORY)
    assert str(refused.value) == message


def test_an_entry_that_does_not_fit_names_sizes_and_what_could_go() -> None:
    with pytest.raises(MemoryRefused) as refused:
        add(("A short one.", "The longest entry here."), "Something more.", SMALL)
    assert str(refused.value) == (
        "MEMORY.md would have 56 characters, and 40 are allowed: say it 16 characters shorter, or "
        "remove or shorten other entries first; the longest now: 'The longest entry here.' (23); "
        "'A short one.' (12)"
    )
    with pytest.raises(MemoryRefused, match="would have 41 characters, and 40 are allowed"):
        add((), "x" * 41, SMALL)


def test_a_file_that_is_too_large_may_shrink() -> None:
    entries = ("x" * 50, "y" * 20)
    assert replace(entries, "xxx", "x" * 30, SMALL).entries == ("x" * 30, "y" * 20)
    with pytest.raises(MemoryRefused):
        replace(entries, "xxx", "x" * 60, SMALL)


def test_replacing_takes_the_one_entry_that_has_the_text() -> None:
    entries = ("The port is 80.", "Tea, not coffee.")
    assert replace(entries, "port", "The port is 8443.", MEMORY) == Edited(
        ("The port is 8443.", "Tea, not coffee."),
        "replaced an entry of MEMORY.md (36 of 2,200 characters)",
    )
    assert replace(entries, "port", "The port is 80.", MEMORY) == AlreadyThere(
        entries, "MEMORY.md says this already"
    )
    assert replace(entries, "port", "Tea, not coffee.", MEMORY).entries == ("Tea, not coffee.",)


def test_an_exact_entry_is_meant_even_if_others_contain_it() -> None:
    assert remove(("Tea.", "Tea. Green Tea."), "Tea.", MEMORY) == Edited(
        ("Tea. Green Tea.",), "removed an entry of MEMORY.md (15 of 2,200 characters)"
    )


@pytest.mark.parametrize(
    ("entries", "old", "message"),
    [
        (("One port.", "Two ports."), "port", "2 entries of MEMORY.md have this text; say more"),
        (("One port.",), "tea", "no entry of MEMORY.md has the text 'tea'; it has: 'One port.'"),
        ((), "tea", "no entry of MEMORY.md has the text 'tea'; it is empty"),
        (("One port.",), " ", "name the entry: old_text is empty"),
    ],
)
def test_an_entry_that_cannot_be_told_is_refused(
    entries: tuple[str, ...], old: str, message: str
) -> None:
    with pytest.raises(MemoryRefused) as refused:
        remove(entries, old, MEMORY)
    assert str(refused.value).startswith(message)


def test_only_the_first_candidates_are_listed_and_long_ones_are_cut() -> None:
    entries = tuple(f"port {number} " + "x" * 80 for number in range(7))
    with pytest.raises(MemoryRefused) as refused:
        remove(entries, "port", MEMORY)
    assert str(refused.value).endswith("…' (87); and 2 more")


@given(entries=ENTRIES, content=ENTRY)
def test_no_edit_takes_a_file_past_its_limit(entries: tuple[str, ...], content: str) -> None:
    notebook = changed(MEMORY, limit=max(size_of(entries), 1))
    try:
        edition = add(entries, content, notebook)
    except MemoryRefused:
        return
    assert size_of(edition.entries) <= notebook.limit


def test_a_fence_that_somebody_wrote_by_hand_is_one_entry() -> None:
    fence = "```sh\nmake\n\n- not an item\n~~~\n\nmake test\n```"
    text = f"# Notes\n\n- one\n- two\n\n{fence}\n\nThe end.\n"
    entries = read_entries(text)
    assert entries == ("# Notes", "- one", "- two", fence, "The end.")
    assert read_entries(write_entries(entries)) == entries
    assert fence in write_entries(entries[1:])


def test_what_steers_a_terminal_is_not_kept() -> None:
    noisy = "\x1b[31mred\x1b[0m\x1b]0;title\x07 and\ttab \x00nul\x7f\x9b"
    assert read_entries(noisy) == ("red and\ttab nul",)
    assert add((), noisy, MEMORY).entries == ("red and\ttab nul",)
    assert remove(("red and\ttab nul",), noisy, MEMORY).entries == ()
