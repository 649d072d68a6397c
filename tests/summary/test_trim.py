from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.record import HEADINGS, Record, number_of
from holdfast.summary.render import render
from holdfast.summary.trim import shorten, trim
from tests.summary.material import count, records

FRAME = count(render(Record()))


def wide() -> st.SearchStrategy[Record]:
    entries = st.lists(st.text(max_size=400), max_size=12).map(tuple)
    return st.builds(Record, **dict.fromkeys(HEADINGS, entries))


@given(wide() | records(), st.integers(FRAME, FRAME + 900))
def test_a_trimmed_record_fits_its_budget(record: Record, budget: int) -> None:
    assert count(render(trim(record, budget, count))) <= budget


@given(records())
def test_a_record_that_fits_is_left_alone(record: Record) -> None:
    assert trim(record, count(render(record)), count) is record


def test_a_counter_that_does_not_add_up_changes_nothing_about_the_promise() -> None:
    def odd(text: str) -> int:
        return count(text) + len(text) // 300 * 40

    record = Record(decisions=tuple(f"we chose number {index}" for index in range(200)))
    for budget in range(odd(render(Record())), 900, 50):
        assert odd(render(trim(record, budget, odd))) <= budget
    assert trim(record, 900, odd).decisions[-1] == "we chose number 199"


def test_a_hundred_kilobytes_are_cut_section_by_section() -> None:
    record = Record(
        task=("fix the login",),
        actions=tuple(f"RAN step {index} - exit 0" for index in range(3_000)),
        critical=("x" * 50_000,),
    )
    cut = trim(record, 1_000, count)
    assert cut.task == ("fix the login",)
    assert cut.actions[-1] == "3000. RAN step 2999 - exit 0"
    assert cut.actions[0].partition(" - ")[2] == f"RAN {3_000 - len(cut.actions) + 1}"
    assert cut.critical[0].endswith("x…")
    assert count(render(cut)) > 900


def test_sections_with_the_newest_last_lose_their_oldest_entries() -> None:
    entries = tuple(f"number {index} of a long list of things" for index in range(100))
    cut = trim(Record(decisions=entries, files=entries), FRAME + 200, count)
    assert cut.decisions[-1] == entries[-1]
    assert cut.files[0] == entries[0]
    assert len(cut.decisions) < 100 > len(cut.files)


def test_the_headings_alone_are_the_least_a_record_can_weigh() -> None:
    assert trim(Record(goal=("g" * 100,)), 5, count) == Record()


def test_an_action_is_never_cut_through_its_number() -> None:
    record = Record(actions=("123456. RAN a", "123457. RAN " + "x" * 4_000))
    for budget in range(FRAME, FRAME + 60):
        actions = trim(record, budget, count).actions
        assert [number_of(entry) for entry in actions] in ([], [123457], [123456, 123457])


def test_a_text_is_cut_to_tokens() -> None:
    assert shorten("word " * 50, 10, count) == "word word word word word word word wo…"
    assert shorten("word", 10, count) == "word"
    assert shorten("word", 0, count) == ""
