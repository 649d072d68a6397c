from pathlib import Path

import pytest

from bench.exam import run
from bench.exam.measure import bars, measure, share, table
from bench.exam.policies import POLICIES, Policy, Window, ledger_share
from bench.exam.sittings import Question, Sitting, present

KEYS = (("lamp", "light"), ("pier 4",), ("noon",))


def test_an_answer_is_present_when_each_group_of_keys_has_an_alternative_nearby() -> None:
    assert present("By NOON the light on Pier 4 works.", KEYS)
    assert not present("The light on pier 4 works.", KEYS)


def test_pieces_of_an_answer_must_stand_within_600_characters() -> None:
    near, far = "." * 500, "." * 700
    assert present(f"lamp on pier 4 {near} noon", KEYS)
    assert not present(f"lamp on pier 4 {far} noon", KEYS)
    assert present(f"lamp on pier 4 {far} noon, lamp on pier 4", KEYS)


def test_the_ledger_ends_at_the_next_heading() -> None:
    text = "## Goal\nShip.\n## Evidence\nNames: a b\n## Next\nRest.\n"
    ledger = "## Evidence\nNames: a b\n"
    assert ledger_share(Window("", (text,))) == len(ledger) / len(text)
    assert ledger_share(Window("", ("## Goal\nShip.\n",))) == 0
    assert ledger_share(Window("no summary of ours")) is None


@pytest.fixture
def sitting() -> Sitting:
    talk: list[dict[str, object]] = [
        {"role": "user", "content": "Repair the lamp of pier 4 by noon."},
        {"role": "assistant", "content": "It is repaired. " + "I checked every bulb. " * 200},
        {"role": "user", "content": "Then paint the door green."},
        {"role": "assistant", "content": "The door is green."},
    ]
    questions = (Question("goal", KEYS), Question("done", (("door",), ("green",))))
    return Sitting("harbor", talk, "The door was painted green.", questions)


def test_every_policy_sits_the_exam_within_its_size(sitting: Sitting, tmp_path: Path) -> None:
    marks = measure([sitting], POLICIES, tmp_path)
    assert [mark.policy for mark in marks] == [policy.name for policy in POLICIES]
    for policy, mark in zip(POLICIES, marks, strict=True):
        if policy.factor:
            assert mark.characters <= len(sitting.own_summary) * policy.factor
    tail = tmp_path / "plain-tail-1x" / "harbor.txt"
    assert tail.read_text("utf-8") == "sistant: The door is green."


def test_marks_are_shares_of_all_questions_and_of_each_kind(sitting: Sitting) -> None:
    marks = measure([sitting], [Policy("all", lambda given, _size: Window(given.own_summary))])
    assert (share(marks), share(marks, "goal"), share(marks, "done")) == (0.5, 0, 1)
    assert table("exam", marks, "").rows == (("all", "0.50", "0.00", "1.00", "", 27),)


def test_a_window_worse_than_the_summary_it_was_given_breaks_a_promise(sitting: Sitting) -> None:
    def blank(_sitting: Sitting, _size: int) -> Window:
        return Window("")

    policies = [
        policy if policy.name.startswith("the agent") else Policy(policy.name, blank)
        for policy in POLICIES
    ]
    missed = bars(measure([sitting], policies))
    assert [bar.kept for bar in missed] == [False] * len(missed)
    assert "session 1: 0.00 against 0.50" in [bar.measured for bar in missed]


def test_without_the_sessions_there_is_no_exam(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SHARED", str(tmp_path))
    assert run().tables == ()
