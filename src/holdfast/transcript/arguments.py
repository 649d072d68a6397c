"""JSON text of calls and answers, read as the standard library reads it.

A session has thousands of such texts. A stricter decoder reads them in a third of the time; half a
surrogate pair, `NaN` and numbers beyond all bounds are left to the standard library.
"""

from __future__ import annotations

import json

from msgspec.json import Decoder

_decode = Decoder().decode


def parsed(text: str) -> object:
    """Return the value that the text holds.

    Raises:
        ValueError: when it holds none.
        RecursionError: when it is too deep.
    """
    try:
        return _decode(text)
    except ValueError:
        return json.loads(text)
