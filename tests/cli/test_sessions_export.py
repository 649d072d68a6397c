"""`holdfast sessions export` for people: pages and Markdown, whole and in one piece."""

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.wiring import Conversation
from tests.cli.running import launch, run
from tests.cli.stored import compacted, conversation, store_in
from tests.views.html.pages import read


@pytest.fixture
def session(home: Path) -> str:
    """Return the id of a stored session with one compaction."""
    return compacted(store_in(home), title="A <session>")


def page(*arguments: str) -> str:
    ended = run("sessions", "export", *arguments, "--format", "html")
    assert (ended.code, ended.errors) == (0, "")
    return ended.text


def test_a_page_holds_everything_and_every_link_has_a_target(session: str) -> None:
    found = read(page(session))
    assert found.text("h1") == "A <session>"
    assert found.count("article") == 1 + 17 * 4
    assert found.text("h3").count("Compaction") == 1
    assert "summary by holdfast" in found.text("span")
    targets = {each[1:] for each in found.values("href")}
    assert targets <= set(found.values("id"))
    # The window begins with messages that were folded since, and ends with the newest ones.
    assert len(targets) > 30
    seen = sum(attrs.get("class", "").endswith(" seen") for _, attrs in found.tags)
    assert 0 < seen < found.count("article")


def test_a_page_of_the_window_holds_what_the_model_sees(session: str) -> None:
    found = read(page(session, "--window"))
    shown = json.loads(run("sessions", "show", session, "--json", "--limit", "0").output)
    assert found.count("article") == shown["window"]["messages"]
    assert f"{shown['window']['tokens']:,} of" in found.text("p")
    assert {each[1:] for each in found.values("href")} <= set(found.values("id"))


def test_the_map_has_the_tokens_that_the_terminal_shows(session: str) -> None:
    shown = json.loads(run("sessions", "show", session, "--json").output)["window"]
    table = page(session).partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r">([a-z ]+)</a></th><td>([\d,]+)</td>", table)
    assert {kind: int(tokens.replace(",", "")) for kind, tokens in rows} == shown["kinds"]


def test_a_page_goes_to_a_file_and_says_so(session: str, tmp_path: Path) -> None:
    file = tmp_path / "session.html"
    ended = run("sessions", "export", session, "--format", "html", "-o", str(file), "--json")
    assert json.loads(ended.output) == {"session": session, "file": str(file), "messages": 69}
    assert file.read_text("utf-8") == page(session)


def test_an_empty_session_is_a_page_too(home: Path) -> None:
    with Conversation.open(store=store_in(home), active=False, title="Empty") as chat:
        name = chat.id
    assert read(page(name)).count("article") == 0


def test_halves_of_characters_in_a_transcript_do_not_stop_an_export(home: Path) -> None:
    with conversation(store_in(home), 1) as chat:
        chat.add_user("half \ud83d of it \x00")
    assert "half \ufffd of it \u2400" in page("last")
    assert launch("sessions", "export", "last", "--format", "markdown").code == 0


def test_markdown_marks_what_was_folded_and_where(session: str) -> None:
    text = run("sessions", "export", session, "--format", "markdown").text
    assert text.count("\n## ") >= 69
    assert text.count("*Compaction of ") == 1
    assert text.count("*Summary by holdfast of what was folded:*") == 1
    assert "\n## User (no longer in the window)\n" in text
    assert "\n## System (in the window, shortened)\n" in text
    after = text.partition("*Compaction of ")[2]
    assert "\n## User\n\nQuestion 100: " in after


def test_markdown_of_the_window_is_what_the_model_sees(session: str, tmp_path: Path) -> None:
    file = tmp_path / "window.md"
    ended = run(
        "sessions", "export", session, "--to", "markdown", "--window", "-o", str(file), "--json"
    )
    shown = json.loads(run("sessions", "show", session, "--json").output)
    text = file.read_text("utf-8")
    assert json.loads(ended.output)["messages"] == shown["window"]["messages"]
    assert "(no longer in the window)" not in text
    assert text.count("*Summary by holdfast of what was folded:*") == 1


def test_markdown_says_how_many_messages_it_wrote(session: str, tmp_path: Path) -> None:
    ended = run(
        "sessions", "export", session, "--format", "markdown", "-o", str(tmp_path / "log.md")
    )
    assert ended.errors.startswith("wrote 69 messages of session ")


def test_a_rewind_and_the_sessions_on_the_way_are_marked(home: Path) -> None:
    with conversation(store_in(home), 2) as chat:
        chat.rewind()
        child = chat.branch()
        child.add_user("on we go")
        name = child.id
    text = run("sessions", "export", name, "--format", "markdown").text
    assert f"*Here begins session {name}.*" in text
    found = read(page(name))
    assert "Session" in found.text("h3")
    parent = run("sessions", "export", chat.id, "--format", "markdown").text
    assert "the last turns were taken back" in parent
    assert f"{name}" in page(chat.id)


@pytest.mark.parametrize("arguments", [("--log",), ()])
def test_a_request_still_holds_the_window_unless_the_log_is_asked_for(
    session: str, arguments: tuple[str, ...]
) -> None:
    found = json.loads(run("sessions", "export", session, *arguments).output)["messages"]
    assert (len(found) == 69) is bool(arguments)


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "responses", "sharegpt"])
def test_a_window_that_is_exported_labels_what_nobody_said(session: str, name: str) -> None:
    keys = ("messages", "input", "contents", "conversations")

    def labels(*flags: str) -> list[object]:
        found = json.loads(run("sessions", "export", session, "--format", name, *flags).output)
        (messages,) = (found[key] for key in keys if key in found)
        return [each.get("holdfast") for each in messages]

    told = [each for each in labels("--window") if each]
    assert {each["synthetic"] for each in told} >= {"summary"}  # type: ignore[index]
    # Without a choice it is a request that a provider takes.
    assert not any(labels())
    assert not any(labels("--log"))


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are made another way there")
@pytest.mark.parametrize("name", ["openai", "markdown", "html", "claude-code"])
def test_an_export_to_a_terminal_has_nothing_that_it_would_obey(home: Path, name: str) -> None:
    hostile = "\x1b]0;owned\x07 \x9b31m \x7f \u202egnp.exe \x1b[2J"
    with conversation(store_in(home)) as chat:
        chat.add_user(hostile)
        id_ = chat.id
    command = [sys.executable, "-m", "holdfast.cli", "sessions", "export", id_, "--format", name]
    ours, theirs = os.openpty()
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):
        while block := os.read(ours, 65_536):
            shown += block
    os.close(ours)
    assert process.wait(60) == 0
    text = shown.decode()
    assert "owned" in text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    if name == "openai":
        assert json.loads(text)["messages"][-1]["content"] == hostile
