"""Recorded requests through the recognizer, to see which conversation each belongs to, and why."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from holdfast.errors import HoldfastError
from holdfast.gateway.tree_file import TreeFile
from holdfast.recognition.atoms import atoms_in
from holdfast.recognition.matching import Continuity, recognize
from holdfast.recognition.request import MESSAGES, dialect_of_path, read_request
from holdfast.transcript import Message, Role, Text, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.recognition.atoms import Atom
    from holdfast.recognition.request import WireRequest

_SAME = re.compile(r"identical to n=(\d+)")
_WANTED = (
    'a request is {"path": "/v1/messages", "headers": {...}, "body": {...}}, or a body with its '
    '"path" in it'
)
_RUNS = ("f-", "o-")


class NoRecording(HoldfastError):
    """A file has no requests; the message says what was found instead."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request to a model as it came in."""

    label: str
    """Its number, and after a slash its run where a recording has several."""
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]
    answer: Sequence[Atom] | None = None
    """What it was answered; None where no answer was recorded."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Which conversation a request belongs to, and why."""

    label: str
    path: str
    conversation: str
    """The label of the request that began it."""
    how: Continuity
    why: str
    origin: str = ""
    """The conversation that a branch or a side call came from."""
    follows: str = ""
    """The conversation that a root goes on with, after its client compacted by itself."""
    known: int = 0
    """How many parts of its messages were known."""
    new: tuple[str, ...] = ()
    """The kinds of the parts that were not."""


def read_recording(text: str) -> tuple[list[RecordedRequest], int]:
    """Return the requests to models in a text, and how many others there are.

    It is one request, as an object with `path`, `headers` and `body` or as a body with its `path`
    in it, or a recording with one request a line.

    Raises:
        NoRecording: when it is neither.
    """
    try:
        whole: object = json.loads(text)
    except ValueError:
        rows = [_line(number, line) for number, line in enumerate(text.splitlines(), 1) if line]
    else:
        rows = [_row(whole, "the file")]
    bodies: dict[tuple[str, object], object] = {}
    found: list[RecordedRequest] = []
    for place, row in enumerate(rows, 1):
        number, note, path = row.get("n", place), str(row.get("note") or ""), str(row["path"])
        run = note.partition(":")[0][2:] if note.startswith(_RUNS) else ""
        same = _SAME.search(note)
        body = row["body"] or (bodies.get((run, int(same[1]))) if same else None)
        if row.get("method", "POST") != "POST" or not dialect_of_path(path) or body is None:
            continue
        if not isinstance(body, dict):
            raise NoRecording(f"request {number}: its body is no JSON object")
        bodies[run, number] = cast("object", body)
        headers = cast("dict[str, object]", row.get("headers") or {})
        named = {name: str(value) for name, value in headers.items()}
        label = f"{number}/{run}" if run else str(number)
        fields = cast("dict[str, object]", body)
        found.append(RecordedRequest(label, path, named, fields, _answer(row.get("answer"))))
    return found, len(rows) - len(found)


def _answer(answer: object) -> tuple[Atom, ...] | None:
    if not isinstance(answer, dict):
        return None
    fields = cast("dict[str, object]", answer)
    calls = cast("list[dict[str, object]]", fields.get("calls") or [])
    said: list[Text | ToolCall] = [Text(str(fields.get("text") or ""))]
    for call in calls:
        args = call.get("args")
        written = args if isinstance(args, str) else json.dumps(args)
        said.append(ToolCall(str(call.get("id") or ""), str(call.get("name")), written))
    return atoms_in(Message(Role.ASSISTANT, tuple(said)))


def _line(number: int, line: str) -> dict[str, object]:
    try:
        read: object = json.loads(line)
    except ValueError as error:
        raise NoRecording(f"line {number} is not JSON ({error}): {_WANTED}") from None
    return _row(read, f"line {number}")


def _row(read: object, where: str) -> dict[str, object]:
    if not isinstance(read, dict):
        raise NoRecording(f"{where} is JSON, but no object: {_WANTED}")
    row = cast("dict[str, object]", read)
    if "path" not in row:
        raise NoRecording(f"{where} has no path: {_WANTED}")
    if not isinstance(row.get("headers") or {}, dict):
        raise NoRecording(f"{where}: its headers are no object")
    if "body" in row:
        return row
    if not any(name in row for name in MESSAGES.values()):
        names = ", ".join(dict.fromkeys(MESSAGES.values()))
        raise NoRecording(f"{where} has no body, and none of {names}")
    return {"path": row["path"], "body": row}


def replay(requests: Iterable[RecordedRequest]) -> Iterator[Decision]:
    """Decide about each request in turn, as a gateway does that saw those before it."""
    tree, said = TreeFile(":memory:"), 0
    try:
        for each in requests:
            request = read_request(each.path, each.headers, each.body)
            if request is not None:
                yield _decided(each, request, tree, said)
                said += len(request.places)
    finally:
        tree.close()


def _decided(
    recorded: RecordedRequest, request: WireRequest, tree: TreeFile, said: int
) -> Decision:
    found = recognize(request, tree)
    session = found.session or recorded.label
    origin = "" if found.session or found.node is None else found.node.session
    new = request.atoms[found.known :]
    if found.how is not Continuity.SIDE:
        messages = [said + place for place in request.places[found.known :]]
        tree.record(request, found, session, messages)
        if recorded.answer is not None:
            tree.issue(session, recorded.answer)
    kinds = tuple(str(atom.kind) for atom in new)
    return Decision(
        recorded.label, recorded.path, session, found.how, found.why, origin,
        found.follows, found.known, kinds,
    )  # fmt: skip
