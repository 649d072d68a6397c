"""Every chat-like file among the real sessions can be read and written in every dialect."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import DecodeError
from holdfast.formats import FORMATS, Document, read_all, write
from holdfast.transcript import Message, Role, Transcript, check, open_calls
from holdfast.wire import DIALECTS

FOLDERS = (
    "claude_code",
    "codex",
    "hermes",
    "mini_swe_agent",
    "openclaw",
    "openhands",
    "pi",
    "sharegpt",
    "swe_agent",
    "other_agents/copilot",
    "other_agents/gemini",
)
# Logs, patches, prompts and metadata that stand beside the sessions.
NOT_CHATS = (
    "tui_session_log",
    "mopenhands_example",
    "few_shot",
)
# Lists of every shape a line may have, rather than sessions that an API took part in.
COLLECTIONS = ("agent-sessions_fixture_small",)
SILENT = ("codex_052_raw", "codex_053_rate_limit")


def files(shared: Path, folder: str) -> Iterator[Path]:
    found = sorted(
        path for path in (shared / "data/sessions" / folder).rglob("*") if path.is_file()
    )
    return (path for path in found if not any(word in str(path) for word in NOT_CHATS))


def documents(shared: Path, folder: str) -> Iterator[tuple[Path, Document]]:
    for path in files(shared, folder):
        for document in read_all(path.read_bytes())[:20]:
            yield path, document


def answered(transcript: Transcript) -> Transcript:
    """Return the messages without calls that nobody answered."""
    waiting = open_calls(transcript)
    kept: list[Message] = []
    for message in transcript:
        calls = {call.id for call in message.calls if call.id in waiting}
        parts = tuple(part for part in message.parts if getattr(part, "id", None) not in calls)
        if parts:
            kept.append(Message(message.role, parts, message.form, message.synthetic))
    return tuple(kept)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_real_session_reads_as_a_valid_transcript(shared: Path, folder: str) -> None:
    seen = 0
    for path, document in documents(shared, folder):
        seen += 1
        assert document.transcript or any(word in path.name for word in SILENT), path
        broken = [each.message for each in check(document.transcript)]
        assert all("has no result right after it" in each for each in broken), path
        assert {message.role for message in document.live} <= set(Role)
    assert seen


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_real_session_is_valid_in_every_dialect(shared: Path, folder: str) -> None:
    for path, document in documents(shared, folder):
        transcript = answered(document.transcript)
        collected = any(word in path.name for word in COLLECTIONS)
        # What its own provider would refuse in a document was refused before we read it.
        own = document.dialect if collected or FORMATS[document.format].writable else ""
        for name, dialect in DIALECTS.items():
            if transcript and name != own:
                assert dialect.validate(dialect.encode(transcript)) == (), (path, name)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_real_document_comes_back_equal(shared: Path, folder: str) -> None:
    for path, document in documents(shared, folder):
        if document.envelope is not None:
            text = write(document, document.transcript)
            (again,) = read_all(text)
            assert again.transcript == document.transcript, path
            if len(read_all(path.read_bytes())) == 1:
                assert json.loads(text) == json.loads(path.read_text("utf-8")), path


def test_what_is_no_chat_is_refused_in_a_sentence(shared: Path) -> None:
    refused: list[Path] = []
    for path in sorted((shared / "data/sessions").rglob("*")):
        if path.is_file():
            try:
                read_all(path.read_bytes())
            except DecodeError:
                refused.append(path)
    assert refused
