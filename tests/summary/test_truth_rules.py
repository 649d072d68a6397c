"""Each rule about the truth has been seen to fire on a record that lies, and on no other."""

from dataclasses import replace
from typing import Any

import pytest

from holdfast.summary import Checkpoint, Record, render_checkpoint
from tests.summary import truth_rules as rules
from tests.summary.truth_phrases import PHRASES
from tests.summary.truth_rules import RULES, Rule, Told, View, holds
from tests.summary.truth_state import Answer, Ask, Blocker, Bound, Commit, Fact, Truth

WAITING = "Now build the quay filter for the web client."
TRUTH = Truth(
    waiting=WAITING,
    goal=Fact("goal", "harbor map", ("fuel ledger",)),
    asks=(
        Ask("tide export", "add the tide export", "Please add the tide export."),
        Ask("quay filter", "build the quay filter", WAITING),
    ),
    closed=("crane alarm", "berth report", "chart store"),
    dropping=("Never mind the berth report",),
    answers=(
        Answer("add the crane alarm", "214"),
        Answer("Which folder does the chart store use", "/srv/files/77"),
    ),
    facts=(Fact("gauge server", "9090", ("8080",)),),
    bounds=(
        Bound("login page", "Never change the login page.", "You may change the login page now"),
        Bound("public API", "Do not touch the public API."),
    ),
    plan=(("split the radio log", "completed"), ("draw the dock diagram", "pending")),
    blockers=(Blocker("make chart-1", "error: no route to gauge 300"),),
    outdated=("12 failed",),
    changed=("src/harbor/quay_filter.py",),
    commits=(Commit("src/harbor/crane_alarm.py", "1a2b3c4", "Save work 7"),),
)
RECORD = Record(
    task=(WAITING, "(said after: Please add the crane alarm.)"),
    goal=("Forget the fuel ledger, the goal is now a harbor map that works offline.",),
    constraints=("Do not touch the public API.", "You may change the login page now."),
    actions=("1. EDITED src/harbor/crane_alarm.py for the harbormaster…",),
    state=(
        "Not committed: src/harbor/quay_filter.py",
        "Commits: 1a2b3c4 (src/harbor/crane_alarm.py)",
    ),
    blocked=('make chart-1 - "error: no route to gauge 300"',),
    resolved=(
        '"Please add the crane alarm." - The crane alarm is done: 214 passed.'
        " The tide export is still open.",
        '"Which folder does the chart store use?" - It uses /srv/files/77.',
    ),
    pending=('"Please add the tide export."', '"Never mind the berth report."'),
    remaining=("draw the dock diagram (pending)",),
    critical=("The port of the gauge server is 8080.", "No, the port is 9090."),
)
BESIDE = Checkpoint(
    RECORD,
    evidence="Ports: 8080, 9090",
    lasting=("Never change the login page.", "You may change the login page now."),
    live="- Plan: 1 of 2 done"
    "\n  - [completed] split the radio log"
    "\n  - [pending] draw the dock diagram",
)


def seen(checkpoint: Checkpoint) -> View:
    """Return a window with a summary and the user's words after it."""
    text = render_checkpoint(checkpoint)
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": text},
        {"role": "user", "content": WAITING},
    ]
    source = f"{WAITING} The harbormaster reads it."
    told = Told(source, WAITING, PHRASES["English"])
    return View(checkpoint, text, ("", WAITING), ("", WAITING), messages, told)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_rule_fires_on_the_truth(rule: Rule) -> None:
    assert list(rule(TRUTH, seen(BESIDE))) == []


