"""What a provider has cached stays valid: the same bytes, until a compaction has to change them."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

import holdfast
from tests.cli.running import SESSION
from tests.promises.conversations import Messages, assistant, session, step, system, turn, user
from tests.promises.invariants import wire

WINDOW = 32_000
PROGRAM = """
import json, sys, holdfast
messages = json.load(open(sys.argv[1], encoding="utf-8"))
for knobs in ({"context_length": 16_000}, {"context_length": 64_000}, {"fit": 900}, {"fit": 6_000}):
    result = holdfast.compress(messages, **knobs)
    again = holdfast.compress(result.messages, force=True, **knobs)
    print(json.dumps([result.messages, again.messages, result.report.outcome]))
"""


def test_between_compactions_a_growing_conversation_only_grows() -> None:
    compressor = holdfast.Compressor(context_length=WINDOW)
    window: Messages = [system()]
    folds = quiet = 0
    for number in range(300):
        before = wire(window)[:-1]
        window += turn(number)
        assert wire(window).startswith(before)
        if not compressor.should_compress(window):
            quiet += 1
            continue
        result = compressor.compress(window)
        assert result.report.outcome == "folded"
        window, folds = list(result.messages), folds + 1
    assert folds >= 3
    assert quiet > 20 * folds


def test_asking_after_every_turn_rewrites_the_prefix_only_when_something_is_folded() -> None:
    compressor = holdfast.Compressor(context_length=WINDOW)
    window = list(holdfast.compress(session(150), context_length=WINDOW).messages)
    stable = 0
    for number in range(150, 200):
        grown = [*window, *turn(number)]
        result = compressor.compress(grown)
        if result.report.outcome == "unchanged":
            assert wire(result.messages) == wire(grown)
            stable += 1
        window = list(result.messages)
    assert stable >= 35


def test_a_compaction_keeps_the_words_of_the_head_and_the_whole_tail() -> None:
    messages = traced()
    result = holdfast.compress(messages, context_length=WINDOW)
    figures = result.report.figures
    assert (figures.head, result.report.outcome) == (4, "folded")
    assert figures.tail > 10
    assert result.messages[1:3] == messages[1:3]
    assert result.messages[1 - figures.tail :] == messages[1 - figures.tail :]


def test_a_compaction_keeps_the_tail_byte_for_byte() -> None:
    messages = traced()
    result = holdfast.compress(messages, context_length=WINDOW)
    tail = 1 - result.report.figures.tail
    assert wire(result.messages[tail:]) == wire(messages[tail:])


def traced() -> Messages:
    """Return a session whose messages carry a field that nobody knows."""
    messages = session(150)
    for at, message in enumerate(messages):
        message["x_trace"] = {"b": at, "a": [1.0, None, "é"]}
    return messages


def test_the_system_prompt_takes_the_note_once_and_then_never_changes() -> None:
    window = session(150)
    prompts: list[str] = []
    for number in range(3):
        window = list(holdfast.compress(window, context_length=WINDOW).messages)
        prompts.append(wire(window[0]))
        window += [each for at in range(150) for each in turn(1_000 + 200 * number + at)]
    assert len(set(prompts)) == 1
    assert len(prompts[0]) > len(wire(system()))


def test_the_head_after_a_first_compaction_survives_the_second() -> None:
    first = holdfast.compress(session(150), context_length=WINDOW)
    grown = [*first.messages, assistant("Renamed."), *(m for n in range(300, 450) for m in turn(n))]
    second = holdfast.compress(grown, context_length=WINDOW)
    assert second.report.outcome == "folded"
    assert wire(second.messages[0]) == wire(first.messages[0])


@pytest.mark.parametrize("times", [1, 3])
def test_the_same_messages_give_the_same_bytes_in_one_process(times: int) -> None:
    outputs = {
        wire(holdfast.compress(session(60), context_length=WINDOW).messages)
        for _ in range(1 + times)
    }
    assert len(outputs) == 1


def test_the_same_messages_give_the_same_bytes_in_every_process() -> None:
    digests: set[str] = set()
    for seed in ("0", "1", "4242", "random"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(SESSION)],
            capture_output=True,
            check=True,
            timeout=100,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert [json.loads(line)[2] for line in done.stdout.splitlines()].count("folded") >= 3
        digests.add(hashlib.sha256(done.stdout).hexdigest())
    assert len(digests) == 1


def test_values_that_are_equal_but_built_apart_give_the_same_bytes() -> None:
    messages = [system(), user("Go."), *(each for n in range(80) for each in step(f"c{n}"))]
    apart = json.loads(wire(messages))
    results = [holdfast.compress(each, context_length=4_000).messages for each in (messages, apart)]
    assert wire(results[0]) == wire(results[1])
