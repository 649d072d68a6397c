"""A SWE-agent trajectory reads as its history."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import Problem, read
from holdfast.formats.events import MAIN, About, Event, MessageEvent, StrandStarted
from holdfast.formats.source import SourceRecord, parse
from holdfast.formats.swe_agent import SWE_AGENT
from holdfast.session import Fork, Usage
from holdfast.transcript import Media, Role, Text, Thinking, shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised


def tell(*values: object) -> list[Event]:
    return list(SWE_AGENT.read(SourceRecord(line, each) for line, each in enumerate(values, 1)))


def test_history_is_the_conversation() -> None:
    document = read(sample("swe_agent.traj"))
    assert document.problems == (Problem(1, "history[4] has no known role"),)
    assert shape(document.transcript) == "\n".join(
        [
            "00 system    You fix issues.",
            "01 user      Fix the off-by-one error",
            '02 assistant (thinking) | I list files. | -> bash {"command":"ls"}',
            "03 tool      result: loop.py",
            "04 assistant Submitted.",
        ]
    )
    assert document.transcript[2].parts[0] == Thinking("where is it", "c2VhbA==", {"anthropic": {}})


def test_a_run_tells_how_it_ended_and_its_first_answer_what_it_cost() -> None:
    stats = {"instance_cost": 0.5, "tokens_sent": 9, "tokens_received": 2, "api_calls": 3}
    config = {"problem_statement": {"id": "shop-1"}, "agent": {"model": {"name": "m"}}}
    info = {"exit_status": "submitted", "model_stats": stats, "swe_agent_version": "1.1"}
    said = [
        {"role": "user", "content": "Like this", "is_demo": True, "agent": "main"},
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "b"},
    ]
    begun, *told = tell(
        {
            "environment": "swe_main",
            "trajectory": [],
            "history": said,
            "info": info,
            "replay_config": json.dumps(config),
        }
    )
    about = About(
        title="shop-1",
        model="m",
        version="1.1",
        usage=Usage(3, 9, 2, cost=0.5),
        more={"exit_status": "submitted", "environment": "swe_main"},
    )
    assert begun == StrandStarted(strand=MAIN, line=1, about=about)
    natives = [event.native for event in told if isinstance(event, MessageEvent)]
    assert [native.usage for native in natives] == [None, None, None]
    assert natives[0].more == {"agent": "main", "is_demo": True}


def test_how_a_run_was_set_up_may_be_broken_text() -> None:
    (begun,) = tell({"trajectory": [], "replay_config": "{"})
    assert begun == StrandStarted(strand=MAIN, line=1, about=About())


def test_several_trajectories_of_a_file_are_conversations_with_keys_of_their_own() -> None:
    past = {"trajectory": [], "history": [{"role": "user", "content": "a"}]}
    keys = [event.key for event in tell(past, past) if isinstance(event, MessageEvent)]
    assert keys == ["#0", "1#0"]


def a_run(*words: str, **fields: object) -> dict[str, object]:
    said = [{"role": "user", "content": each, "agent": "main"} for each in words]
    return {"trajectory": [], "history": said, **fields}


def test_each_attempt_at_a_task_is_a_conversation() -> None:
    stats = {"instance_cost": 0.5, "tokens_sent": 9, "tokens_received": 2, "api_calls": 3}
    first = a_run("a", info={"model_stats": stats})
    second = a_run("b", "c")
    config = {"agent": {"agent_configs": [{"model": {"name": "m"}}, {"model": {"name": "n"}}]}}
    told = tell(
        {
            "attempts": [first, second],
            **second,
            "info": {"best_attempt_idx": 1, "model_stats": {"instance_cost": 9.0}},
            "replay_config": json.dumps(config),
        }
    )
    begun = [each for each in told if isinstance(each, StrandStarted)]
    assert [(each.strand, each.about) for each in begun] == [
        (MAIN, About(model="m", usage=Usage(3, 9, 2, cost=0.5), more={"attempt": 0})),
        ("@1", About(model="n", more={"attempt": 1, "is_best": True})),
    ]
    words = [(each.key, each.message.text) for each in told if isinstance(each, MessageEvent)]
    assert words == [("#0", "a"), ("@1#0", "b"), ("@1#1", "c")]


def test_attempts_are_known_before_one_of_them_was_chosen() -> None:
    record = SourceRecord(1, {"attempts": [a_run("a")]})
    assert SWE_AGENT.recognize([record]) is not None
    assert SWE_AGENT.recognize([SourceRecord(1, {"attempts": []})]) is None
    assert SWE_AGENT.recognize([SourceRecord(1, {"attempts": [{"score": 1}]})]) is None


def test_an_agent_that_another_one_called_is_a_sub_agent() -> None:
    def entry(agent: str, words: str, role: str = "user", **fields: object) -> dict[str, object]:
        return {"role": role, "content": words, "agent": agent, **fields}

    said = [
        entry("primary", "be good", "system"),
        entry("other", "like this", is_demo=True),
        entry("primary", "fix it"),
        entry("helper", "look", "system"),
        entry("helper", "looking"),
        entry("helper", "look again", "system"),
        entry("primary", "thanks"),
        entry("helper", "once more"),
    ]
    told = tell({"trajectory": [], "history": said})
    begun = [each for each in told if isinstance(each, StrandStarted)]
    assert [(each.strand, each.of, each.fork, each.about.title) for each in begun] == [
        (MAIN, None, None, ""),
        ("/helper#3", MAIN, Fork.DELEGATION, "helper"),
        ("/helper#5", MAIN, Fork.DELEGATION, "helper"),
        ("/helper#7", MAIN, Fork.DELEGATION, "helper"),
    ]
    strands = [each.strand for each in told if isinstance(each, MessageEvent)]
    helpers = ["/helper#3", "/helper#3", "/helper#5"]
    assert strands == [MAIN, MAIN, MAIN, *helpers, MAIN, "/helper#7"]


def test_a_picture_in_a_task_is_kept() -> None:
    block = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    past = {"role": "user", "content": [{"type": "text", "text": "see"}, block]}
    (_, told) = tell({"trajectory": [], "history": [past]})
    assert isinstance(told, MessageEvent)
    assert told.message.parts == (Text("see"), Media("image", "image/png", "AAAA"))


def test_the_manifest_counts_steps_as_calls_though_most_agents_write_them_as_text(
    shared: Path,
) -> None:
    manifest = json.loads((shared / "data/manifest.json").read_text("utf-8"))
    files = [each for each in manifest if each["kind"] == "swe_agent"]
    assert files
    for each in files:
        (record,) = parse((shared / "data" / each["file"]).read_bytes()).records
        told = [event for event in SWE_AGENT.read([record]) if isinstance(event, MessageEvent)]
        answers = [event for event in told if event.message.role is Role.ASSISTANT]
        calls = sum(len(event.message.calls) for event in told)
        assert len(told) == each["messages"]
        # One session made two steps of one answer.
        assert len(answers) in (each["tool_calls"], each["tool_calls"] - 1)
        assert calls in (0, each["tool_calls"])


SAMPLES = st.sampled_from(("swe_agent.traj",))


@given(SAMPLES.flatmap(lambda name: surprised(records_of(sample(name).encode()))))
def test_a_file_with_surprises_is_told_by_the_rules(records: list[SourceRecord]) -> None:
    assert breaks(SWE_AGENT, records) == []
