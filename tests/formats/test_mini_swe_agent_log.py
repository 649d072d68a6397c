"""A log of compressions reads as one session that was compacted again and again."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import Problem, read
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.mini_swe_agent import MINI_SWE_AGENT_LOG
from holdfast.formats.source import SourceRecord, parse
from holdfast.transcript import shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised


def compression(output: str, *messages: tuple[str, str]) -> dict[str, object]:
    window = [f"[Message {n}] {role}:\n{text}" for n, (role, text) in enumerate(messages)]
    return {
        "timestamp": "2026-01-02T03:04:05",
        "step_count": 1,
        "message_count": len(window),
        "model_name": "m",
        "input": "\n\n".join(window),
        "output": output,
        "instance_name": "shop-1",
    }


HEAD = (("system", "You use a shell."), ("user", "Fix it\n[Message 9] user:\nlike this"))
STEPS = tuple(("assistant" if n % 2 == 0 else "user", f"step {n}") for n in range(6))
FIRST = compression("so far", *HEAD, *STEPS)
SUMMARY = ("user", "[Previous work summary]\nso far")


def tell(*values: object) -> list[Event]:
    records = [SourceRecord(line, each) for line, each in enumerate(values, 1)]
    return list(MINI_SWE_AGENT_LOG.read(records))


def test_a_line_tells_only_what_is_new_in_its_window() -> None:
    second = compression("farther", *HEAD, SUMMARY, *STEPS[2:], ("assistant", "step 6"))
    document = read("\n".join(map(json.dumps, (FIRST, second))))
    assert document.format == "mini-swe-agent-log"
    assert shape(document.live) == "\n".join(
        [
            "00 system    You use a shell.",
            "01 user      Fix it [Message 9] user: like this",
            "02 user      [summary] farther",
            "03 user      step 3",
            "04 assistant step 4",
            "05 user      step 5",
            "06 assistant step 6",
        ]
    )
    told = [event for event in tell(FIRST, second) if isinstance(event, MessageEvent)]
    assert len(told) == len(HEAD) + len(STEPS) + 1 + 1 + 1


def test_a_compression_keeps_both_ends_around_its_summary() -> None:
    begun, *_, folded = tell(FIRST)
    about = About(title="shop-1", more={"summarizer": "m"})
    assert begun == StrandStarted(strand=MAIN, line=1, about=about)
    assert folded == CompactionEvent(
        strand=MAIN,
        line=1,
        id="#1.8/fold",
        shows=("#1.0", "#1.1", "#1.8", "#1.4", "#1.5", "#1.6", "#1.7"),
        at=1_767_323_045_000,
        trigger="auto",
    )


def test_a_window_that_begins_otherwise_takes_back_what_it_does_not_show() -> None:
    events = tell(FIRST, compression("anew", HEAD[0], ("user", "Fix that")))
    (rewound,) = [event for event in events if isinstance(event, RewindEvent)]
    assert rewound.shows == ("#1.0",)


def test_a_line_without_messages_is_a_problem() -> None:
    assert tell(FIRST, {}, 5)[-2:] == [
        Problem(2, "a compression without messages"),
        Problem(3, "a compression without messages"),
    ]


NAMES = ("12907", "13236", "13398", "14096", "14309")


@pytest.mark.parametrize("name", NAMES)
def test_every_real_window_begins_as_the_compression_before_left_it(
    shared: Path, name: str
) -> None:
    folder = shared / "data/sessions/mini_swe_agent/compression_logs"
    (path,) = folder.glob(f"astropy__astropy-{name}_*.jsonl")
    records = parse(path.read_bytes()).records
    assert MINI_SWE_AGENT_LOG.recognize(records) is not None
    events = list(MINI_SWE_AGENT_LOG.read(records))
    assert not [event for event in events if isinstance(event, Problem | RewindEvent)]
    folded = [event for event in events if isinstance(event, CompactionEvent)]
    assert len(folded) == len(records)


SAMPLES = st.sampled_from(("mini_swe_agent_log.jsonl",))


@given(SAMPLES.flatmap(lambda name: surprised(records_of(sample(name).encode()))))
def test_a_file_with_surprises_is_told_by_the_rules(records: list[SourceRecord]) -> None:
    assert breaks(MINI_SWE_AGENT_LOG, records) == []
