"""Identity: the same conversation has the same session, and no two share one."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import About
from holdfast.session import Fork, Session, Usage
from holdfast.transfer.identity import Identity, ImportRecord, import_record, proposed_ids
from tests.transfer.taking import START, begun, opened, sessions, take, told, words

IDENTITY = Identity("pi", "native")


def test_ids_are_the_same_everywhere_and_say_when_it_began() -> None:
    ids = list(islice(proposed_ids(IDENTITY, START), 3))
    assert ids == list(islice(proposed_ids(IDENTITY, START), 3))
    assert len(set(ids)) == 3
    assert all(id_.startswith("20231114_221320_") for id_ in ids)


@pytest.mark.parametrize(
    "other", [Identity("codex", "native"), Identity("pi", "other"), Identity("pi", "native", "b")]
)
def test_another_conversation_has_another_id(other: Identity) -> None:
    assert next(proposed_ids(IDENTITY, None)) != next(proposed_ids(other, None))


abouts = st.builds(
    About,
    id=st.text(),
    title=st.text(),
    cwd=st.text(),
    started=st.none() | st.integers(0, START),
    parent=st.text(),
    fork=st.none() | st.sampled_from(Fork),
    usage=st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
    more=st.dictionaries(st.text(), st.text()),
)


@given(abouts, st.none() | st.integers(0, 9), st.text())
def test_a_session_remembers_all_of_it(about: About, place: int | None, title: str) -> None:
    imported = ImportRecord(identity=IDENTITY, about=about, place=place, title=title, mark="m")
    session = Session(id="s", source="import:pi", started=1, metadata=imported.metadata())
    assert import_record(session) == imported


def test_a_session_that_was_begun_here_was_not_imported() -> None:
    assert import_record(Session(id="s", source="cli", started=1)) is None


def test_an_id_that_another_session_has_by_chance_is_passed_over() -> None:
    with opened() as store:
        taken = next(proposed_ids(Identity("claude-code", "native-1"), START))
        store.create(Session(id=taken, source="cli", started=START))
        for _ in range(2):
            take(store, [begun(), told("u1")])
        (own,) = (each for each in sessions(store) if each.id != taken)
        assert words(store, own.id) == ["words of u1"]
        assert store.session(taken).size == 0
