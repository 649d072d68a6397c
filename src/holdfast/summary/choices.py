"""What a short answer such as "b" or "do 1 and 3" chose among the points that were put before it.

Such an answer settles something and says nothing: its words are told with the point they name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 160
"""Characters of an answer; in longer words a number is mostly a number."""
_READ = 12_000
"""Characters before the answer in which points are looked for."""
BACK = 12
"""How many messages of the assistant are looked at before an answer."""
_POINT = re.compile(
    r"^[ \t>#*•-]{0,12}(?:(?:option|variante?|вариант|方案|选项)[ \t]+)?"
    r"\(?([a-z]|\d{1,2})[).:、\uff09][*_]{0,2}[ \t]+(\S[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_WIDEST = 200
_TITLE = re.compile(r"(\w+\) .{1,200}?)(?:\*\*|:\s|:$|[\uff1a。]|\.\s| [-\u2013—] |$)")
_WORD = re.compile(r"\d+|[^\W\d_]+|[^\w\s]")
_MARK = re.compile(r"[a-h]|\d{1,2}")
_BEFORE = frozenset(
    """ok okay yes yeah yep sure please then let lets s we i d go do want like take pick choose use
    allow try fix address start with for on only just both the option options number no point points
    item items step steps finding findings
    ja bitte nimm nehmen mach machen wir punkt punkte nummer variante
    sí si opción opciones toma usa haz punto puntos
    да давай вариант пункт пункты возьми
    好 好的 选 选择 用 做 方案 第""".split()
)
_BETWEEN = frozenset("and or und oder y o и или 和 或 , + & / 、".split())
_AFTER = frozenset("next first now then please too as for seems is sounds looks zuerst".split())


def chosen(answer: str, said: Iterable[str]) -> list[str]:
    """Return the points that an answer names.

    Args:
        answer: What a user said.
        said: What the assistant had said before, the newest first. The newest list of points is
            meant, which may stand some turns back while its points are worked through.
    """
    words = answer.strip()
    # Who answers at length with points has points of their own.
    is_list = len(words) > _LONGEST and _POINT.match(words)
    wanted = _marks(words) if len(words.partition("\n")[0]) <= _LONGEST and not is_list else []
    lists = (_points_in(text) for text in islice(said, BACK if wanted else 0))
    points = next((points for points in lists if len(points) > 1), dict[str, str]())
    named = dict.fromkeys(wanted) if points.keys() >= set(wanted) else {}
    return [f"{mark}) {points[mark]}" for mark in named]


def titles(points: Iterable[str]) -> str:
    """Return points that were chosen with the beginning of each, which says what it is.

    They are cut here and not where they are found: what is cut must have been redacted before.
    """
    found = ((point, _TITLE.match(point)) for point in points)
    told = (begins[1] if begins else f"{point[:_WIDEST]}…" for point, begins in found)
    return "; ".join(each.replace("**", "").rstrip(" *_.") for each in told)


@lru_cache(maxsize=64)
def _points_in(text: str) -> dict[str, str]:
    """Return the points of a message by their letters or numbers; short answers often follow."""
    return {mark.casefold(): words for mark, words in _POINT.findall(text[-_READ:])}


def _marks(answer: str) -> list[str]:
    """Return the letters and numbers that an answer begins with, nothing where it says more."""
    marks: list[str] = []
    before = ""
    for found in _WORD.finditer(answer[: 2 * _LONGEST].casefold()):
        word = found[0]
        if _MARK.fullmatch(word):
            marks.append(word)
        elif marks and word not in _BETWEEN:
            # "A new test" has an article, and "5 minutes" a number.
            ends = not word[0].isalnum() or word in _AFTER or before == ","
            return marks if ends else []
        elif not marks and word[0].isalnum() and word not in _BEFORE:
            return []
        before = word
    return marks
