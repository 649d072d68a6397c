"""The tree of sessions: who goes on where, and what it is called."""

from dataclasses import replace

import pytest

from holdfast.session import (
    EndReason,
    Fork,
    Session,
    children_of,
    latest_leaf,
    next_title,
    path_to,
    siblings_of,
)


def session(id_: str, parent: str | None = None, **more: object) -> Session:
    fields = Session(id=id_, source="cli", started=int(id_[1:] or 0), parent=parent, root="s0")
    fork = Fork.BRANCH if parent else None
    return replace(fields, **{"fork": fork, **more})  # pyright: ignore[reportArgumentType]


def ended(id_: str, parent: str | None = None, **more: object) -> Session:
    return session(id_, parent, ended=9, end_reason=EndReason.COMPRESSION, **more)


def ids(sessions: tuple[Session, ...]) -> list[str]:
    return [each.id for each in sessions]


TREE = (session("s0"), session("s3", "s0"), session("s1", "s0"), session("s2", "s1"))


def test_children_come_oldest_first() -> None:
    assert ids(children_of(TREE, "s0")) == ["s1", "s3"]
    assert children_of(TREE, "s2") == ()


def test_a_path_leads_from_the_root() -> None:
    assert ids(path_to(TREE, "s2")) == ["s0", "s1", "s2"]
    assert path_to(TREE, "none") == ()
    assert ids(path_to(TREE[1:], "s3")) == ["s3"]


def test_a_path_through_a_circle_ends() -> None:
    circle = (session("s0", "s1"), session("s1", "s0"))
    assert ids(path_to(circle, "s0")) == ["s1", "s0"]


def test_siblings_are_the_other_children() -> None:
    assert ids(siblings_of(TREE, "s1")) == ["s3"]
    assert siblings_of(TREE, "s0") == ()
    assert siblings_of(TREE, "none") == ()


def test_a_session_that_lives_is_its_own_leaf() -> None:
    assert latest_leaf(TREE, "s0").id == "s0"


ROTATED = {"fork": Fork.COMPRESSION}


def test_a_session_goes_on_in_the_child_that_it_ended_for() -> None:
    tree = (
        ended("s0"),
        ended("s1", "s0", **ROTATED),
        session("s2", "s1", **ROTATED),
        session("s3", "s0"),
        session("s4", "s1", fork=Fork.RESET),
    )
    assert latest_leaf(tree, "s0").id == "s2"
    assert latest_leaf(tree, "s3").id == "s3"


def test_of_several_branches_the_one_is_followed_that_ended_the_parent() -> None:
    parent = session("s0", ended=3, end_reason=EndReason.BRANCHED)
    tree = (parent, session("s1", "s0"), session("s3", "s0"), session("s5", "s0"))
    assert latest_leaf(tree, "s0").id == "s3"
    assert latest_leaf((parent, *tree[1:2], tree[3]), "s0").id == "s5"


def test_a_session_that_was_closed_goes_on_in_itself() -> None:
    tree = (session("s0", ended=9, end_reason=EndReason.CLOSED), session("s1", "s0"))
    assert latest_leaf(tree, "s0").id == "s0"


def test_sub_agents_and_the_trash_are_not_followed() -> None:
    tree = (
        ended("s0"),
        session("s1", "s0", fork=Fork.DELEGATION),
        session("s2", "s0", trashed=5, fork=Fork.COMPRESSION),
        session("s3", "s0", fork=Fork.REVIEW),
    )
    assert latest_leaf(tree, "s0").id == "s0"


def test_where_nothing_lives_the_line_ends() -> None:
    tree = (ended("s0"), ended("s1", "s0", **ROTATED), ended("s2", "s1", **ROTATED))
    assert latest_leaf(tree, "s0").id == "s2"


def test_a_circle_has_an_end() -> None:
    circle = (ended("s0", "s1", **ROTATED), ended("s1", "s0", **ROTATED))
    assert latest_leaf(circle, "s0").id in {"s0", "s1"}


@pytest.mark.parametrize(
    ("title", "taken", "expected"),
    [
        ("Task", (), "Task #2"),
        ("Task #2", (), "Task #3"),
        ("Task", ("Task", "Task #7", "Other #9"), "Task #8"),
        ("Task #2", ("Task #4",), "Task #5"),
        ("a\nb #3", (), "a\nb #4"),
        ("", (), ""),
        ("", ("Task #4",), ""),
    ],
)
def test_the_next_title_counts(title: str, taken: tuple[str, ...], expected: str) -> None:
    assert next_title(title, taken) == expected
