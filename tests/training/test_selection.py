"""The right sessions, in the same order every time, all of a lineage on one side."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.session import Fork
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.builders import assistant, call, tool, user
from holdfast.training import LeftOut, LeftOutReason, Selection, Split, TrainingExport, order_of
from tests.training.stored import begin, branch, compact, export, lines, say, scratch

TALK = (user("a"), assistant("b"))


def chosen(store: SqliteStore, **wanted: object) -> list[str]:
    selection = Selection(**wanted)  # type: ignore[arg-type]
    return [
        str(each["id"])
        for each in lines(store, TrainingExport(format="openai", selection=selection))
    ]


def test_sessions_come_by_lineage_and_the_oldest_first(store: SqliteStore) -> None:
    begin(store, "20260102", TALK, started=20)
    begin(store, "20260101", TALK, started=3)
    branch(store, "20260101", "20260105", 2)
    begin(store, "20260103", TALK, started=10)
    found = [*order_of(store, Selection())]
    assert found == [
        ("20260101", ("20260101", "20260105")),
        ("20260102", ("20260102",)),
        ("20260103", ("20260103",)),
    ]
    say(store, "20260103", *TALK)
    assert [*order_of(store, Selection())] == found


def test_more_sessions_than_are_read_at_once_are_all_there(store: SqliteStore) -> None:
    ids = [begin(store, f"s{number:04}", started=number) for number in range(1_203)]
    assert [root for root, _ in order_of(store, Selection())] == ids


def test_the_trash_is_not_exported(store: SqliteStore) -> None:
    begin(store, "a", TALK)
    begin(store, "b", TALK)
    store.trash(["a"], 5)
    assert chosen(store) == ["b"]


def test_filters_choose_by_what_the_store_knows(store: SqliteStore) -> None:
    begin(store, "a", TALK, source="import:codex", model="gpt-5", started=10)
    begin(store, "b", TALK, source="cli", model="opus", started=90_000)
    begin(store, "c", TALK, source="cli", metadata={"cwd": "/home/me/project/src"})
    branch(store, "c", "d", 2)
    assert chosen(store, sources=("import:codex",)) == ["a"]
    assert chosen(store, models=("opus", "gpt-5")) == ["a", "b"]
    assert chosen(store, since=80_000) == ["b"]
    assert chosen(store, until=80_000) == ["a", "c", "d"]
    assert chosen(store, folder="/home/me/project") == ["c", "d"]
    assert chosen(store, folder="/home/me/proj") == []


def test_filters_choose_by_what_was_said(store: SqliteStore) -> None:
    failed = (assistant("", call("c", "cat")), tool("c", "no such file", is_error=True))
    begin(store, "a", TALK)
    begin(store, "b", TALK * 3)
    begin(store, "c", (*TALK, user("look"), *failed, assistant("oh")))
    assert chosen(store, min_turns=2) == ["b", "c"]
    assert chosen(store, tool_errors=False) == ["a", "b"]
    assert chosen(store, max_tokens=15) == ["a"]
    found = export(store, TrainingExport(format="openai", selection=Selection(min_turns=9)))
    assert found == [LeftOut(id_, LeftOutReason.TOO_SHORT) for id_ in "abc"]


STEPS = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from(["branch", "agent", "rotation", "begin"])),
    max_size=12,
)


@given(steps=STEPS, seed=st.integers(0, 99), shares=st.sampled_from([(50, 50), (40, 30, 30)]))
def test_forks_of_one_conversation_are_never_on_both_sides(
    steps: list[tuple[int, str]], seed: int, shares: tuple[float, ...]
) -> None:
    with scratch() as store:
        ids = [begin(store, "s0", TALK * 2)]
        for number, (which, how) in enumerate(steps, 1):
            parent, name = ids[which % len(ids)], f"s{number}"
            is_live = store.session(parent).is_live
            if how == "begin":
                begin(store, name, TALK * 2)
            elif how == "rotation" and is_live:
                compact(store, parent, 1, 2, rotated_to=name)
                say(store, name, *TALK)
            else:
                fork = Fork.DELEGATION if how == "agent" else Fork.BRANCH
                branch(store, parent, name, 2, fork)
                say(store, name, *TALK)
            ids.append(name)
        wanted = TrainingExport(format="openai", split=Split(shares, seed))
        found = [each for each in export(store, wanted) if not isinstance(each, LeftOut)]
        sides: dict[str, set[str]] = {}
        for each in found:
            sides.setdefault(store.session(each.id).root, set()).add(each.side)
        assert all(len(each) == 1 for each in sides.values())
        assert {side for each in sides.values() for side in each} <= set(wanted.split.sides)  # type: ignore[union-attr]
        assert len(found) == len(ids)


def test_a_split_has_the_shares_that_were_asked_for() -> None:
    split = Split((90, 5, 5), 7)
    sides = [split.side_of(f"2026_{number}") for number in range(20_000)]
    assert split.sides == ("train", "validation", "test")
    assert 0.89 < sides.count("train") / 20_000 < 0.91
    assert 0.04 < sides.count("test") / 20_000 < 0.06


def test_a_side_depends_on_the_lineage_and_the_seed_alone() -> None:
    roots = [f"2026_{number}" for number in range(200)]
    first = [Split((50, 50), 1).side_of(root) for root in roots]
    assert first == [Split((50, 50), 1).side_of(root) for root in roots]
    assert first != [Split((50, 50), 2).side_of(root) for root in roots]
