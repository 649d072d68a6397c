"""`holdfast search`: what was said is found, shown with its match, or said not to be there."""

import json
import os
import re
from pathlib import Path
from typing import cast

import pytest

import holdfast
from holdfast.cli.screen import OutputScreen
from holdfast.cli.search import hits_drawn
from holdfast.recall.shapes import Excerpt, Excerpts
from holdfast.recall.values import MatchTier, Told
from holdfast.session import Draft, Fork, Session, Spawn
from holdfast.transcript import Message, Role, Summary, Text
from holdfast.views.words import cells
from holdfast.wiring import open_store
from holdfast.wiring.stores import store_file
from tests.cli.running import run

SESSION = Session(id="20261116_090000_abcdef", source="cli", started=0, title="Animals")


def talk(*words: str, profile: str = "default", source: str = "cli", title: str = "") -> str:
    """Store a conversation and return its id."""
    place = store_file("sqlite", profile, os.environ)
    with holdfast.Conversation.open(
        store=place, active=False, source=source, title=title, model="gpt-5"
    ) as chat:
        for number, each in enumerate(words):
            (chat.add_assistant if number % 2 else chat.add_user)(each)
        return chat.id


def found(*arguments: str) -> list[str]:
    ended = run("search", *arguments, "--json")
    document = cast("dict[str, list[dict[str, str]]]", ended.json)
    if "passages" in document:
        return [
            each.get("session_id") or str(document["session_id"])
            for each in document["passages"]
            for _ in each["messages"]
        ]
    return [each["session_id"] for each in document["results"]]


def test_a_match_is_listed_with_title_place_and_words() -> None:
    id_ = talk("Where do zebras live?", "A zebra lives in the savanna.", title="Animals")
    ended = run("search", "savanna")
    title, place, words = ended.text.splitlines()
    assert ended.code == 0
    assert title == "Animals"
    assert re.fullmatch(rf"  {id_}  [-\d]+ [\d:]+  message 2  assistant  just now", place)
    assert words == "    A zebra lives in the >>>savanna<<<."


def test_a_search_is_narrowed_by_part_of_a_model_and_by_place_as_a_list_is(tmp_path: Path) -> None:
    held = []
    for name, folder in (("claude-opus-4-6", "/src/shop"), ("gpt-5", "/src/bank")):
        file = tmp_path / f"{name}.jsonl"
        common = {"sessionId": name, "cwd": folder, "gitBranch": f"on-{name}", "isSidechain": False}
        said = {"role": "user", "content": f"The harbor is in {folder}/main.py"}
        answer = {
            **{"id": "m", "type": "message", "role": "assistant", "model": name},
            "content": [{"type": "text", "text": "Noted."}],
        }
        lines = [
            {**common, "type": "user", "uuid": "a", "parentUuid": None, "message": said},
            {**common, "type": "assistant", "uuid": "b", "parentUuid": "a", "message": answer},
        ]
        file.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
        assert run("import", str(file)).code == 0
        (id_,) = set(found("harbor")) - set(held)
        held.append(id_)
    shop, bank = held
    assert found("harbor", "--model", "Opus") == [shop]
    assert sorted(found("harbor", "--model", "opus", "--model", "gpt")) == sorted(held)
    assert found("harbor", "--project", "/src/bank") == [bank]
    assert found("harbor", "--branch", "on-gpt-5") == [bank]
    assert found("harbor", "--file", "shop/main.py") == [shop]
    assert found("harbor", "--agent", "claude-code", "--project", "shop") == [shop]
    assert found("harbor", "--project", "/src/bank", "--model", "opus") == []


@pytest.mark.parametrize("command", [("search", "zebra"), ("sessions", "list")])
def test_an_agent_that_nothing_is_from_gets_the_names_that_are_there(
    command: tuple[str, ...],
) -> None:
    talk("A zebra.", source="import:claude-code")
    talk("Another zebra.")
    ended = run(*command, "--agent", "claude")
    assert "no session is from claude; there are: claude-code, cli" in ended.errors


def test_several_words_need_no_quotes() -> None:
    id_ = talk("A zebra lives in the savanna.")
    assert found("zebra", "savanna") == [id_]


