"""Arguments as models write them become what is asked for, or a sentence."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall.arguments import SearchArguments, read_arguments
from holdfast.recall.values import Asked, Browse, Discovery, Inside, Read, Scope, Scroll, Wrong
from holdfast.transcript import Role


def moment(text: str, end: bool) -> int | None:
    return int(text) + end if text.isdecimal() else None


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [
        ({}, Asked(Browse(Scope(), 10))),
        ({"query": " ", "session_id": None, "role": []}, Asked(Browse(Scope(), 10))),
        ({"query": "port"}, Asked(Discovery(query="port", scope=Scope(), limit=3))),
        (
            {"query": "port", "session_id": "s", "limit": "5", "sort": "newest"},
            Asked(
                Inside(query="port", session_id="s", scope=Scope(), limit=5, sort="newest"),
            ),
        ),
        (
            {"query": "port", "sort": "oldest", "offset": 6},
            Asked(Discovery(query="port", scope=Scope(), limit=3, sort="oldest", offset=6)),
        ),
        (
            {
                "query": 8000,
                "role": "user, Tool",
                "source": ["cli", "api"],
                "since": "10",
                "until": "20",
                "include_subagents": "true",
                "limit": 1e9,
            },
            Asked(
                Discovery(
                    query="8000",
                    scope=Scope(
                        roles=(Role.USER, Role.TOOL),
                        sources=("cli", "import:cli", "api", "import:api"),
                        since=10,
                        until=21,
                        include_subagents=True,
                    ),
                    limit=20,
                )
            ),
        ),
        ({"session_id": "s"}, Asked(Read("s"))),
        ({"around_message_id": "7"}, Asked(Scroll(message_id=7))),
        (
            {"around_message_id": 7.0, "session_id": "s", "window": 99},
            Asked(Scroll(message_id=7, session_id="s", window=50)),
        ),
        (
            {"around_message_id": 7, "window": 3, "offset": 100},
            Asked(Scroll(message_id=7, window=0, offset=100)),
        ),
        (
            {"profile": "work", "include_current": True},
            Asked(Browse(Scope(), 10), "work", include_current=True),
        ),
    ],
)
def test_arguments_are_read_into_a_shape(given_: Mapping[str, object], wanted: Asked) -> None:
    assert read_arguments(given_, moment) == wanted


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"query": "a", "around_message_id": 1}, "do not go together"),
        ({"querry": "a"}, "did you mean query?"),
        ({"zzz": "a"}, "there are: query, session_id"),
        ({"query": "a", "role": "robot"}, "allowed: system, user, assistant, tool"),
        ({"query": "a", "since": "soon"}, "since is 'soon'; write a date"),
        ({"query": "a", "since": "9", "until": "3"}, "later than until"),
        ({"query": "a", "sort": "loudest"}, "allowed: relevance, newest, oldest"),
        ({"query": "a", "limit": "many"}, "limit is 'many'; give a whole number"),
        ({"query": "a", "limit": True}, "give a whole number"),
        ({"around_message_id": -1}, "give a whole number"),
        ({"around_message_id": 1.5}, "give a whole number"),
        ({"around_message_id": {"id": 1}}, "give a whole number"),
        ({"query": {"text": "a"}}, "query must be text"),
        ({"include_current": "perhaps"}, "give true or false"),
    ],
)
def test_what_cannot_be_understood_says_what_to_do(
    given_: Mapping[str, object], words: str
) -> None:
    found = read_arguments(given_, moment)
    assert isinstance(found, Wrong)
    assert words in found.problem


def test_subagents_and_tools_are_left_out_unless_they_are_asked_for() -> None:
    assert Scope().filters.exclude_sources == ("subagent", "tool")
    assert Scope(include_subagents=True).filters.exclude_sources == ()
    assert Scope(sources=("tool",)).filters.exclude_sources == ()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(list(SearchArguments.__annotations__)), values))
def test_no_argument_makes_it_fail(arguments: dict[str, object]) -> None:
    assert isinstance(read_arguments(arguments, moment), Asked | Wrong)