LIES: list[tuple[Rule, str, tuple[str, ...]]] = [
    (rules.nothing_finished_is_told_as_open, "task", ("Please add the crane alarm.",)),
    (rules.nothing_finished_is_told_as_open, "in_progress", ("Now I write the crane alarm.",)),
    (rules.nothing_finished_is_told_as_open, "pending", ("the berth report",)),
    (rules.nothing_finished_is_told_as_open, "remaining", ("split the radio log (pending)",)),
    (rules.nothing_open_is_told_as_finished, "resolved", ('"Please add the tide export." - OK.',)),
    (rules.nothing_open_is_told_as_finished, "resolved", ("The tide export - done.",)),
    (
        *(rules.answers_belong_to_their_questions, "resolved"),
        ('"Which folder does the chart store use?" - The crane alarm is done: 214 passed.',),
    ),
    (
        *(rules.answers_belong_to_their_questions, "resolved"),
        ('"Which folder does the chart store use?" - I will tell you later.',),
    ),
    (rules.nothing_superseded_is_told_as_current, "critical", ("Port 9090.", "Port 8080.")),
    (rules.nothing_superseded_is_told_as_current, "goal", ("A fuel ledger.",)),
    (rules.nothing_superseded_is_told_as_current, "state", ("Tests: 12 failed",)),
    (rules.revoked_rules_are_not_listed, "constraints", ("Never change the login page.",)),
    (rules.no_entry_is_cut_inside_a_word, "actions", ("1. EDITED it for the harbormas…",)),
    (rules.no_entry_is_cut_inside_a_word, "resolved", ('"build the quay fil…" - done',)),
    (rules.the_task_is_what_the_user_waits_for, "task", ("Please add the tide export.",)),
    (rules.the_current_goal_is_named, "goal", ("A fuel ledger.",)),
    (rules.everything_open_is_told, "pending", ()),
    (rules.rules_that_hold_are_listed, "constraints", ()),
    (rules.blockers_are_told, "blocked", ()),
    (rules.changed_files_are_told_from_committed_ones, "state", ()),
    (
        *(rules.changed_files_are_told_from_committed_ones, "state"),
        ("Not committed: src/harbor/quay_filter.py, src/harbor/crane_alarm.py",),
    ),
]


@pytest.mark.parametrize(("rule", "section", "entries"), LIES)
def test_a_rule_fires_on_a_section_that_lies(
    rule: Rule, section: str, entries: tuple[str, ...]
) -> None:
    record = replace(RECORD, **{section: entries})
    assert list(rule(TRUTH, seen(replace(BESIDE, record=record))))


@pytest.mark.parametrize(
    ("rule", "lie"),
    [
        (rules.standing_words_still_stand, replace(BESIDE, lasting=("The port is 8080.",))),
        (rules.standing_words_still_stand, replace(BESIDE, lasting=BESIDE.lasting[:1])),
        (rules.the_evidence_tells_nothing_outdated, replace(BESIDE, evidence="Ports: 8080")),
        (
            rules.nothing_open_is_told_as_finished,
            replace(BESIDE, live="  - [completed] draw the dock diagram"),
        ),
        (
            rules.nothing_finished_is_told_as_open,
            replace(BESIDE, live="  - [pending] split the radio log"),
        ),
        (
            rules.values_that_hold_are_told,
            replace(BESIDE, record=replace(RECORD, critical=()), evidence=""),
        ),
    ],
)
def test_a_rule_fires_on_what_stands_beside_the_record(rule: Rule, lie: Checkpoint) -> None:
    assert list(rule(TRUTH, seen(lie)))


def test_a_summary_without_a_heading_or_without_the_newest_words_is_noticed() -> None:
    truthful = seen(BESIDE)
    headless = replace(truthful, text=truthful.text.replace("## Blocked", ""))
    assert list(rules.all_headings_are_there(TRUTH, headless))
    for messages in (truthful.messages[:1], truthful.messages[::-1]):
        silent = replace(truthful, messages=messages)
        assert list(rules.the_newest_user_message_follows_verbatim(TRUTH, silent))
    merged = [{"role": "user", "content": f"{truthful.text}\n[end]\n{WAITING}"}]
    joined = replace(truthful, messages=merged)
    assert list(rules.the_newest_user_message_follows_verbatim(TRUTH, joined)) == []


def test_a_marker_is_no_part_of_a_longer_word_or_number() -> None:
    assert holds("Port 8080.", "8080")
    assert holds("The Tide\nExport is done", "tide export")
    assert holds("潮汐导出已经完成", "潮汐导出")
    assert holds("已经 214个", "214")
    assert not any(holds(text, "214") for text in ("2140", "1214", "3.214", "214.5"))
