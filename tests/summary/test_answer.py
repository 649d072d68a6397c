"""A model's answer beside the turns: each turn under one number, with the ask that it is about."""

from holdfast.summary.answer import turns_told
from holdfast.summary.checkpoint import Composed
from holdfast.summary.draft import draft, trim
from holdfast.summary.record import Record
from holdfast.summary.turns import read_turns
from holdfast.transcript.toolkit import Toolkit
from tests.summary.material import assistant, count, exchange, job, user

ASKS = (
    "Mend the sluice of the upper mill, please",
    "go on",
    "Write to the keeper of gate 7",
    "go on",
)
TURNS = [
    message
    for number, ask in enumerate(ASKS)
    for message in (
        user(ask),
        *exchange("Edit", "ok", file_path=f"mill_{number}.py", old_string="a", new_string="b"),
        assistant(f"Step {number} is done, and gate_{number} was oiled with 3 liters."),
    )
]
ENTRIES = (
    '1. "Mend the sluice of the upper mill, please" - EDITED mill_0.py - the sluice holds',
    '2. "go on" - EDITED mill_1.py - the beam was replaced',
    '3. User asked to "Write to the keeper of gate 7" - the letter was sent',
    '4. "go on" - EDITED mill_3.py - the letter was sealed',
)


def test_an_answer_is_matched_with_the_turns_that_it_tells_of() -> None:
    turns = read_turns(TURNS, Toolkit(), 100)
    told = turns_told(Record(actions=ENTRIES), turns, (), first=5)
    assert told == {5: 1, 6: 2, 7: 3, 8: 4}
    later = turns_told(Record(actions=ENTRIES), turns[-1:], (), first=5)
    assert later == {5: 4}
    assert turns_told(Record(actions=("1. All was mended.",)), turns, (), first=2) == {}


def test_what_turns_show_stands_under_the_number_that_the_answer_gave_them() -> None:
    composed = Composed(Record(actions=ENTRIES), 1, "a model")
    work = job([*TURNS, user("And now the wheel")], budget=2_000)
    actions = draft(work, answer=composed).record(2_000, count)[0].actions
    numbers = [each.partition(".")[0] for each in actions]
    assert len(set(numbers)) == len(numbers)
    (mended,) = [each for each in actions if "Mend the sluice" in each]
    assert mended.startswith(ENTRIES[0])
    assert "gate_0 was oiled" in mended
    assert sum("keeper of gate 7" in each for each in actions) == 1


def test_an_entry_keeps_the_ask_that_it_begins_with() -> None:
    long = " ".join(f"Part {at} of `wheel_{at}.py` was mended in 3 hours." for at in range(40))
    entries = tuple(f'{at}. "go on" - {long}' for at in range(1, 4))
    record = trim(Record(actions=entries), 400, count)
    assert record.actions
    assert all('"go on"' in each for each in record.actions)
