"""Checkpoints as LangGraph's saver stores them, in both of its packings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.formats.catalog import Row

_PACK = msgspec.msgpack.encode
_CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "remove": "RemoveMessage"}


def human(name: str, words: str = "", **fields: object) -> dict[str, object]:
    """Return the fields of a message."""
    return {"type": "human", "id": name, "content": words or name, **fields}


def removal(name: str) -> dict[str, object]:
    """Return the fields of what takes a message away."""
    return {"type": "remove", "id": name, "content": ""}


def packed(fields: Mapping[str, object], *, as_json: bool) -> object:
    """Return a message as an object in one of the packings."""
    name = _CLASSES[str(fields["type"])]
    if as_json:
        path = ["langchain", "schema", "messages", name]
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}
    parts = ["langchain_core.messages", name, fields, "model_validate_json"]
    return msgspec.msgpack.Ext(5, _PACK(parts))


class Saver:
    """Collects rows; each checkpoint is a second younger than the one before it."""

    def __init__(self, *, as_json: bool = False) -> None:
        """Hold nothing yet."""
        self.checkpoints: list[Row] = []
        self.writes: list[Row] = []
        self._as_json = as_json

    @property
    def tables(self) -> dict[str, list[Row]]:
        """Return everything, as tables."""
        return {"checkpoints": self.checkpoints, "writes": self.writes}

    def put(
        self,
        messages: Sequence[Mapping[str, object]] | None,
        parent: str | None = None,
        /,
        *,
        thread: str = "t",
        space: str = "",
        metadata: Mapping[str, object] | None = None,
        **channels: object,
    ) -> str:
        """Store a checkpoint and return its id; without messages it holds only what it adds."""
        number = len(self.checkpoints)
        values = dict(channels)
        if messages is not None:
            values["messages"] = [packed(each, as_json=self._as_json) for each in messages]
        state = {
            "v": 4,
            "ts": f"2026-01-01T00:00:{number % 60:02}+00:00",
            "channel_values": values,
            # Without any value, the channel is one that stores only what each step adds.
            "channel_versions": dict.fromkeys(values or ("messages",), "1"),
        }
        name = f"c{number:04}"
        row: Row = {
            "thread_id": thread,
            "checkpoint_ns": space,
            "checkpoint_id": name,
            "parent_checkpoint_id": parent,
            "metadata": json.dumps(metadata or {}).encode(),
            **self._stored("checkpoint", state),
        }
        self.checkpoints.append(row)
        return name

    def write(self, checkpoint: str, value: object) -> None:
        """Store what a step wrote after a checkpoint."""
        row: Row = {
            "thread_id": "t",
            "checkpoint_ns": "",
            "checkpoint_id": checkpoint,
            "task_id": "task",
            "idx": len(self.writes),
            "channel": "messages",
            **self._stored("value", value),
        }
        self.writes.append(row)

    def _stored(self, column: str, value: object) -> Row:
        if self._as_json:
            return {"type": "json", column: json.dumps(value).encode()}
        return {"type": "msgpack", column: _PACK(value)}
