"""Commands that take files take stored sessions as well, and the other way round."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from tests.cli.running import SESSION, run
from tests.cli.stored import compacted, conversation, store_in

TALK = [{"role": "user", "content": "a quiet harbor"}, {"role": "assistant", "content": "It is."}]


def test_a_stored_session_is_compressed_into_a_file_and_stays_as_it_is(
    home: Path, tmp_path: Path
) -> None:
    with conversation(store_in(home), 16) as chat:
        id_, before = chat.id, chat.messages()
    out = tmp_path / "out.json"
    ended = run("compress", id_, "--fit", "1500", "-o", str(out), "--json")
    assert ended.code == 0, ended.errors
    assert cast("dict[str, Any]", ended.json)["outcome"] in {"folded", "pruned_only"}
    assert run("validate", str(out), "--provider", "openai").code == 0
    assert out.stat().st_size < len(json.dumps(before))
    window = json.loads(run("export", id_).output)
    assert len(window["messages"]) == len(before)


@pytest.mark.parametrize("command", [("compress",), ("inspect",), ("export",)], ids=" ".join)
@pytest.mark.parametrize("shown", ["last", "beginning", "end"])
def test_a_session_is_found_by_last_by_the_beginning_and_by_the_end_of_its_id(
    command: tuple[str, ...], shown: str, home: Path
) -> None:
    id_ = compacted(store_in(home))
    name = {"last": "last", "beginning": id_[:15], "end": id_[-6:]}[shown]
    ended = run(*command, name)
    assert ended.code in {0, 3}, ended.errors
    assert "what does src/m_" in ended.text or id_ in ended.text


@pytest.mark.parametrize("command", [("compress",), ("inspect",), ("export",)], ids=" ".join)
def test_a_file_comes_before_a_session_of_the_same_name(
    command: tuple[str, ...], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compacted(store_in(home))
    monkeypatch.chdir(tmp_path)
    Path("last").write_text(json.dumps(TALK), "utf-8")
    ended = run(*command, "last")
    assert ended.code in {0, 3}
    assert "2 messages" in ended.text + ended.errors or "a quiet harbor" in ended.text


@pytest.mark.parametrize("command", [("compress",), ("inspect",), ("export",)], ids=" ".join)
def test_a_session_that_is_not_there_is_one_sentence(command: tuple[str, ...], home: Path) -> None:
    compacted(store_in(home))
    ended = run(*command, "20010101")
    assert ended.code == 1
    assert "there is no session '20010101'" in ended.errors


@pytest.mark.parametrize("name", ["openai", "anthropic", "markdown", "html", "codex"])
def test_a_file_is_exported_and_nothing_is_stored(name: str, home: Path) -> None:
    ended = run("export", str(SESSION), "--format", name)
    assert ended.code == 0, ended.errors
    assert ended.output
    assert not (home / "profiles").exists()


def test_what_comes_through_a_pipe_is_exported() -> None:
    ended = run("export", "-", "--format", "markdown", stdin=json.dumps(TALK).encode())
    assert "a quiet harbor" in ended.text


def test_of_a_file_with_many_conversations_one_is_chosen(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    lines = (
        json.dumps(
            {"conversations": [{"from": "human", "value": each}, {"from": "gpt", "value": "x"}]}
        )
        for each in ("the first", "the second")
    )
    file.write_text("\n".join(lines), "utf-8")
    refused = run("export", str(file))
    assert refused.code == 1
    assert "2 conversations; choose one with --conversation, from 1 to 2" in refused.errors
    assert run("export", str(file), "--conversation", "3").code == 1
    second = run("export", str(file), "--conversation", "2")
    assert "the second" in second.text
    assert "the first" not in second.text
    out = tmp_path / "train.jsonl"
    assert run("export", str(file), "--for-training", "-o", str(out)).code == 0
    assert len(out.read_text("utf-8").splitlines()) == 2


@pytest.mark.parametrize(("content", "reason"), [(None, "no such file"), (b"\x00\x01", "")])
def test_a_file_that_cannot_be_exported_is_one_sentence(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "odd.json"
    if content is not None:
        file.write_bytes(content)
    ended = run("export", str(file))
    assert ended.code == 1
    assert ended.errors.startswith(f"holdfast: cannot export {file}: ")
    assert reason in ended.errors
