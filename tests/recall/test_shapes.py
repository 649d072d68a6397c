"""Results say where they are from, what is around, and how to go on."""

from holdfast.recall.shapes import (
    Beginning,
    ConversationList,
    Excerpt,
    Excerpts,
    Listed,
    Neighborhood,
    OneMessage,
)
from holdfast.recall.values import MatchTier, ResultLimits, Told, cropped, told, when
from holdfast.session import Entry, Kind, Session
from holdfast.transcript import Message, Role, Text, ToolResult

WIDE = ResultLimits(10_000, 10_000)
SESSION = Session(id="20261116_090000_abcdef", source="cli", started=1, title="Billing", touched=90)
HEAD = {
    "session_id": "20261116_090000_abcdef",
    "title": "Billing",
    "source": "cli",
    "started": "1970-01-01T00:00Z",
    "last_active": "1970-01-01T00:00Z",
}


def said(id_: int, text: str = "words", *, is_focus: bool = False) -> Told:
    return Told(id=id_, role=Role.USER, text=text, at=1, is_focus=is_focus)


def shown(*ids: int) -> list[dict[str, object]]:
    return [{"id": id_, "role": "user", "text": "words"} for id_ in ids]


def excerpt(first: int = 10) -> Excerpt:
    return Excerpt(
        session=SESSION,
        title="Billing",
        last_active=90,
        snippet="the >>>words<<<",
        tier=MatchTier.WORDS,
        focus=said(first + 5, is_focus=True),
        before=tuple(map(said, range(first, first + 5))),
        after=tuple(map(said, range(first + 6, first + 11))),
        opening=tuple(map(said, (1, 2, 3))),
        closing=tuple(map(said, (97, 98, 99))),
    )


def test_a_discovery_shows_goal_match_and_outcome() -> None:
    assert Excerpts("words", (excerpt(),)).document(WIDE) == {
        "shape": "discovery",
        "query": "words",
        "results": [
            {
                **HEAD,
                "match": {
                    "message_id": 15,
                    "role": "user",
                    "at": "1970-01-01T00:00Z",
                    "snippet": "the >>>words<<<",
                    "matched": "words",
                },
                "opening": shown(1, 2, 3),
                "around": shown(*range(10, 21)),
                "closing": shown(97, 98, 99),
            }
        ],
    }


def test_less_reach_leaves_out_the_messages_farthest_from_the_match() -> None:
    document = excerpt().document(ResultLimits(100, 100, 0.4))
    assert document["opening"] == shown(1, 2)
    assert document["around"] == shown(13, 14, 15, 16, 17)
    assert document["closing"] == shown(98, 99)
    bare = excerpt().document(ResultLimits(100, 100, 0.0))
    assert bare["around"] == shown(15)
    assert "opening" not in bare


def test_a_discovery_without_results_has_a_note() -> None:
    assert Excerpts("words", (), "Nothing.").document(WIDE) == {
        "shape": "discovery",
        "query": "words",
        "results": [],
        "note": "Nothing.",
    }


def test_a_scroll_gives_the_ids_at_its_edges_until_there_is_nothing_more() -> None:
    around = Neighborhood(
        session=SESSION, focus=said(5), before=(said(4),), after=(said(6), said(7)), is_last=True
    )
    assert around.document(WIDE) == {
        "shape": "scroll",
        **HEAD,
        "anchor": 5,
        "at": "1970-01-01T00:00Z",
        "messages": shown(4, 5, 6, 7),
        "earlier": 4,
        "later": None,
    }
    nearer = around.document(ResultLimits(100, 100, 0.5))
    assert (nearer["messages"], nearer["later"]) == (shown(4, 5, 6), 6)


def test_a_scroll_says_how_many_neighbors_stand_in_the_context() -> None:
    around = Neighborhood(session=SESSION, focus=said(5), in_context=2, is_first=True)
    assert around.document(WIDE)["in_context"] == 2
    assert around.document(WIDE)["earlier"] is None


