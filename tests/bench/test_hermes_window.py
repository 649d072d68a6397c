import sys
from types import SimpleNamespace

import pytest

from bench.peers import hermes_work

KEY = "is_record"


@pytest.mark.parametrize(
    ("room", "window"),
    [
        (30, "goal\nRECORD\nthe newest message"),
        (13, "goal\nRECORD\ne"),
        (11, "RECORD\nsage"),
        (4, "RECO"),
    ],
)
def test_hermes_keeps_its_opening_where_it_leaves_most_of_the_room(
    room: int, window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = [
        {"role": "user", "content": "goal"},
        {"role": "assistant", "content": "RECORD", KEY: True},
        {"role": "user", "content": "the newest message"},
    ]
    hermes = SimpleNamespace(compress=lambda _messages: after)
    module = SimpleNamespace(COMPRESSED_SUMMARY_METADATA_KEY=KEY)
    monkeypatch.setitem(sys.modules, "agent.context_compressor", module)
    monkeypatch.setattr(hermes_work, "with_fallback", lambda: hermes)
    assert hermes_work.window({"messages": after, "budget": room}) == window
