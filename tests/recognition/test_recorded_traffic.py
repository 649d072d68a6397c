"""Recorded traffic of ten agents gives the trees that its description tells of."""

import os
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.gateway.replay import Decision, RecordedRequest, read_recording, replay
from holdfast.recognition.matching import Continuity
from tests.recognition.recorded import TREES

WIRE = Path(os.environ.get("HOLDFAST_SHARED") or "../shared") / "data" / "wire"
GOES_ON = {Continuity.EXTENDS: "", Continuity.REVISION: "*", Continuity.RETRY: "="}


def recorded(name: str) -> list[RecordedRequest]:
    return read_recording((WIRE / f"{name}.jsonl").read_text("utf-8"))[0]


def tree_of(name: str) -> tuple[str, ...]:
    """Replay a recording and return its conversations, a line for each."""
    return tree(replay(recorded(name)))


def tree(decisions: Iterable[Decision]) -> tuple[str, ...]:
    lines: dict[str, list[str]] = {}
    for each in decisions:
        if each.conversation in lines:
            lines[each.conversation].append(f"{each.label}{GOES_ON[each.how]}")
        else:
            how = "side" if each.how is Continuity.SIDE else str(each.how)
            kin = f" of {each.origin}" if each.origin else ""
            after = f" after {each.follows}" if each.follows else ""
            lines[each.conversation] = [f"{each.label} {how}{kin}{after}"]
    return tuple(
        ": ".join(filter(None, (first, " ".join(rest)))) for first, *rest in lines.values()
    )


@pytest.mark.skipif(not WIRE.is_dir(), reason="the recordings are not here")
@pytest.mark.parametrize("name", TREES)
def test_recorded_traffic_gives_the_conversations_that_took_place(name: str) -> None:
    assert tree_of(name) == TREES[name]


@pytest.mark.skipif(not WIRE.is_dir(), reason="the recordings are not here")
@pytest.mark.parametrize("seed", range(12))
def test_recordings_that_come_in_between_each_other_give_the_trees_of_each(seed: int) -> None:
    chance = random.Random(seed)
    # Two sessions of Pi that begin alike without an id are one until they are answered.
    agents = chance.sample(sorted({name.partition("/")[0] for name in TREES}), 8)
    names = [
        chance.choice([name for name in sorted(TREES) if name.startswith(f"{agent}/")])
        for agent in agents
    ]
    order = [name for name in names for _ in recorded(name)]
    chance.shuffle(order)
    left = {name: iter(recorded(name)) for name in names}
    requests = [
        replace(request, label=f"{name} {request.label}")
        for name in order
        for request in [next(left[name])]
    ]
    decisions = [*replay(requests)]
    for name in names:
        own = [each for each in decisions if each.label.startswith(f"{name} ")]
        assert tuple(line.replace(f"{name} ", "") for line in tree(own)) == TREES[name]


@pytest.mark.skipif(not WIRE.is_dir(), reason="the recordings are not here")
@pytest.mark.parametrize("name", TREES)
def test_what_is_sent_twice_is_a_repetition_and_changes_no_tree(name: str) -> None:
    requests = recorded(name)
    twice = [same for each in requests for same in (each, replace(each, label="again"))]
    decisions = [*replay(twice)]
    assert tree(decisions[::2]) == TREES[name]
    for first, again in zip(decisions[::2], decisions[1::2], strict=True):
        if first.how is not Continuity.SIDE:
            assert (again.how, again.conversation) == (Continuity.RETRY, first.conversation)
