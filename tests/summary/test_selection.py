"""Which statements fit: never more than the budget, the worthiest, an ask with its answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.selection import StatementSelection
from holdfast.summary.statements import Origin, Statement, StatementKind
from tests.summary.material import count

SECTIONS = ("actions", "constraints", "decisions", "critical", "state")


@st.composite
def statements(draw: st.DrawFn) -> list[Statement]:
    """Statements of several entries, each with at most one head, in the order of a draft."""
    found: list[Statement] = []
    for entry in range(draw(st.integers(0, 8))):
        section = draw(st.sampled_from(SECTIONS))
        has_head = draw(st.booleans())
        found += [
            Statement(
                draw(st.sampled_from(StatementKind)),
                draw(st.text(alphabet="ab 语é\n", min_size=1, max_size=120)),
                section,
                entry,
                order,
                draw(st.floats(0, 3)),
                origin=draw(st.sampled_from(Origin)),
                is_head=has_head and order == 0,
            )
            for order in range(draw(st.integers(1, 5)))
        ]
    return found


BUDGETS = st.integers(0, 2_000) | st.integers(0, 1_000_000)


def choose(told: list[Statement], budget: int) -> list[Statement]:
    return StatementSelection(told, budget, count).statements


def entry_of(statement: Statement) -> tuple[str, int]:
    return statement.section, statement.entry


@given(statements(), BUDGETS)
def test_what_is_chosen_never_weighs_more_than_the_budget(
    told: list[Statement], budget: int
) -> None:
    assert sum(count(each.text) for each in choose(told, budget)) <= budget


@given(statements(), BUDGETS)
def test_what_is_chosen_keeps_its_order_and_comes_once(told: list[Statement], budget: int) -> None:
    places = [id(each) for each in told]
    chosen = [places.index(id(each)) for each in choose(told, budget)]
    assert chosen == sorted(set(chosen))


@given(statements(), BUDGETS)
def test_nothing_of_an_entry_is_told_without_its_head(told: list[Statement], budget: int) -> None:
    chosen = choose(told, budget)
    heads = {entry_of(each) for each in told if each.is_head}
    told_heads = {entry_of(each) for each in chosen if each.is_head}
    assert {entry_of(each) for each in chosen} & heads == told_heads


@given(statements())
def test_with_room_for_all_everything_is_chosen(told: list[Statement]) -> None:
    assert choose(told, 1_000_000) == told


@given(statements(), BUDGETS)
def test_the_same_statements_and_room_give_the_same_choice(
    told: list[Statement], budget: int
) -> None:
    assert choose(told, budget) == choose(list(told), budget)


@given(statements(), st.integers(0, 500))
def test_what_is_left_out_does_not_fit_beside_what_is_chosen(
    told: list[Statement], budget: int
) -> None:
    chosen = choose(told, budget)
    used = sum(count(each.text) + 2 for each in chosen) + 6 * len(set(map(entry_of, chosen)))
    opened = set(map(entry_of, chosen))
    heads = {entry_of(each): count(each.text) + 2 for each in told if each.is_head}
    known = set(map(id, chosen))
    for each in told:
        if id(each) in known:
            continue
        cost = count(each.text) + 2
        if entry_of(each) not in opened:
            cost += 6 + (0 if each.is_head else heads.get(entry_of(each), 0))
        assert used + cost > budget or budget - used < 6


@given(statements(), st.integers(0, 500), st.integers(0, 500))
def test_room_that_is_found_later_is_used_and_never_exceeded(
    told: list[Statement], budget: int, more: int
) -> None:
    choice = StatementSelection(told, budget, count)
    before = choice.statements
    choice.extend(more)
    after = choice.statements
    assert set(map(id, before)) <= set(map(id, after))
    assert sum(count(each.text) for each in after) <= budget + more


@given(statements(), st.integers(1, 500), st.integers(1, 500))
def test_what_is_given_up_frees_tokens_and_leaves_no_answer_without_its_ask(
    told: list[Statement], budget: int, over: int
) -> None:
    choice = StatementSelection(told, budget, count)
    before = choice.statements
    choice.shrink(over)
    after = choice.statements
    assert len(after) < len(before) or not before
    heads = {entry_of(each) for each in told if each.is_head}
    assert {entry_of(each) for each in after} & heads <= {
        entry_of(each) for each in after if each.is_head
    }


@pytest.mark.parametrize("kind", [StatementKind.OPEN, StatementKind.STATE])
def test_what_holds_now_goes_before_what_was_told(kind: StatementKind) -> None:
    story = [
        Statement(StatementKind.ASK, f"Then do part {at} of it", "actions", at, density=3.0)
        for at in range(1, 60)
    ]
    now = Statement(kind, "Branch: fix/login", "state", -1)
    told = [now, *story]
    assert now.text in [each.text for each in choose(told, 60)]


def test_rules_and_values_outlast_narration_and_looking_around() -> None:
    rule = Statement(StatementKind.CONSTRAINT, "Never touch the schema.", "constraints", -1)
    value = Statement(StatementKind.VALUE, "My name is Marta Lindqvist.", "critical", -2)
    noise = [
        Statement(kind, f"looked into src/part_{at}.py and saw nothing", "actions", at)
        for at in range(1, 200)
        for kind in (StatementKind.LOOK, StatementKind.REMARK, StatementKind.DETAIL)
    ]
    texts = [each.text for each in choose([rule, value, *noise], 120)]
    assert {rule.text, value.text} <= set(texts)


def test_the_newer_of_two_alike_is_told_where_one_fits() -> None:
    told = [
        Statement(
            StatementKind.CHANGE, f"src/part_{at}.py was changed for the retry", "actions", at
        )
        for at in range(1, 80)
    ]
    chosen = choose(told, 120)
    assert chosen[-1].text == told[-1].text
    assert chosen[0].entry > 40


def test_what_earlier_records_said_keeps_a_part_of_the_room() -> None:
    earlier = [
        Statement(
            StatementKind.RESULT, f"Part {at} was shipped.", "actions", at, origin=Origin.EARLIER
        )
        for at in range(1, 60)
    ]
    turns = [
        Statement(StatementKind.ASK, f"Now ship part {at} of it, please.", "actions", at)
        for at in range(60, 200)
    ]
    chosen = choose([*earlier, *turns], 600)
    origins = [each.origin for each in chosen]
    assert origins.count(Origin.EARLIER) >= 5
    assert origins.count(Origin.TURNS) >= origins.count(Origin.EARLIER)


def test_what_a_model_wrote_goes_before_what_the_turns_tell() -> None:
    written = Statement(
        StatementKind.DETAIL, "The cache was the cause.", "critical", -1, origin=Origin.MODEL
    )
    turns = [Statement(StatementKind.ASK, f"Do part {at}.", "actions", at) for at in range(1, 90)]
    assert written.text in [each.text for each in choose([written, *turns], 40)]


@given(st.sampled_from(StatementKind), st.floats(0, 3), st.floats(0, 10**6))
def test_worth_never_rises_with_age(kind: StatementKind, density: float, age: float) -> None:
    statement = Statement(kind, "x", density=density)
    assert 0 <= statement.worth(age) <= statement.worth(0)


def test_what_is_told_already_gives_way_to_what_is_new() -> None:
    told = [
        Statement(
            StatementKind.REPLY, "The loader keeps every header of the import now.", "actions", at
        )
        for at in range(1, 9)
    ]
    new = Statement(
        StatementKind.REMARK, "Parallel uploads stay disabled on Windows.", "actions", 0
    )
    texts = [each.text for each in choose([new, *told], 40)]
    assert texts.count(told[0].text) == 1
    assert new.text in texts
    assert len(choose([new, *told], 1_000)) == len(told) + 1


def test_what_a_user_said_gives_way_to_nobody_who_said_the_opposite() -> None:
    said = "Redis is used for the queue."
    no = Statement(StatementKind.ASK, "No, not Redis for the queue.", "actions", 1, label="User")
    told = [Statement(StatementKind.RESULT, said, "actions", 1, 1, label="Assistant"), no]
    more = Statement(StatementKind.REMARK, "The page has wide margins.", "actions", 0)
    assert no in choose([more, *told], 44)


def test_a_number_alone_makes_a_statement_new() -> None:
    told = [
        Statement(StatementKind.REPLY, f"The port of the worker is {4_000 + at}.", "actions", at)
        for at in range(1, 4)
    ]
    assert len(choose(told, 60)) == 3


def test_how_a_turn_ended_is_told_though_the_state_has_its_words() -> None:
    commit = "27a33e9 Grease every pump of the northern mill"
    told = [
        Statement(StatementKind.ASK, "Commit it first", entry=1, is_head=True),
        Statement(StatementKind.RESULT, f"Committed: {commit}", entry=1, order=1),
        Statement(StatementKind.REPLY, "The working tree is clean otherwise.", entry=1, order=2),
        Statement(StatementKind.STATE, f"Commits: {commit}", "state", 2),
    ]
    assert choose(told, 56) == [told[0], told[1], told[3]]
