"""Real session files: taken once, told again, taken by another store as the same sessions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from holdfast.agent_files.detection import FoundFile, ReadOptions, examine
from holdfast.agent_files.finding import find_files
from holdfast.compaction.repair import repair
from holdfast.ports import Store
from holdfast.session import Session
from holdfast.transcript import check
from holdfast.transfer import Count, ImportOrigin, export_session
from tests.transfer.taking import importer, opened, sessions

AGENTS = ("claude_code", "codex", "pi", "openclaw", "hermes", "swe_agent", "openhands")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_real_file_is_taken_once_and_told_as_it_was_taken(shared: Path, agent: str) -> None:
    files = find_files([str(shared / "data" / "sessions" / agent)]).files
    looks = [examine(file, ReadOptions()) for file in files]
    found = [look for look in looks if isinstance(look, FoundFile) and not look.is_spread]
    assert found
    for each in found:
        origin = ImportOrigin(each.guess.format, str(each.files[0].path))
        with opened() as store, opened() as other:
            first = importer(store).take(origin, each.tell)
            again = importer(store).take(origin, each.tell)
            assert (again.count, again.sessions, again.grown) == (Count(), (), ())
            for session in sessions(store):
                shown = repair(store.window(session.id).transcript)
                assert check(shown) == ()
                if session.parent is None:
                    _take_elsewhere(store, session, other)
            assert first.count.messages == sum(each.size for each in sessions(other))
            assert _windows(other) == _windows(store)


def _take_elsewhere(store: Store, session: Session, other: Store) -> None:
    system = session.source.removeprefix("import:")
    origin = ImportOrigin(system, f"told of {session.id}")
    importer(other).take(origin, lambda: export_session(store, session.id, family=True))


def _windows(store: Store) -> Counter[tuple[str, ...]]:
    """Return what the models see, whatever the sessions are called."""
    return Counter(
        tuple(repr(message.parts) for message in store.window(session.id).transcript)
        for session in sessions(store)
    )