def test_json_is_the_shape_that_models_get() -> None:
    id_ = talk("A zebra lives here.", "Yes.", title="Animals")
    document = cast("dict[str, object]", run("search", "zebra", "--json").json)
    (result,) = cast("list[dict[str, object]]", document["results"])
    assert document["shape"] == "discovery"
    assert document["query"] == "zebra"
    assert (result["session_id"], result["title"]) == (id_, "Animals")
    match = cast("dict[str, object]", result["match"])
    assert match["snippet"] == "A >>>zebra<<< lives here."
    assert len(cast("list[object]", result["around"])) == 2


def test_an_imported_conversation_is_found_and_shown_with_its_agent() -> None:
    talk("zebra")
    theirs = talk("zebra", source="import:claude-code")
    for name in ("claude-code", "import:claude-code", "import"):
        assert found("zebra", "--source", name) == [theirs]
    _, place, _ = run("search", "zebra", "--source", "claude-code").text.splitlines()
    assert re.fullmatch(rf"  {theirs}  [-\d]+ [\d:]+  message 2  claude-code  user.*", place)


def test_the_flags_narrow_the_search() -> None:
    mine = talk("zebra", "a zebra it is")
    helper = talk("zebra", source="subagent")
    imported = talk("zebra", source="api")
    assert sorted(found("zebra")) == sorted([mine, imported])
    assert sorted(found("zebra", "--all-sources")) == sorted([mine, helper, imported])
    assert found("zebra", "--source", "api") == [imported]
    assert found("zebra", "--role", "assistant") == [mine]
    assert found("zebra", "--limit", "1", "--sort", "newest") == [imported]
    assert found("zebra", "--since", "1h", "--until", "1h") == []
    assert found("zebra", "--model", "other") == []
    assert found("zebra", "--session", mine) == [mine, mine]
    assert found("zebra", "--session", "last", "--model", "gpt-5") == [imported]


def test_another_profile_has_its_own_sessions() -> None:
    talk("lion")
    id_ = talk("zebra", profile="work")
    assert found("zebra", "--profile", "work") == [id_]
    assert found("zebra") == []


def test_nothing_found_is_a_sentence_and_an_exit_code(home: Path) -> None:
    talk("lion")
    ended = run("search", "zebra")
    place = home / "profiles" / "default" / "holdfast.db"
    assert (ended.code, ended.text) == (3, "")
    assert ended.errors == (
        f"nothing was found in {place}; try fewer or other words, or part* for the beginning of "
        "one\n"
    )
    narrowed = run("search", "lion", "--role", "tool")
    assert narrowed.code == 3
    assert "try without some of the flags" in narrowed.errors
    assert run("search", "zebra", "--json").code == 3


def test_a_query_that_cannot_match_says_so() -> None:
    talk("lion")
    ended = run("search", "?!")
    assert ended.code == 3
    assert ended.errors == "The query has no letter and no digit, so that nothing can match it.\n"


def test_searching_where_nothing_was_ever_stored_creates_nothing(home: Path) -> None:
    ended = run("search", "zebra")
    assert ended.code == 3
    assert "there are no sessions yet" in ended.errors
    assert cast("dict[str, object]", run("search", "zebra", "--json").json)["results"] == []
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Missing argument"),
        (("x", "--since", "soon"), "'soon' is no time; write a date"),
        (("x", "--limit", "0"), "--limit"),
        (("x", "--sort", "loudest"), "--sort"),
        (("x", "--role", "robot"), "--role"),
    ],
)
def test_a_wrong_flag_is_a_sentence(arguments: tuple[str, ...], words: str) -> None:
    ended = run("search", *arguments)
    assert ended.code == 2
    assert words in ended.errors


def test_an_unknown_session_is_a_sentence() -> None:
    talk("lion")
    ended = run("search", "lion", "--session", "nope")
    assert ended.code == 1
    assert "there is no session 'nope'" in ended.errors


def excerpt(snippet: str, title: str = "Animals") -> Excerpt:
    focus = Told(id=7, role=Role.TOOL, text="", at=1, tool="read_file")
    return Excerpt(
        session=SESSION,
        title=title,
        last_active=0,
        snippet=snippet,
        tier=MatchTier.WORDS,
        focus=focus,
    )


