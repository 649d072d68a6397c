"""`holdfast sessions send`: a session in the place where another agent looks for it."""

import json
import re
import shlex
from pathlib import Path
from typing import Any, cast

import pytest

from tests.cli.running import run
from tests.cli.stored import compacted, conversation, store_in

AGENTS = ("claude-code", "codex", "pi")
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
PLACES = {
    "claude-code": rf"/\.claude/projects/<dashes>/({UUID})\.jsonl",
    "codex": rf"/\.codex/sessions/\d{{4}}/\d\d/\d\d/rollout-[\dT-]{{19}}-({UUID})\.jsonl",
    "pi": rf"/\.pi/agent/sessions/--<project>--/[\dT-]{{23}}Z_({UUID})\.jsonl",
}


@pytest.fixture(name="user")
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of a user whose agents are where they usually are."""
    user, project = tmp_path / "user", tmp_path / "my project"
    user.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(user))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    monkeypatch.chdir(project)
    return user


def sent(*arguments: str) -> dict[str, Any]:
    ended = run("sessions", "send", *arguments, "--yes", "--json")
    assert ended.code == 0, ended.errors
    return cast("dict[str, Any]", ended.json)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_file_is_where_the_agent_looks_and_the_command_resumes_it(
    agent: str, user: Path, home: Path
) -> None:
    id_ = compacted(store_in(home))
    told = sent(id_, "--to", agent)
    folder = str(Path.cwd())
    pattern = (
        PLACES[agent]
        .replace("<dashes>", re.sub(r"[^A-Za-z0-9]", "-", folder))
        .replace("<project>", re.escape(folder[1:].replace("/", "-")))
    )
    found = re.fullmatch(re.escape(str(user)) + pattern, told["file"])
    assert found is not None, told["file"]
    assert found[1] == told["id"]
    file = Path(told["file"])
    resumes = {
        "claude-code": ["claude", "--resume", told["id"]],
        "codex": ["codex", "resume", told["id"]],
        "pi": ["pi", "--session", str(file)],
    }
    assert shlex.split(told["command"]) == resumes[agent]
    assert told["id"] in file.read_text("utf-8")
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    back = cast("list[dict[str, object]]", run("formats", str(file), "--json").json)
    assert [each["format"] for each in back] == [agent]
    assert "src/m_100.py" in file.read_text("utf-8")


@pytest.mark.parametrize(
    ("agent", "variable", "below"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "projects/"),
        ("codex", "CODEX_HOME", "sessions/"),
        ("pi", "PI_CODING_AGENT_DIR", "sessions/--"),
        ("pi", "PI_CODING_AGENT_SESSION_DIR", "2"),
    ],
)
def test_a_variable_that_moves_an_agent_is_followed(
    agent: str, variable: str, below: str, user: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compacted(store_in(home))
    moved = user / "moved"
    monkeypatch.setenv(variable, str(moved))
    assert sent("last", "--to", agent)["file"].startswith(f"{moved}/{below}")


@pytest.mark.parametrize("agent", AGENTS)
def test_what_the_agent_has_is_never_replaced(agent: str, user: Path, home: Path) -> None:
    compacted(store_in(home))
    first = sent("last", "--to", agent)
    content = Path(first["file"]).read_bytes()
    imported = cast("dict[str, Any]", run("import", first["file"], "--json").json)
    (copy,) = imported["files"][0]["sessions"][:1]
    second, third = sent(copy, "--to", agent), sent(copy, "--to", agent)
    assert len({each["id"] for each in (first, second, third)}) == 3
    assert Path(first["file"]).read_bytes() == content
    for each in (second, third):
        text = Path(each["file"]).read_text("utf-8")
        assert each["id"] in text
        assert f'"sessionId":"{first["id"]}"' not in text


def test_nothing_is_written_before_somebody_agrees(user: Path, home: Path) -> None:
    compacted(store_in(home))
    refused = run("sessions", "send", "last", "--to", "codex")
    assert refused.code == 2
    assert f"{user}/.codex/sessions/" in refused.errors
    assert "Write it? Nobody can be asked here; say --yes" in refused.errors
    tried = run("sessions", "send", "last", "--to", "codex", "--dry-run")
    assert (tried.code, "codex resume " in tried.text) == (0, True)
    assert list(user.iterdir()) == []


def test_another_folder_is_gone_to_first(user: Path, home: Path) -> None:
    with conversation(store_in(home)) as chat:
        chat.add_user("More")
    folder = user / "it's here"
    folder.mkdir()
    told = sent("last", "--to", "claude-code", "--folder", str(folder), "--window")
    assert shlex.split(told["command"])[:3] == ["cd", str(folder), "&&"]
    lines = [json.loads(line) for line in Path(told["file"]).read_text("utf-8").splitlines()]
    assert {each["cwd"] for each in lines if "cwd" in each} == {str(folder)}


@pytest.mark.parametrize("part", ["--window", "--log"])
@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.usefixtures("user", "home")
def test_a_session_without_dates_is_not_sent_as_one_of_another_century(
    agent: str, part: str, tmp_path: Path
) -> None:
    file = tmp_path / "undated.json"
    file.write_text('[{"role": "user", "content": "hi"}]', "utf-8")
    assert run("import", str(file)).code == 0
    told = sent("last", "--to", agent, part)
    assert "2000-01-01" not in Path(told["file"]).read_text("utf-8")


@pytest.mark.usefixtures("user", "home")
def test_the_folder_that_is_taken_in_place_of_a_missing_one_is_said(tmp_path: Path) -> None:
    file = tmp_path / "held.jsonl"
    line = {
        **{"type": "user", "uuid": "a", "parentUuid": None, "sessionId": "s", "cwd": "/no/such"},
        **{"timestamp": "2026-01-02T03:04:05Z", "message": {"role": "user", "content": "hi"}},
    }
    file.write_text(json.dumps(line) + "\n", "utf-8")
    assert run("import", str(file)).code == 0
    ended = run("sessions", "send", "last", "--to", "pi", "--dry-run")
    assert f"/no/such, where it was held, is not here; it goes to {Path.cwd()}" in ended.errors


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("last", "--to", "claude-code", "--folder", "/no/such"), 1, "is no folder"),
        (("20010101", "--to", "pi"), 1, "there is no session '20010101'"),
        (("last", "--to", "cursor"), 2, "'claude-code', 'codex', 'pi'"),
        (("last",), 2, "--to"),
    ],
)
def test_wrong_input_is_one_sentence(
    arguments: tuple[str, ...], code: int, words: str, user: Path, home: Path
) -> None:
    compacted(store_in(home))
    ended = run("sessions", "send", *arguments, "--yes")
    assert ended.code == code
    assert words in ended.errors


def test_a_place_that_cannot_be_written_is_one_sentence(user: Path, home: Path) -> None:
    compacted(store_in(home))
    (user / ".claude").write_text("a file", "utf-8")
    ended = run("sessions", "send", "last", "--to", "claude-code", "--yes")
    assert ended.code == 1
    assert ended.errors.splitlines()[-1].startswith(f"holdfast: cannot write {user}/.claude/")
