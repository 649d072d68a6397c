"""What went wrong in a pass is in the status until a pass goes well, whoever made either."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.compaction import (
    Abandoned,
    CompactionReport,
    Folded,
    Outcome,
    Pruned,
    Report,
    Unchanged,
)
from holdfast.conversation import StoredConversation
from holdfast.conversation.compactor import Flaws, LastRequest, flaws_of, warnings_of
from holdfast.errors import StoreError
from holdfast.session import Cause, Change, CompactionRecord, Head, Session
from holdfast.stores.sqlite import SqliteStore
from tests.conversation.moody import DOWN, ID, MoodySession
from tests.conversation.talking import talk


def said_of(chat: StoredConversation) -> str:
    """Return what the report of the newest pass says, which had to do without its model."""
    (said,) = warnings_of(chat.compactions()[-1])
    assert said.startswith(DOWN)
    return said


def until(chat: StoredConversation, holds: Callable[[], object], number: int = 0) -> None:
    """Talk and ask for windows until something holds, which it must in good time."""
    for turn in range(number, number + 60):
        talk(chat, [turn])
        chat.messages()
        chat.wait()
        if holds():
            return
    raise AssertionError("it never came to that")


def until_compacted(chat: StoredConversation, number: int = 0) -> None:
    """Talk and ask for windows until a pass was made."""
    before = len(chat.compactions())
    until(chat, lambda: len(chat.compactions()) > before, number)


def by_preflight(path: Path) -> MoodySession:
    moody = MoodySession(path)
    until_compacted(moody.chat)
    return moody


def in_the_loop(path: Path) -> MoodySession:
    moody = MoodySession(path)
    chat = moody.chat
    talk(chat, range(12))
    chat.messages()
    reported = {"prompt_tokens": chat.status().threshold, "completion_tokens": 1}
    message = {"role": "assistant", "content": "Yes."}
    chat.add_response({"choices": [{"message": message}], "usage": reported})
    chat.messages()
    return moody


def ahead_of_time(path: Path) -> MoodySession:
    moody = MoodySession(path, ahead_of_time=True)
    until_compacted(moody.chat)
    return moody


def for_hygiene(path: Path) -> MoodySession:
    moody = MoodySession(path, automatic=False)
    talk(moody.chat, range(40))
    moody.chat.store.close()
    moody.chat = moody.again()
    moody.chat.add_user("Go on.")
    moody.chat.messages()
    return moody


WAYS = {
    "preflight": by_preflight,
    "in_loop": in_the_loop,
    "ahead_of_time": ahead_of_time,
    "hygiene": for_hygiene,
}


@pytest.mark.parametrize("trigger", WAYS)
def test_an_automatic_pass_that_did_without_its_model_is_in_the_status_and_the_log(
    tmp_path: Path, trigger: str, caplog: pytest.LogCaptureFixture
) -> None:
    moody = WAYS[trigger](tmp_path / "store.db")
    chat, status = moody.chat, moody.chat.status()
    said = said_of(chat)
    assert [each.trigger for each in chat.compactions()] == [trigger]
    assert (status.troubles, status.warning, status.as_json()["warning"]) == ((said,), said, said)
    assert str(status).endswith(f"messages; warning: {said}")
    logged = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert logged == [f"compaction folded: {said}"]
    chat.store.close()


def next_automatic(moody: MoodySession) -> StoredConversation:
    until_compacted(moody.chat, 100)
    return moody.chat


def by_hand(moody: MoodySession) -> StoredConversation:
    talk(moody.chat, range(100, 104))
    assert moody.chat.compress().outcome == "folded"
    return moody.chat


def begun_anew(moody: MoodySession) -> StoredConversation:
    return moody.chat.new()


@pytest.mark.parametrize("cure", [next_automatic, by_hand, begun_anew])
@pytest.mark.parametrize("trigger", ["preflight", "ahead_of_time"])
def test_a_good_pass_or_a_reset_clears_it(
    tmp_path: Path, trigger: str, cure: Callable[[MoodySession], StoredConversation]
) -> None:
    moody = WAYS[trigger](tmp_path / "store.db")
    moody.recover()
    assert moody.chat.status().troubles
    assert cure(moody).status().warning == ""
    moody.chat.store.close()


@pytest.mark.parametrize("cure", [by_hand, begun_anew])
def test_a_frozen_conversation_says_so_until_it_is_compressed_or_begun_anew(
    tmp_path: Path,
    cure: Callable[[MoodySession], StoredConversation],
    caplog: pytest.LogCaptureFixture,
) -> None:
    moody = MoodySession(tmp_path / "store.db", knobs={"abort_on_summary_failure": True})
    chat = moody.chat
    until(chat, lambda: chat.status().troubles)
    (first,) = chat.status().troubles
    assert first.startswith(f"not compacted: {DOWN}; ")
    for _ in range(3):
        chat.messages()
        moody.clock.advance(10.0)
    (said,) = chat.status().troubles
    assert said.startswith("not compacted: the summarizer failed recently")
    assert said.rpartition("; ")[2] == first.rpartition("; ")[2]
    assert len(caplog.records) == 2
    assert chat.compactions() == ()
    moody.recover()
    assert cure(moody).status().warning == ""
    chat.store.close()


WAS = LastRequest(pressure="Context is 87% to compaction", trouble=("the disk is full",))
FIGURES = Report(warnings=("the window is still over its limit",))


@pytest.mark.parametrize(
    ("outcome", "by_hand", "trouble"),
    [
        (Folded((), FIGURES), False, ()),
        (Pruned((), FIGURES), False, ()),
        (Unchanged((), Report(), "nothing to do"), False, WAS.trouble),
        (Unchanged((), Report(), "nothing to do"), True, ()),
        (Unchanged((), FIGURES, "nothing gained"), True, FIGURES.warnings),
        (Abandoned((), Report(), "no key"), False, ("not compacted: no key", "a note")),
    ],
)
def test_what_went_wrong_is_put_right_by_a_pass_that_did_something(
    outcome: Outcome, *, by_hand: bool, trouble: tuple[str, ...]
) -> None:
    notes = ("a note",) if isinstance(outcome, Abandoned) else ()
    after = WAS.after(CompactionReport(outcome, notes=notes), by_hand=by_hand)
    assert after == LastRequest(trouble=trouble)


def test_another_process_and_a_later_one_know_of_it_and_of_the_cure(tmp_path: Path) -> None:
    moody = by_preflight(tmp_path / "store.db")
    chat, later = moody.chat, moody.again()
    assert later.status().troubles == chat.status().troubles == (said_of(chat),)
    moody.recover()
    talk(later, range(100, 104))
    later.compress()
    assert later.status().warning == chat.status().warning == ""
    later.store.close()
    chat.store.close()


def test_it_goes_with_the_pass_that_is_undone_and_comes_back_with_it(tmp_path: Path) -> None:
    moody = by_preflight(tmp_path / "store.db")
    chat, said = moody.chat, said_of(moody.chat)
    seen = [chat.status().troubles]
    chat.rewind(1)
    seen.append(chat.status().troubles)
    for step in (chat.undo, chat.undo, chat.redo):
        assert step()
        seen.append(chat.status().troubles)
    assert seen == [(said,), (said,), (said,), (), (said,)]
    chat.store.close()


class Full(SqliteStore):
    """A store whose disk is full while it is said to be."""

    is_full = True

    def change(self, id_: str, change: Change) -> Head:
        if self.is_full:
            raise StoreError("there is no space left")
        return super().change(id_, change)


def test_what_failed_in_the_background_is_said_until_a_pass_goes_well(tmp_path: Path) -> None:
    moody = MoodySession(tmp_path / "store.db", store=Full, ahead_of_time=True)
    moody.recover()
    chat = moody.chat
    until(chat, lambda: chat.status().troubles)
    assert chat.status().troubles == ("there is no space left",)
    Full.is_full = False
    try:
        assert chat.compress().outcome == "folded"
    finally:
        Full.is_full = True
    assert chat.status().warning == ""
    chat.store.close()


@pytest.mark.parametrize("report", [{}, {"warnings": "none"}, {"warnings": [1, "odd", None]}])
def test_the_report_of_another_agent_may_have_any_form(
    tmp_path: Path, report: dict[str, object]
) -> None:
    store = SqliteStore(tmp_path / "store.db")
    store.create(Session(id=ID, source="import:other", started=1))
    head = store.head(ID)
    record = CompactionRecord(at=1, trigger="fold", report=report)
    change = Change(
        cause=Cause.COMPACTION,
        pieces=(),
        generation=head.generation,
        seen=0,
        at=1,
        compaction=record,
    )
    view = store.change(ID, change).view
    told = ("odd",) if isinstance(report.get("warnings"), list) else ()
    assert flaws_of(store, ID, view) == Flaws(ID, view, told)
    store.close()
