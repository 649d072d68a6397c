"""Cuts: on seams, by weight, with the task always kept."""

from dataclasses import replace

import pytest
from msgspec import structs

from holdfast.compaction.cut import Cut, cut, head_ends, measured, system_end
from holdfast.compaction.policy import Shares
from holdfast.testing.builders import assistant, call, step, system, tool, user
from holdfast.tokens import Scale
from holdfast.transcript import Media, Message, Role, Text


class Letters:
    """One token a character, so that weights in tests can be read off."""

    name = "letters"

    def count(self, text: str) -> int:
        return len(text)


SCALE = Scale(Letters())
SHARES = Shares(
    limit=1_000,
    tail=100,
    ceiling=150,
    record=0,
    said=0,
    live=0,
    pins=60,
    fewest=3,
    strict=False,
)


def test_the_system_prompt_ends_where_somebody_else_speaks() -> None:
    assert system_end((system("a"), system("b"), user("c"))) == 2
    assert system_end((system("a"),)) == 1


def test_a_head_never_splits_an_exchange() -> None:
    it = measured((system("s"), user("go"), *step("a"), user("next")), SCALE)
    assert head_ends(it, 1) == (2, 2)
    assert head_ends(it, 2) == (4, 2)
    assert head_ends(it, 3) == (4, 4)
    assert head_ends(it, 99) == (4, 4)


def test_the_newest_user_message_is_never_in_the_head() -> None:
    assert head_ends(measured((system("s"), user("go"), *step("a")), SCALE), 3) == (1, 1)
    assert head_ends(measured((system("s"), assistant("a")), SCALE), 3) == (2, 2)


def test_the_tail_holds_what_its_budget_allows() -> None:
    transcript = (*[assistant("x" * 20) for _ in range(20)], user("task"))
    chosen = cut(measured(transcript, SCALE), 0, replace(SHARES, ceiling=100))
    assert chosen == Cut(0, 16, (), "the tail holds what its budget allows")


def test_the_exchange_at_the_edge_stays_whole_under_the_ceiling() -> None:
    transcript = (
        *[assistant("x" * 20) for _ in range(20)],
        assistant("y" * 80),
        *[assistant("x" * 6) for _ in range(4)],
        user("task"),
    )
    chosen = cut(measured(transcript, SCALE), 0, SHARES)
    assert (chosen.tail, chosen.why) == (20, "the exchange at the edge of the budget stays whole")


def test_when_all_fits_under_the_ceiling_the_raw_budget_cuts() -> None:
    transcript = (*[assistant("x" * 16) for _ in range(7)], user("task"))
    assert SCALE.total(transcript[:-1]) == 140
    assert cut(measured(transcript, SCALE), 0, SHARES).tail == 2


def test_a_tail_is_never_shorter_than_three_messages() -> None:
    transcript = (*[assistant("x" * 500) for _ in range(6)], user("task"))
    chosen = cut(measured(transcript, SCALE), 0, SHARES)
    assert (chosen.tail, chosen.why) == (4, "the tail is never shorter than 3 messages")


def test_protected_messages_are_a_floor_of_the_tail_where_they_fit() -> None:
    it = measured((*[assistant("x" * 20) for _ in range(30)], user("task")), SCALE)
    shares = replace(SHARES, ceiling=100, protected=9, widest=192)
    assert cut(it, 0, shares) == Cut(0, 22, (), "the last 9 messages are protected")
    assert cut(it, 0, replace(shares, widest=191)).tail == 26
    assert cut(it, 0, replace(shares, protected=3)).tail == 26
    assert cut(it, 0, replace(shares, protected=40, widest=10_000)).tail == 26


def test_what_is_set_aside_stays_and_costs_the_tail_nothing() -> None:
    it = measured((*[assistant("x" * 20) for _ in range(30)], user("task")), SCALE)
    chosen = cut(it, 0, replace(SHARES, ceiling=100, pins=0), range(3, 5))
    assert (chosen.tail, chosen.kept) == (26, (3, 4))


def test_the_newest_user_message_stays_when_its_own_turn_is_folded() -> None:
    transcript = (
        system("s"),
        user("the task"),
        *[message for number in range(30) for message in step(f"c{number}", "ls", "x" * 20)],
    )
    chosen = cut(measured(transcript, SCALE), 1, SHARES)
    assert chosen.kept == (1,)
    assert chosen.tail > 30
    assert 1 not in chosen.folded()


def test_an_open_call_of_the_running_turn_pins_its_exchange() -> None:
    transcript = (
        user("go"),
        assistant("", call("waiting"), call("done")),
        tool("done"),
        *[assistant("x" * 30) for _ in range(10)],
    )
    assert cut(measured(transcript, SCALE), 0, SHARES).kept[:3] == (0, 1, 2)


def test_a_call_that_a_later_turn_left_behind_does_not_pin() -> None:
    transcript = (
        assistant("", call("aborted")),
        user("never mind"),
        *[assistant("", call(f"c{n}", "ls", "x" * 30)) for n in range(6)],
    )
    assert 0 in cut(measured(transcript, SCALE), 0, replace(SHARES, pins=0)).folded()


def test_pins_survive_within_their_budget_newest_first() -> None:
    transcript = (
        user("p" * 30, pinned=True),
        assistant("a"),
        user("q" * 40, pinned=True),
        *[assistant("", call(f"c{n}", "ls", "x" * 30)) for n in range(6)],
        user("task"),
    )
    shares = replace(SHARES, pins=60)
    kept = cut(measured(transcript, SCALE), 0, shares).kept
    assert 2 in kept
    assert 0 not in kept


def test_the_newest_reply_that_a_person_can_see_stays() -> None:
    transcript = (
        user("go"),
        assistant("working on it"),
        *[message for number in range(9) for message in step(f"c{number}", "ls", "x" * 20)],
    )
    assert cut(measured(transcript, SCALE), 0, SHARES).kept == (0, 1)


def test_images_weigh_more_at_a_boundary() -> None:
    picture = Message(Role.USER, (Text("see"), Media()))
    shares = replace(SHARES, tail=1_604 + 8, ceiling=1_604 + 8)
    transcript = (
        assistant("a"),
        picture,
        assistant("b"),
        assistant("c"),
        user("x"),
        assistant("d"),
    )
    assert cut(measured(transcript, SCALE), 0, shares).tail == 2


@pytest.mark.parametrize("size", [0, 1, 2])
def test_very_short_transcripts_have_nothing_to_fold(size: int) -> None:
    transcript = tuple(user("x" * 500) for _ in range(size))
    assert cut(measured(transcript, SCALE), 0, SHARES).folded() == ()


def test_a_pinned_result_keeps_its_whole_exchange() -> None:
    pinned = structs.replace(tool("b"), pinned=True)
    transcript = (
        assistant("", call("a"), call("b")),
        tool("a"),
        pinned,
        *[assistant("", call(f"c{n}", "ls", "x" * 30)) for n in range(6)],
        user("task"),
    )
    assert cut(measured(transcript, SCALE), 0, SHARES).kept == (0, 1, 2)
