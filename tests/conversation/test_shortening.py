"""Outputs over their limit: shown in part, stored whole, with a pointer to their own message."""

import re
from pathlib import Path

from holdfast.conversation import LiveSession
from holdfast.recall import Filters
from holdfast.transcript import Text
from tests.conversation.talking import begun
from tests.promises.conversations import call, calls

OUTPUT = "".join(f"line {number} of the log\n" for number in range(4_000)) + "needle4242"


def answered(chat: LiveSession, output: str, tool: str = "bash") -> tuple[int, str]:
    chat.record(calls(call("c1", tool)))
    id_ = chat.tool("c1", output)
    return id_, str(chat.window()[-1]["content"])


def test_a_large_output_is_cut_and_points_at_itself(chat: LiveSession) -> None:
    id_, shown = answered(chat, OUTPUT)
    found = re.search(r"around_message_id=(\d+)", shown)
    assert found
    assert int(found[1]) == id_
    assert shown.startswith(OUTPUT[:1_000])
    assert shown.endswith(OUTPUT[-1_000:])
    assert chat.parts.engine.load(chat.parts.store.window(chat.id).transcript).tokens < 10_100


def test_the_store_has_all_of_it_and_finds_it(chat: LiveSession) -> None:
    id_, _ = answered(chat, OUTPUT.replace("line 2000 ", "haystack9 "))
    (result,) = chat.parts.store.whole(id_).results
    assert result.content == (Text(OUTPUT.replace("line 2000 ", "haystack9 ")),)
    hits = chat.parts.store.search("haystack9", Filters(), limit=1, now=0)
    assert [hit.message_id for hit in hits] == [id_]


def test_a_limit_by_name_wins_also_right_after_a_resume(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False, tool_limits={"bash": 200, "*": 10**9})
    assert answered(chat, OUTPUT, "read_file")[1] == OUTPUT
    chat.user("again")
    chat.record(calls(call("c2", "bash")))
    resumed = LiveSession(chat.parts, chat.session)
    resumed.tool("c2", OUTPUT)
    assert len(str(resumed.window()[-1]["content"])) < 2_000
    chat.parts.store.close()


def test_what_fits_is_shown_as_it_is(chat: LiveSession) -> None:
    id_, shown = answered(chat, "12 passed")
    assert shown == "12 passed"
    assert not chat.parts.store.entry(id_).shortened