def lines_of(snippet: str, view: OutputScreen, title: str = "Animals") -> list[str]:
    each = Excerpts("zebra", (excerpt(snippet, title),))
    return [
        "".join(span.text for span in line) for line in hits_drawn(each, view, 0, is_within=False)
    ]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    snippet = "a long >>>zebra<<< " * 12 + "x" * 300 + " 斑马" * 60
    lines = lines_of(snippet, OutputScreen(width, colored=False), "斑马 " * 90)
    assert max(map(cells, lines)) <= width
    assert len(lines) > 3


def test_a_match_is_colored_and_loses_its_marks() -> None:
    each = Excerpts("zebra", (excerpt("prompt >>> the >>>zebra<<< ran"),))
    *_, line = hits_drawn(each, OutputScreen(80, colored=True), 0, is_within=False)
    assert [span.text for span in line if span.style] == ["zebra"]
    assert "".join(span.text for span in line) == "    prompt >>> the zebra ran"


def test_places_in_one_conversation_name_it_once() -> None:
    each = Excerpts("zebra", (excerpt("one >>>zebra<<<"), excerpt("two >>>zebra<<<")))
    lines = hits_drawn(each, OutputScreen(80, colored=False), 0, is_within=True)
    texts = ["".join(span.text for span in line) for line in lines]
    assert texts.count("Animals") == 1
    assert texts[-1] == "    two >>>zebra<<<"


def said(id_: str, *messages: Message) -> None:
    """Append messages to a stored session."""
    store = open_store(store_file("sqlite", "default", os.environ), {})
    store.append(id_, [Draft(message=each, at=5) for each in messages])
    store.close()


def test_the_date_is_never_cut_and_long_names_give_way() -> None:
    long = Told(id=123_456, role=Role.TOOL, text="", at=1, tool="a_very_long_name_of_a_tool_" * 3)
    found = Excerpt(
        session=SESSION, title="", last_active=0, snippet="x", tier=MatchTier.WORDS, focus=long
    )
    for width in (60, 80):
        _, place, _ = hits_drawn(
            Excerpts("x", (found,)), OutputScreen(width, colored=False), 0, is_within=False
        )
        words = "".join(span.text for span in place)
        assert re.search(r"  \d{4}-\d\d-\d\d \d\d:\d\d  message", words)
        assert words.endswith("…")


def test_a_match_of_some_of_the_words_says_so() -> None:
    talk("A zebra lives in the savanna.", title="Animals")
    assert run("search", "zebra", "volcano", "glacier").text.splitlines()[2:] == [
        "    only some of the words:",
        "    A >>>zebra<<< lives in the savanna.",
    ]
    assert "only some" not in run("search", "zebra", "savanna").text


@pytest.mark.parametrize("width", range(40, 60))
def test_lines_break_neither_inside_marks_nor_inside_words(width: int) -> None:
    snippet = "some words and src/>>>lock<<</>>>time out<<<.py with >>>lock time out<<<, then more"
    _, _, *lines = lines_of(snippet, OutputScreen(width, colored=False))
    assert " ".join(line.strip() for line in lines) == snippet
    for line in lines:
        assert line.count(">>>") == line.count("<<<")
        assert not line.strip().startswith(("/", ",", "."))


def test_a_summary_is_no_word_of_the_user_and_says_whose_it_is() -> None:
    id_ = talk("hello")
    said(id_, Message(Role.USER, (Summary("The zebra was fed.", "claude-code"),)))
    assert "  summary by claude-code\n" in run("search", "zebra").text
    assert found("zebra") == [id_]
    assert run("search", "zebra", "--role", "user").code == 3
    said(id_, Message(Role.USER, (Text("# AGENTS.md instructions for /src\nzebra"),)))
    assert run("search", "zebra", "--role", "user").code == 3
    said(id_, Message(Role.USER, (Text("My zebra"),)))
    assert found("zebra", "--role", "user") == [id_]


def test_an_imported_sub_agent_is_found_on_request_only() -> None:
    parent = talk("hello", source="import:pi")
    store = open_store(store_file("sqlite", "default", os.environ), {})
    child = Session(
        id="20261116_090000_00cafe",
        source="import:pi",
        started=0,
        parent=parent,
        fork=Fork.DELEGATION,
    )
    store.spawn(Spawn(child=child))
    store.close()
    said(child.id, Message(Role.USER, (Text("Count the zebras"),)))
    assert run("search", "zebras").code == 3
    for flags in (("--all-sources",), ("--source", "pi"), ("--session", parent)):
        assert found("zebras", *flags) == [child.id]
