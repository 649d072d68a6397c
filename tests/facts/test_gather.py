"""Facts of messages, with who used them, how often and where."""

import json
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts import Evidence, Fact, Kind, gather
from holdfast.transcript import Message, Role, Summary, Text, ToolCall, ToolResult


def user(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def agent(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


def ran(command: str) -> Message:
    return Message(Role.ASSISTANT, (ToolCall("c", "Bash", json.dumps({"command": command})),))


def printed(text: str) -> Message:
    return Message(Role.TOOL, (ToolResult("c", (Text(text),)),))


def found(*messages: Message) -> dict[str, Evidence]:
    return {each.fact.text: each for each in gather(messages)}


def test_a_fact_knows_where_it_was_seen_first_and_last() -> None:
    evidence = found(
        user("fix src/app.py"), agent("ok"), printed("src/app.py:3 and src/app.py:9"), agent("so")
    )
    each = evidence["src/app.py"]
    assert (each.fact, each.first, each.last) == (Fact(Kind.PATH, "src/app.py"), 0, 2)


def test_what_the_agent_used_is_hotter_than_what_a_tool_printed() -> None:
    evidence = found(agent("see load_config"), printed("see save_config"))
    assert evidence["load_config"].heat > evidence["save_config"].heat


def test_what_was_used_lately_is_hotter_than_what_was_used_long_ago() -> None:
    evidence = found(agent("see load_config"), *[agent("hm")] * 400, agent("see save_config"))
    assert evidence["save_config"].heat > evidence["load_config"].heat


def test_a_summary_of_an_earlier_compaction_keeps_its_facts() -> None:
    summary = Message(Role.USER, (Summary("Numbers: 340\nNames: read-only load_config"),))
    assert set(found(summary)) == {"340", "read-only", "load_config"}


def test_numbers_that_only_a_tool_printed_are_not_facts() -> None:
    assert set(found(printed("340 8192 2.1.3 read-only yes/no SHOULD load_config"))) == {
        "load_config"
    }


def test_prose_becomes_a_fact_when_the_agent_calls_with_it() -> None:
    assert set(found(agent("read-only"), ran("mount read-only"))) == {"read-only"}


def test_a_line_that_came_up_again_is_one_fact() -> None:
    evidence = found(user("Never push to main."), agent("ok"), user("Never push to main."))
    each = evidence["Never push to main"]
    assert (each.first, each.last) == (0, 2)


def test_facts_come_in_the_order_in_which_they_appeared() -> None:
    evidence = gather((agent("z_first"), agent("a_second"), agent("m_third")))
    assert [each.fact.text for each in evidence] == ["z_first", "a_second", "m_third"]


def test_output_beyond_the_limit_is_read_newest_first() -> None:
    page = "x" * 15_000
    pages = [printed(f"{page} name_{number}") for number in range(80)]
    evidence = found(agent("old_words"), *pages)
    assert "old_words" in evidence
    assert "name_79" in evidence
    assert "name_0" not in evidence


def test_messages_too_old_to_matter_are_not_read() -> None:
    assert found(agent("old_words"), *[agent("hm")] * 4_000) == {}


def test_of_very_many_names_the_hottest_are_returned() -> None:
    many = " ".join(f"name_{number:05}" for number in range(2_500))
    evidence = found(printed(many[:15_000]), printed(many[15_000:]), agent("kept_name"))
    assert len(evidence) == 1_800
    assert "kept_name" in evidence


@given(st.lists(st.tuples(st.sampled_from([user, agent, ran, printed]), st.text()), max_size=8))
def test_every_fact_has_a_place_in_the_messages(
    parts: list[tuple[Callable[[str], Message], str]],
) -> None:
    messages = tuple(make(text) for make, text in parts)
    for each in gather(messages):
        assert 0 <= each.first <= each.last < len(messages)
        assert each.heat > 0
