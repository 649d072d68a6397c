"""Media: what is historical becomes a placeholder, what is current stays."""

from holdfast.compaction.media import WithoutMedia, without_old_media
from holdfast.testing.builders import assistant, call, user
from holdfast.transcript import Media, Message, Role, Text, ToolResult


def test_historical_media_becomes_a_placeholder() -> None:
    picture = Media(media_type="image/png", data="A" * 4096)
    old = Message(Role.USER, (Text("look"), picture))
    shot = Message(Role.TOOL, (ToolResult("a", (Text("shot"), picture)),))
    new = Message(Role.USER, (Text("and this"), picture))
    transcript = (old, assistant("", call("a")), shot, new, assistant("ok"))
    pruned = without_old_media(transcript)
    assert pruned.count == 2
    assert pruned.transcript == (
        Message(Role.USER, (Text("look"), Text("[image image/png, 4 kB: not in the window]"))),
        transcript[1],
        Message(
            Role.TOOL,
            (ToolResult("a", (Text("shot"), Text("[image image/png, 4 kB: not in the window]"))),),
        ),
        new,
        transcript[4],
    )


def test_what_tools_showed_last_in_the_running_turn_stays() -> None:
    def shot(id_: str, piece: Media | Text) -> Message:
        return Message(Role.TOOL, (ToolResult(id_, (piece,)),))

    picture = Media(data="A")
    gone = Text("[image of an earlier turn, 1 kB: not in the window]")
    calls = (assistant("", call("a")), assistant("", call("b"), call("c")))
    transcript = (
        user("go"),
        calls[0],
        shot("a", picture),
        calls[1],
        shot("b", picture),
        shot("c", picture),
        assistant("hm"),
    )
    assert without_old_media(transcript).transcript == (
        user("go"),
        calls[0],
        shot("a", gone),
        calls[1],
        shot("b", picture),
        shot("c", picture),
        assistant("hm"),
    )


def test_pinned_messages_keep_their_media() -> None:
    pinned = Message(Role.USER, (Text("the design"), Media(data="A")), pinned=True)
    newer = Message(Role.USER, (Text("another"), Media(data="B")))
    assert without_old_media((pinned, newer)) == WithoutMedia((pinned, newer), 0)
