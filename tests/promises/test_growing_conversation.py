"""A conversation that never ends: ten compactions in a row, and what is still true after them."""

import re
from dataclasses import dataclass, field
from functools import cache

import holdfast
from holdfast.engines import ChatEngine, EngineDeps
from holdfast.testing import FixedClock
from holdfast.tokens import Estimator
from holdfast.wire.markers import END, PREFIX
from tests.promises.conversations import Messages, assistant, step, system, turn, user
from tests.promises.invariants import assert_sound, summary_of, wire

WINDOW = 32_000
PASSES = 10
RULE = "Never touch the schema of the billing tables."
LATER_RULE = "Always write invoices in British spelling."
STEADY = "tools/check_ledger.sh --host stage-7.example:9443 --strict"
USED = ("tools/check_ledger.sh", "stage-7.example:9443", RULE, LATER_RULE)
"""What the first turns introduced: two rules that still hold, a tool and a host in use."""
EVERY = 60
"""Turns between two uses of the tool, more than one pass folds."""


class Counting:
    """Counts tokens like the estimator, and what it is made to read."""

    name = "counting"

    def __init__(self) -> None:
        self._estimator = Estimator()
        self.characters = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return self._estimator.count(text)


@dataclass(frozen=True)
class Pass:
    """One compaction of the growing conversation."""

    sent: Messages
    result: holdfast.Compaction
    weighed: int
    """Characters that the pass had counted."""


@dataclass(frozen=True)
class Run:
    passes: list[Pass] = field(default_factory=list[Pass])
    per_turn: list[int] = field(default_factory=list[int])
    """Characters counted to decide whether compaction is due, turn by turn."""


def spoken(number: int) -> Messages:
    """Return one turn; the check comes up now and then, a second rule once."""
    messages = turn(number, steps=3)
    if number % EVERY == 1:
        messages[1:1] = step(f"check_{number}", STEADY, f"the ledger is in order, run {number}")
    if number == 12:
        messages += [user(LATER_RULE), assistant("British spelling it is.")]
    return messages


@cache
def grown() -> Run:
    """Talk until the conversation was compacted ten times."""
    counter = Counting()
    setup = EngineDeps(clock=FixedClock(), counter=counter)
    engine = ChatEngine(holdfast.Policy(context_length=WINDOW), setup)
    run = Run()
    window: Messages = [system(), user(f"Set up the billing service. {RULE}"), assistant("Fine.")]
    number = 0
    while len(run.passes) < PASSES:
        window += spoken(number)
        number += 1
        counter.characters = 0
        due = engine.should_compress(window)
        run.per_turn.append(counter.characters)
        if due:
            counter.characters = 0
            result = engine.compress(window)
            run.passes.append(Pass(list(window), result, counter.characters))
            window = list(result.messages)
        assert number < 5_000
    return run


def actions(summary: str) -> list[int]:
    section = summary.partition("## Completed Actions\n")[2].partition("\n## ")[0]
    return [int(number) for number in re.findall(r"^(\d+)\. ", section, re.MULTILINE)]


def test_every_pass_folds_and_keeps_every_promise() -> None:
    for each in grown().passes:
        assert each.result.report.outcome == "folded"
        assert_sound(each.sent, each.result)


def test_there_is_one_record_and_no_pass_quotes_the_one_before() -> None:
    for each in grown().passes:
        sent = wire(each.result.messages)
        assert sent.count(wire(PREFIX).strip('"')) == 1
        assert sent.count(END) == 1
        assert sent.count("## Completed Actions") == 1


def test_the_numbers_of_completed_actions_only_rise() -> None:
    numbers = [actions(summary_of(each.result.messages)) for each in grown().passes]
    assert all(found == sorted(set(found)) for found in numbers)
    lasts = [found[-1] for found in numbers]
    assert lasts == sorted(set(lasts))
    assert lasts[-1] > 10 * len(numbers[-1]) / 2


def test_what_the_first_turns_introduced_and_later_ones_use_is_still_there() -> None:
    turns = len(grown().per_turn)
    assert turns > 300
    for each in grown().passes:
        sent = wire(each.result.messages)
        assert [fact for fact in USED if fact not in sent] == []
    assert "Set up the billing service" in summary_of(grown().passes[-1].result.messages)


def test_an_ask_that_was_answered_is_never_pending() -> None:
    for each in grown().passes:
        section = summary_of(each.result.messages).partition("## Historical Pending User Asks\n")[2]
        assert section.partition("\n## ")[0].strip() == "None."


def test_the_window_stays_bounded() -> None:
    threshold = holdfast.Policy(context_length=WINDOW).threshold_tokens
    after = [each.result.report.tokens_after for each in grown().passes]
    assert max(after) <= threshold * 0.6
    assert max(after[5:]) <= 1.15 * max(after[:5])


def test_a_late_pass_costs_no_more_than_an_early_one() -> None:
    costs = [each.weighed for each in grown().passes]
    assert costs[0] > 0
    assert max(costs[6:]) <= 1.5 * max(costs[1:4])


def test_deciding_that_nothing_is_due_costs_only_what_is_new() -> None:
    sizes = [sum(len(wire(message)) for message in spoken(number)) for number in range(60)]
    quiet = sorted(grown().per_turn)[: len(grown().per_turn) - PASSES - 2]
    assert max(quiet) <= max(sizes)
