"""Recorded traffic of ten agents gives the trees that its description tells of."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.gateway.tree_file import TreeFile
from holdfast.recognition.matching import Continuity, recognize
from holdfast.recognition.request import WireRequest, read_request
from tests.recognition.recorded import TREES

WIRE = Path(os.environ.get("HOLDFAST_SHARED", "../shared")) / "data" / "wire"
GOES_ON = {Continuity.EXTENDS: "", Continuity.REVISION: "*", Continuity.RETRY: "="}
SAME = re.compile(r"identical to n=(\d+)")


def requests(name: str) -> Iterator[tuple[str, WireRequest]]:
    """Read the requests of a recording, each with its number and its run."""
    bodies: dict[tuple[str, int], dict[str, object]] = {}
    for line in (WIRE / f"{name}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        note = row.get("note") or ""
        run = note.partition(":")[0][2:] if note.startswith(("f-", "o-")) else ""
        same = SAME.search(note)
        body = row["body"] or (bodies.get((run, int(same[1]))) if same else None)
        if body is None or row["method"] != "POST":
            continue
        bodies[run, row["n"]] = body
        request = read_request(row["path"], row["headers"], body)
        if request is not None:
            yield f"{row['n']}/{run}" if run else str(row["n"]), request


def tree_of(name: str) -> tuple[str, ...]:
    """Replay a recording and return its conversations, a line for each."""
    tree = TreeFile(":memory:")
    lines: dict[str, list[str]] = {}
    for label, request in requests(name):
        found = recognize(request, tree)
        node = found.node
        if found.how in GOES_ON and node is not None:
            key = request.identity.key
            is_own = not key or tree.identity_of(node.session) == key
            session = node.session if is_own else tree.session_of(key)
            lines[session].append(f"{label}{GOES_ON[found.how]}")
        else:
            session = label
            is_kin = node is not None and found.how is not Continuity.ROOT
            kin = f" of {node.session}" if node is not None and is_kin else ""
            how = "side" if found.how is Continuity.SIDE else str(found.how)
            after = f" after {found.follows}" if found.follows else ""
            lines[session] = [f"{label} {how}{kin}{after}"]
        if found.how is not Continuity.SIDE:
            tree.record(request, found, session, [0] * (len(request.atoms) - found.known))
    return tuple(
        ": ".join(filter(None, (first, " ".join(rest)))) for first, *rest in lines.values()
    )


@pytest.mark.skipif(not WIRE.is_dir(), reason="the recordings are not here")
@pytest.mark.parametrize("name", TREES)
def test_recorded_traffic_gives_the_conversations_that_took_place(name: str) -> None:
    assert tree_of(name) == TREES[name]
