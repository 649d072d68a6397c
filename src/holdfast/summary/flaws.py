"""When an answer is no record, and how to ask once more.

Any good answer is used, in whatever form. Emptiness, a refusal, an echo of the request and more
words than the turns had are failures.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.summary.prompts import OPENING, hints, repair_note
from holdfast.summary.reader import read

if TYPE_CHECKING:
    from holdfast.summary.asking import Ask
    from holdfast.summary.record import Record

__all__ = ["problem", "problem_of", "repair"]

_SHORT = 600
_ECHOED = 3
_LEAST = 120
_REFUSES = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can't|cannot|can not|won't|will not)|as an ai"
    r"|es tut mir leid|ich kann (?:\w+ ){0,3}nicht|je (?:ne peux|suis désolé)|lo siento|no puedo"
    r"|desculpe|não posso|не могу|извините)\b|抱歉|无法|不能帮|申し訳|できません|죄송",
    re.IGNORECASE,
)


def problem(text: str, request: str = "") -> str | None:
    """Say why an answer is not a record, in words for the model and the user; nothing if it is.

    Args:
        text: The answer.
        request: What was asked, which holds all the turns.
    """
    return problem_of(text, read(text), request)


def problem_of(text: str, record: Record | None, request: str = "") -> str | None:
    """Say the same of an answer that was read already.

    Args:
        text: The answer.
        record: What it was read as, if it could be.
        request: What was asked, which holds all the turns.
    """
    if not text.strip():
        return "it was empty"
    if OPENING in text or sum(hint in text for hint in hints()) >= _ECHOED:
        return "it repeated the request"
    if request and len(text) > len(request):
        return "it was longer than what it stands for"
    if not record:
        return "every section was empty"
    said = [name for name, entries in record.sections() if entries]
    if said == ["critical"] and (
        len(text) < _LEAST or (len(text) < _SHORT and _REFUSES.search(text))
    ):
        return "it was a reply or a refusal"
    return None


def repair(ask: Ask, problem: str) -> Ask:
    """Return the ask once more, with what was wrong with its answer.

    The faulty text is not sent back: the room for it may not exist.
    """
    return replace(ask, prompt=f"{ask.prompt}\n\n{repair_note(problem)}", purpose="repair")