def test_a_long_conversation_states_its_gap_with_the_ids_beside_it() -> None:
    read = Beginning(
        session=SESSION,
        title="Billing",
        first=tuple(map(said, range(1, 21))),
        last=tuple(map(said, range(91, 101))),
        total=100,
    )
    document = read.document(WIDE)
    assert document["gap"] == {
        "messages": 70,
        "after_id": 20,
        "before_id": 91,
        "how": "session_search with around_message_id set to one of these ids goes on",
    }
    assert document["messages"] == shown(*range(1, 21))
    assert document["ending"] == shown(*range(91, 101))
    barest = read.document(ResultLimits(10, 10, 0.0))
    assert barest["messages"] == shown(1)
    assert barest["ending"] == shown(100)
    gap = barest["gap"]
    assert isinstance(gap, dict)
    assert gap["messages"] == 98


def test_a_short_conversation_has_no_gap() -> None:
    read = Beginning(session=SESSION, title="Billing", first=(said(1),), last=(), total=1)
    assert read.document(WIDE) == {
        "shape": "read",
        **HEAD,
        "messages_in_all": 1,
        "messages": shown(1),
    }


def test_a_browse_lists_title_preview_time_and_size() -> None:
    line = Listed(session=SESSION, title="x", preview="Set up", messages=4, is_current=True)
    assert ConversationList((line,)).document(WIDE) == {
        "shape": "browse",
        "conversations": [{**HEAD, "preview": "Set up", "messages": 4, "current": True}],
    }
    assert ConversationList(()).document(WIDE)["note"] == "There are no conversations yet."


def test_one_message_is_paged_by_characters() -> None:
    one = OneMessage(SESSION, said(7, "0123456789"), 2)
    document = one.document(5)
    assert document["messages"] == [{"id": 7, "role": "user", "text": "23456"}]
    assert (document["offset"], document["next_offset"]) == (2, 7)
    assert document["characters_in_all"] == 10
    assert one.document(8)["next_offset"] is None


def test_a_cut_text_keeps_both_ends_and_says_how_much_is_missing() -> None:
    text = "a" * 700 + "b" * 300
    assert cropped(text, 1_000) == (text, 0)
    shown_, left_out = cropped(text, 500)
    assert left_out == 500
    assert shown_ == "a" * 350 + " [… 500 characters …] " + "b" * 150
    assert cropped(text, 10) == ("a" * 10 + "…", 990)


def test_the_message_that_was_asked_for_gets_twice_the_room() -> None:
    room = ResultLimits(10, 20)
    assert said(1, "x" * 50).document(room)["characters_cut"] == 30
    assert said(1, "x" * 50, is_focus=True).document(room)["characters_cut"] == 10


def test_a_conversation_without_words_is_listed_without_a_preview() -> None:
    lines = (Listed(session=SESSION, title="", preview="", messages=0),)
    listed = ConversationList(lines)
    assert listed.count == 1
    assert listed.document(WIDE) == {
        "shape": "browse",
        "conversations": [{**HEAD, "messages": 0}],
    }


def test_what_a_tool_said_is_shown_with_its_name() -> None:
    message = Message(Role.TOOL, (ToolResult("c", (Text("ok"),), name="ls"),))
    entry = Entry(
        id=4, session=SESSION.id, position=2, kind=Kind.SAID, message=message, at=7, tokens=1
    )
    output = told(entry)
    assert output == Told(id=4, role=Role.TOOL, text="ok", at=7, tool="ls", is_output=True)
    shown_as = {"id": 4, "role": "tool", "tool": "ls", "text": "ok"}
    assert output.document(WIDE) == shown_as
    assert OneMessage(SESSION, output).document(9)["messages"] == [shown_as]


def test_what_was_cut_stands_beside_its_whole() -> None:
    whole = Message(Role.USER, (Text("all of it"),))
    part = Message(Role.USER, (Text("all"),))
    entry = Entry(
        id=4, session=SESSION.id, position=2, kind=Kind.SAID, message=part, at=7, tokens=1
    )
    assert [told(entry).text, told(entry, whole).text] == ["all", "all of it"]


def test_a_time_that_no_calendar_has_is_left_out() -> None:
    assert [when(10**18), when(0), when(1)] == ["", "", "1970-01-01T00:00Z"]
