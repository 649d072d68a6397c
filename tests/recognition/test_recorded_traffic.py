"""Recorded traffic of ten agents gives the trees that its description tells of."""

import os
from pathlib import Path

import pytest

from holdfast.gateway.replay import read_recording, replay
from holdfast.recognition.matching import Continuity
from tests.recognition.recorded import TREES

WIRE = Path(os.environ.get("HOLDFAST_SHARED", "../shared")) / "data" / "wire"
GOES_ON = {Continuity.EXTENDS: "", Continuity.REVISION: "*", Continuity.RETRY: "="}


def tree_of(name: str) -> tuple[str, ...]:
    """Replay a recording and return its conversations, a line for each."""
    lines: dict[str, list[str]] = {}
    requests, _ = read_recording((WIRE / f"{name}.jsonl").read_text("utf-8"))
    for each in replay(requests):
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
