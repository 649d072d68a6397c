"""An ask, a record that answers it, and two ways of asking that must not differ."""

import asyncio
from typing import Protocol

from holdfast.engines import SummarizerFallback
from holdfast.summary import Answer, Ask, Record, render

PROMPT = f"Write the record of these turns. {'They spoke of the parser. ' * 40}"
"""Longer than any record here: what is longer than what was asked stands for nothing."""
ASK = Ask(prompt=PROMPT, max_tokens=400, purpose="first", step=1, steps=1)
RECORD = render(Record(goal=("Ship the parser.",), critical=("The port is 8787.",)))
OTHER = render(Record(goal=("Ship the printer.",)))
CHATTER = "I am sorry, but I cannot help with that."


class Asking(Protocol):
    """A way to put the ask to a chain."""

    __name__: str

    def __call__(self, chain: SummarizerFallback, *, manual: bool = False) -> Answer: ...


def ask_blocking(chain: SummarizerFallback, *, manual: bool = False) -> Answer:
    return chain.answer(ASK, manual=manual)


def ask_awaiting(chain: SummarizerFallback, *, manual: bool = False) -> Answer:
    return asyncio.run(chain.aanswer(ASK, manual=manual))


WAYS: tuple[Asking, ...] = (ask_blocking, ask_awaiting)
