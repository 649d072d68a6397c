"""Each kind of part has its look: words open, machinery folded."""

import pytest

from holdfast.transcript import (
    Media,
    Opaque,
    Part,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.views.html.parts import part_shown
from tests.views.html.pages import Reading, read

HOSTILE = "</pre></details><script>alert(1)</script><img src=x onerror=y>\" '"


def shown(part: Part, role: Role = Role.ASSISTANT) -> Reading:
    return read(part_shown(part, folds=role is Role.SYSTEM))


def test_words_are_open_and_a_system_prompt_or_a_pasted_file_is_folded() -> None:
    assert shown(Text("hi")).count("details") == 0
    assert shown(Text("hi"), Role.SYSTEM).count("details") == 1
    assert shown(Text("long\n" * 3000), Role.USER).text("span").startswith("text")


def test_thinking_is_folded_and_sealed_thinking_is_named() -> None:
    page = shown(Thinking("one\ntwo"))
    assert page.tags[0] == ("details", {"class": "thinking"})
    assert page.text("span") == "thinking2 linesone"
    assert shown(Thinking("", "seal")).count("details") == 0


def test_a_call_shows_each_argument_under_its_name() -> None:
    page = shown(ToolCall("c", "write", '{"path": "a.py", "text": "x\\ny", "lines": [1]}'))
    assert page.tags[0] == ("details", {"class": "call"})
    assert page.text("code") == "write"
    assert page.text("span") == "calla.py"
    assert page.text("dt") == "pathtextlines"
    assert page.text("pre").split("\n") == ["", "a.py", "x", "y", "[", "  1", "]"]


@pytest.mark.parametrize(
    "arguments",
    ["not json", "[1]", "{}", '{"a":' * 100_000],
    ids=["text", "list", "empty", "deep"],
)
def test_arguments_that_are_no_object_or_too_deep_are_shown_as_written(arguments: str) -> None:
    assert shown(ToolCall("c", "write", arguments)).text("pre").strip() == arguments


@pytest.mark.parametrize("depth", range(920, 1000, 4))
def test_arguments_as_deep_as_can_be_read_are_shown(depth: int) -> None:
    arguments = '{"a":' * depth + "1" + "}" * depth
    text = shown(ToolCall("c", "write", arguments)).text("pre")
    assert text.count("{") in (depth, depth - 1)


def test_a_result_is_folded_with_its_size_and_an_error_says_so() -> None:
    page = shown(ToolResult("c", (Text("first\nsecond"),), name="bash"))
    assert page.tags[0] == ("details", {"class": "result"})
    assert page.text("span") == "result2 linesfirst"
    failed = shown(ToolResult("c", (Text("no"),), is_error=True))
    assert failed.tags[0] == ("details", {"class": "error"})
    assert failed.text("span") == "error1 lineno"
    assert shown(ToolResult("c")).text("span") == "resultempty"


def test_a_result_with_an_image_is_open() -> None:
    page = shown(ToolResult("c", (Text("a screen"), Media(data="iVBORw0KGgo="))))
    assert page.tags[0] == ("details", {"class": "result", "open": ""})
    assert page.count("img") == 1


@pytest.mark.parametrize(
    ("origin", "label"),
    [
        ("holdfast", "summary by holdfast"),
        ("claude-code", "summary by Claude Code"),
        ("<b>", "summary by <b>"),
        ("", "summary"),
    ],
)
def test_a_summary_says_whose_it_is(origin: str, label: str) -> None:
    page = shown(Summary("what was done", origin))
    assert page.tags[0] == ("details", {"class": "summary", "open": ""})
    assert page.text("span") == label


def test_an_item_of_a_provider_is_shown_where_it_can_be_read_and_named_otherwise() -> None:
    assert shown(Opaque("x", {"type": "search"}, "found")).text("p") == "found"
    assert shown(Opaque("x", {"type": "<search>"})).text("p") == (
        "[<search> that only its provider can read]"
    )


@pytest.mark.parametrize(
    "part",
    [
        Text(HOSTILE),
        Text(f"```{HOSTILE}\n{HOSTILE}\n```"),
        Thinking(HOSTILE),
        ToolCall(HOSTILE, HOSTILE, HOSTILE),
        ToolCall("c", "run", '{"</pre><script>x</script>": "</pre><script>x</script>"}'),
        ToolResult(HOSTILE, (Text(HOSTILE), Opaque("x", {"type": HOSTILE})), name=HOSTILE),
        Media("image", HOSTILE, HOSTILE, HOSTILE),
        Summary(HOSTILE, HOSTILE),
        Recalled(HOSTILE),
        Opaque(HOSTILE, {"type": HOSTILE}, HOSTILE),
    ],
    ids=lambda part: type(part).__name__,
)
def test_hostile_words_stay_words(part: Part) -> None:
    page = shown(part)
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
    assert {name for _, attrs in page.tags for name in attrs} <= {"class", "dir", "open"}
