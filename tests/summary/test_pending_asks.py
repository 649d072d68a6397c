"""Finished work is not revived: an ask that was answered anywhere is not pending."""

from dataclasses import replace

from holdfast.summary.checkpoint import Checkpoint
from holdfast.summary.deterministic import deterministic
from holdfast.summary.record import Record
from tests.summary.material import assistant, exchange, job, user


def test_an_ask_whose_answer_stays_in_the_window_is_resolved() -> None:
    cut_in_the_middle = job([user("first"), *exchange("bash", "ok", command="make first")])
    told = replace(
        cut_in_the_middle, after=(assistant("The first is done."), user("second")), task="second"
    )
    record = deterministic(told, ())
    assert record.pending == ()
    assert record.resolved == ('"first" - The first is done.',)
    assert record.task[0] == "second"


def test_two_messages_in_a_row_are_answered_together() -> None:
    record = deterministic(
        job([user("one"), user("two"), assistant("Both are done."), user("t")]), ()
    )
    assert record.pending == ()
    assert record.resolved == ('"one" and "two" - Both are done.',)


def test_asks_that_nobody_answered_wait() -> None:
    record = deterministic(job([user("one"), user("two"), user("three")]), ())
    assert record.pending == ('"one"', '"two"')


def test_old_pending_asks_go_once_the_conversation_went_on() -> None:
    before = Checkpoint(Record(pending=('"old ask"',), task=("last task",)))
    went_on = replace(job([user("next"), assistant("Done."), user("now")]), previous=before)
    assert deterministic(went_on, ()).pending == ()
    silent = replace(job([user("next")]), previous=before)
    assert '"old ask"' in deterministic(silent, ()).pending
