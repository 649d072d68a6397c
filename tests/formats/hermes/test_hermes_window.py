"""A compaction in place writes messages anew, and they are told once all the same."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from holdfast.formats.content import summarized
from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.hermes.window import MessageRow, RowFate, row_events
from holdfast.formats.replay import replay
from holdfast.transcript import Message, Role, Text

START = 1_700_000_000.0


class Ledger:
    """Writes rows as Hermes does."""

    def __init__(self) -> None:
        self.rows: list[MessageRow] = []
        self.said = 0
        self._clock = START

    def say(self, words: str) -> None:
        self._clock += 1
        self.said += 1
        self._write(Message(Role.USER, (Text(words),)), self._clock)

    def compact(
        self, heads: int, tail: int, *, keeps_times: bool, marks_tail: bool = False
    ) -> None:
        live = self._live()
        front, back = live[:heads], live[max(heads, len(live) - tail) :]
        self._set({row.told.key for row in live}, RowFate.FOLDED)
        if marks_tail:
            # Newer releases set what is carried over aside as if it were taken back.
            self._set({row.told.key for row in back}, RowFate.TAKEN_BACK)
        self._clock += 1
        summary = summarized(f"summary at {self._clock}", "hermes")
        for message, at in [
            *((row.told.message, row.at) for row in front),
            (summary, None),
            *((row.told.message, row.at) for row in back),
        ]:
            moment = at if at is not None and keeps_times else self._clock
            self._write(message, moment)
            self._clock = max(self._clock, moment) + 1e-6

    def rewrite(self, count: int) -> None:
        """Set everything aside, and write all but the newest messages anew."""
        live = self._live()
        self._set({row.told.key for row in live}, RowFate.TAKEN_BACK)
        for row in live[:-count]:
            self._write(row.told.message, row.at)

    def rewind(self, count: int) -> None:
        taken = self._live()[-count:]
        self._set({row.told.key for row in taken}, RowFate.TAKEN_BACK)

    def shown(self) -> list[str]:
        return [row.told.message.text or "summary" for row in self._live()]

    def _live(self) -> list[MessageRow]:
        return [row for row in self.rows if row.fate is RowFate.LIVE]

    def _write(self, message: Message, at: float) -> None:
        number = len(self.rows) + 1
        native = SourceMetadata(id=str(number), at=round(at * 1000))
        told = MessageEvent(
            strand="s", line=number, key=str(number), message=message, native=native
        )
        self.rows.append(MessageRow(told, hash(repr(message)), at))

    def _set(self, keys: set[str], fate: RowFate) -> None:
        self.rows = [replace(row, fate=fate) if row.told.key in keys else row for row in self.rows]


def told_by(ledger: Ledger) -> list[Event]:
    begun = StrandStarted(strand="s", line=1, about=About())
    return [begun, *row_events(ledger.rows, ())]


def window(events: list[Event]) -> list[str]:
    (conversation,) = replay(events)
    return [message.text or "summary" for message in conversation.window]


def keys(events: list[Event]) -> list[str]:
    return [event.key for event in events if isinstance(event, MessageEvent)]


def folds(events: list[Event]) -> list[tuple[str, ...]]:
    return [event.shows for event in events if isinstance(event, CompactionEvent)]


def a_ledger(*words: str) -> Ledger:
    ledger = Ledger()
    for each in words:
        ledger.say(each)
    return ledger


def test_rows_without_a_compaction_are_told_as_they_are() -> None:
    ledger = a_ledger("a", "b", "a")
    assert told_by(ledger)[1:] == [row.told for row in ledger.rows]


def test_copies_around_a_summary_are_not_told_again() -> None:
    for keeps_times in (False, True):
        ledger = a_ledger("a", "b", "c", "d")
        ledger.compact(1, 2, keeps_times=keeps_times)
        ledger.say("e")
        events = told_by(ledger)
        assert keys(events) == ["1", "2", "3", "4", "6", "9"]
        assert folds(events) == [("1", "6", "3", "4")]


def test_what_a_compaction_carries_over_was_not_taken_back() -> None:
    for keeps_times in (False, True):
        ledger = a_ledger("a", "b", "c", "d")
        ledger.compact(1, 2, keeps_times=keeps_times, marks_tail=True)
        ledger.say("e")
        events = told_by(ledger)
        assert keys(events) == ["1", "2", "3", "4", "6", "9"]
        assert folds(events) == [("1", "6", "3", "4")]
        assert not any(isinstance(event, RewindEvent) for event in events)


def test_what_came_while_a_summary_was_written_is_told_once() -> None:
    ledger = a_ledger("a", "b", "late")
    late = ledger.rows.pop()
    late = replace(late, told=structs.replace(late.told, key="late"))
    ledger.compact(0, 1, keeps_times=True, marks_tail=True)
    ledger.rows.insert(2, replace(late, fate=RowFate.TAKEN_BACK))
    ledger.rows.append(replace(late, told=structs.replace(late.told, key="copy")))
    events = told_by(ledger)
    assert window(events) == ["summary", "b", "late"]
    assert [event.message.text for event in events if isinstance(event, MessageEvent)].count(
        "late"
    ) == 1


def test_a_session_that_was_rewritten_is_told_once() -> None:
    ledger = a_ledger("a", "b", "c", "d")
    ledger.rewrite(2)
    ledger.say("e")
    ledger.rewrite(1)
    ledger.say("a")
    events = told_by(ledger)
    assert keys(events) == ["1", "2", "3", "4", "7", "10"]
    assert [event.shows for event in events if isinstance(event, RewindEvent)] == [("1", "2")] * 2
    assert window(events) == ["a", "b", "a"]


def test_copies_of_copies_are_known_too() -> None:
    ledger = a_ledger("a", "b", "c")
    ledger.compact(1, 1, keeps_times=False)
    ledger.compact(1, 1, keeps_times=True)
    events = told_by(ledger)
    assert keys(events) == ["1", "2", "3", "5", "8"]
    assert folds(events) == [("1", "5", "3"), ("1", "8", "3")]


def test_the_same_words_after_a_compaction_are_a_message_of_their_own() -> None:
    ledger = a_ledger("yes", "no", "yes")
    ledger.compact(0, 1, keeps_times=False)
    ledger.say("no")
    ledger.say("yes")
    assert window(told_by(ledger)) == ["summary", "yes", "no", "yes"]


def test_the_same_words_before_a_compaction_are_a_message_of_their_own() -> None:
    ledger = a_ledger("yes", "no", "yes")
    ledger.compact(0, 0, keeps_times=False)
    assert keys(told_by(ledger)) == ["1", "2", "3", "4"]


def test_a_copy_that_was_changed_is_told_as_a_message() -> None:
    ledger = a_ledger("a", "b")
    ledger.compact(0, 1, keeps_times=False)
    last = ledger.rows[-1]
    changed = structs.replace(last.told, message=Message(Role.USER, (Text("b, shortened"),)))
    ledger.rows[-1] = replace(last, told=changed, print=1)
    events = told_by(ledger)
    assert keys(events) == ["1", "2", "3", "4"]
    assert folds(events) == [("3", "4")]


def test_what_was_taken_back_is_told_and_then_taken_back() -> None:
    ledger = a_ledger("a", "b", "c")
    ledger.rewind(2)
    ledger.say("d")
    first, second, third, fourth = (row.told for row in ledger.rows)
    back = RewindEvent(strand="s", line=3, shows=("1",))
    assert told_by(ledger)[1:] == [first, second, third, back, fourth]


def test_a_summary_at_the_beginning_shows_what_stands_before_it() -> None:
    ledger = a_ledger("a")
    ledger.rows.append(
        replace(
            ledger.rows[0],
            told=structs.replace(ledger.rows[0].told, key="2", message=summarized("x", "hermes")),
            print=2,
            at=START + 9,
        )
    )
    assert folds(told_by(ledger)) == [("1", "2")]


def test_rows_that_were_folded_without_a_summary_leave_the_window_all_the_same() -> None:
    ledger = a_ledger("a", "b", "c")
    ledger.rows[:2] = [replace(row, fate=RowFate.FOLDED) for row in ledger.rows[:2]]
    assert told_by(ledger)[-1] == CompactionEvent(strand="s", line=3, id="3/fold", shows=("3",))


def test_rows_that_were_taken_back_in_the_midst_leave_the_window_all_the_same() -> None:
    ledger = a_ledger("a", "b", "c")
    ledger.rows[0] = replace(ledger.rows[0], fate=RowFate.TAKEN_BACK)
    assert window(told_by(ledger)) == ["b", "c"]


def test_a_system_prompt_stands_before_every_window() -> None:
    ledger = a_ledger("a", "b")
    ledger.compact(0, 1, keeps_times=False)
    (fold,) = [
        event for event in row_events(ledger.rows, ("p",)) if isinstance(event, CompactionEvent)
    ]
    assert fold.shows == ("p", "3", "2")


SAYING = st.sampled_from(["yes", "no", "go on"])
STEPS = st.lists(
    st.one_of(
        SAYING,
        SAYING,
        st.tuples(st.integers(0, 3), st.integers(0, 4), st.booleans(), st.booleans()),
        st.integers(1, 3),
        st.integers(1, 3).map(lambda count: -count),
    ),
    max_size=25,
)


def carried_out(steps: list[str | int | tuple[int, int, bool, bool]]) -> Ledger:
    ledger = Ledger()
    for step in steps:
        match step:
            case str():
                ledger.say(step)
            case int() if step < 0:
                ledger.rewrite(-step)
            case int():
                ledger.rewind(step)
            case (heads, tail, keeps_times, marks_tail):
                # Releases that mark the tail keep its times.
                keeps = keeps_times or marks_tail
                ledger.compact(heads, tail, keeps_times=keeps, marks_tail=marks_tail)
    return ledger


@given(STEPS)
@example(["yes"] * 3 + [(1, 0, False, False)])
@example(["yes", (0, 1, False, False), (1, 1, True, False)])
@example([(0, 0, False, False), (1, 0, True, False), "yes", (1, 1, True, False)])
def test_everything_is_told_once_and_the_window_is_what_is_live(
    steps: list[str | int | tuple[int, int, bool, bool]],
) -> None:
    ledger = carried_out(steps)
    events = told_by(ledger)
    said = [
        event
        for event in events
        if isinstance(event, MessageEvent) and event.message.summary is None
    ]
    assert len(said) == ledger.said
    assert window(events) == ledger.shown()


@given(STEPS, st.data())
def test_a_session_that_grew_is_told_with_the_same_beginning(
    steps: list[str | int | tuple[int, int, bool, bool]], draw: st.DataObject
) -> None:
    early = carried_out(steps[: draw.draw(st.integers(0, len(steps)))])
    before, after = keys(told_by(early)), keys(told_by(carried_out(steps)))
    assert after[: len(before)] == before
