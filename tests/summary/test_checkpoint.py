from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.checkpoint import Checkpoint, read_checkpoint, render_checkpoint
from holdfast.summary.record import Record
from tests.summary.material import records, words


def checkpoints() -> st.SearchStrategy[Checkpoint]:
    said = st.lists(words() | st.just("## Evidence\n> x"), max_size=3).map(tuple)
    headings = "## Live State\n## Said by the User\n## Standing Words of the User\n\\## Evidence"
    beside = words() | st.just(headings)
    return st.builds(Checkpoint, records(), beside, said, beside, said)


@given(checkpoints())
def test_any_checkpoint_reads_back_as_written(checkpoint: Checkpoint) -> None:
    assert read_checkpoint(render_checkpoint(checkpoint)) == checkpoint


def test_only_what_is_there_has_a_heading() -> None:
    text = render_checkpoint(Checkpoint(Record(goal=("g",)), said=("line one\n\n# two",)))
    assert text.endswith(
        "## Critical Context\nNone.\n\n## Said by the User\n> line one\n>\n> # two"
    )
    assert "## Evidence" not in text
    assert "## Standing Words" not in text
    assert "## Live State" not in text


def test_what_lasts_stands_before_what_was_said_last() -> None:
    text = render_checkpoint(Checkpoint(Record(goal=("g",)), said=("new",), lasting=("a", "b")))
    assert text.endswith("## Standing Words of the User\n> a\n\n> b\n\n## Said by the User\n> new")


def test_free_text_becomes_a_record() -> None:
    assert read_checkpoint("We fixed the parser.", "codex") == Checkpoint(
        Record(critical=("Summary by codex: We fixed the parser.",))
    )


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    read_checkpoint(text)
