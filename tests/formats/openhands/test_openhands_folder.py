"""A conversation of OpenHands before its SDK reads whole from a folder of single events."""

import json
from itertools import permutations

import pytest

from holdfast.formats import Problem, read
from holdfast.formats.events import MAIN, About, CompactionEvent, Event, MessageEvent, StrandStarted
from holdfast.formats.openhands import OPENHANDS_FOLDER
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import shape
from tests.formats.samples import sample

STARTED = 1_746_093_600_000
METADATA = {
    "conversation_id": "5f2c",
    "selected_repository": "harbor/pump",
    "selected_branch": "repair",
    "title": "Pump repair",
    "llm_model": "model-1",
    "prompt_tokens": 90,
    "completion_tokens": 12,
    "accumulated_cost": 0.25,
}


def says(number: int) -> dict[str, object]:
    said = {"source": "user", "action": "message", "args": {"content": f"word {number}"}}
    return {"id": number, "timestamp": f"2025-05-01T10:00:{number:02d}Z", **said}


def event_file(number: int, folder: str = "sessions/5f2c") -> SourceRecord:
    return SourceRecord(1, says(number), f"{folder}/events/{number}.json")


def tell(*records: SourceRecord) -> list[Event]:
    return list(OPENHANDS_FOLDER.read(records))


def words(events: list[Event]) -> list[str]:
    return [event.message.text for event in events if isinstance(event, MessageEvent)]


def test_a_saved_trajectory_is_one_conversation() -> None:
    document = read(sample("openhands_folder.json"))
    assert (document.format, document.problems) == ("openhands-folder", ())
    assert shape(document.transcript, 80) == "\n".join(
        [
            "00 system    You are an engineer.",
            "01 user      Fix the pump",
            '02 assistant I look. | -> execute_bash {"command": "ls"}',
            "03 tool      result: pump.c",
            "04 user      [summary] The pump was found.",
            "05 assistant The pump is fixed.",
        ]
    )
    assert document.about == About(version="0.40.0", started=STARTED)


def test_what_a_condensation_leaves_is_what_the_model_sees() -> None:
    values = json.loads(sample("openhands_folder.json"))
    events = tell(*(SourceRecord(line, value) for line, value in enumerate(values, 1)))
    (fold,) = [event for event in events if isinstance(event, CompactionEvent)]
    told = {event.key: event.message.text for event in events if isinstance(event, MessageEvent)}
    summary = fold.shows[-1]
    assert [told[key] for key in fold.shows[:-1]] == ["You are an engineer.", "Fix the pump"]
    assert fold.id == f"{summary}/fold"


@pytest.mark.parametrize("order", [*permutations([2, 9, 10, 11])][::5])
def test_the_numbers_of_events_decide_their_order(order: tuple[int, ...]) -> None:
    events = tell(*map(event_file, order))
    assert words(events) == ["word 2", "word 9", "word 10", "word 11"]


def test_events_that_a_cache_holds_again_are_told_once() -> None:
    cached = [
        SourceRecord(line, says(line), "sessions/5f2c/event_cache/0-25.json") for line in (1, 2)
    ]
    assert words(tell(*cached, event_file(1), event_file(2), event_file(3))) == [
        "word 1",
        "word 2",
        "word 3",
    ]


def test_a_folder_says_what_the_conversation_is() -> None:
    known = SourceRecord(1, METADATA, "sessions/5f2c/metadata.json")
    (begun,) = [event for event in tell(event_file(0), known) if isinstance(event, StrandStarted)]
    assert begun == StrandStarted(
        strand="sessions/5f2c",
        line=1,
        about=About(
            id="5f2c",
            title="Pump repair",
            model="model-1",
            git_branch="repair",
            started=STARTED,
            usage=Usage(input_tokens=90, output_tokens=12, cost=0.25),
            more={"repository": "harbor/pump"},
        ),
    )


def test_a_conversation_without_metadata_is_called_like_its_folder() -> None:
    first, second = (event_file(0, f"sessions/{name}") for name in ("one", "two"))
    begun = [event for event in tell(first, second) if isinstance(event, StrandStarted)]
    assert [(each.strand, each.about.id) for each in begun] == [
        ("sessions/one", "one"),
        ("sessions/two", "two"),
    ]


def test_a_file_alone_has_no_name() -> None:
    begun, *_ = tell(SourceRecord(1, says(0)))
    assert begun == StrandStarted(strand=MAIN, line=1, about=About(started=STARTED))


def test_metadata_alone_tells_nothing() -> None:
    assert tell(SourceRecord(1, METADATA, "sessions/5f2c/metadata.json")) == []


def test_what_is_no_event_is_named() -> None:
    file = "sessions/5f2c/events/1.json"
    assert tell(SourceRecord(1, [1], file), SourceRecord(1, {"id": 1}, file)) == [
        Problem(1, "expected an event with its number, found a list", file),
        Problem(1, "expected an event with its number, found an object", file),
    ]
