"""What the peers would leave in the window: the seam through which their policies are replayed."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.environments import HERMES, LANGCHAIN, installed, output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PEERS = {"langchain trim_messages": LANGCHAIN, "hermes fallback": HERMES}
"""Policies by the name that tables give them."""


def peer_window(name: str, messages: Sequence[Mapping[str, object]], budget: int) -> str:
    """Return what the peer keeps of OpenAI chat messages, in at most `budget` characters."""
    return peer_windows(name, [(messages, budget)])[0]


def peer_windows(
    name: str, requests: Sequence[tuple[Sequence[Mapping[str, object]], int]]
) -> list[str]:
    """Return the peer's window for each pair of messages and characters, in one process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "requests.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for messages, room in requests:
                file.write(json.dumps({"messages": list(messages), "budget": room}) + "\n")
        answer = output(installed(PEERS[name]), "windows", str(path))
    return [json.loads(line) for line in answer.splitlines()]
