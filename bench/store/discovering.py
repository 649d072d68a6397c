"""How long the discovery tool takes, from a question to the text that a model reads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from holdfast.conversation.searching import SessionSearch
from holdfast.system import SystemClock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.store.queries import Question
    from holdfast.ports import Store


def discoveries(store: Store, asked: Sequence[Question]) -> list[float]:
    """Return the seconds of `session_search` for each question, filters left aside."""
    tool = SessionSearch(store, SystemClock())
    spent: list[float] = []
    for question in asked:
        started = time.perf_counter()
        tool.call({"query": question.text})
        spent.append(time.perf_counter() - started)
    return spent
