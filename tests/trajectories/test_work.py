"""What is done with a batch: lines in, lines out, and never an exception."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ConfigError
from holdfast.summary import Written
from holdfast.trajectories.asking import NOTICE
from holdfast.trajectories.compression import TrajectoryPolicy
from holdfast.trajectories.items import Item, TrajectoryBatch, batches, find_inputs
from holdfast.trajectories.work import (
    Failed,
    FinishedTrajectory,
    Outcome,
    Waiting,
    complete,
    prepare_process,
    process,
)
from tests.formats.samples import FORMAT_OF, SESSIONS
from tests.trajectories.material import (
    SECRETS,
    SHAPES,
    SMALL,
    WORK,
    Said,
    Turns,
    expected_region,
    finished,
    lined,
    long_story,
    openai,
    outcome,
    outcomes,
    sharegpt,
    speaker_of,
    targets,
    trajectories,
    weight_of,
    words,
)

KEYS = {"sharegpt": "conversations", "openai": "messages", "parts": "conversations"}
ASKS = replace(WORK, asks=True)


def turn_bytes(line: bytes, key: str) -> list[bytes]:
    """Return the turns of a line as they are written in it."""
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    return [bytes(raw) for raw in msgspec.json.decode(fields[key], type=list[msgspec.Raw])]


@given(trajectories(), st.booleans(), targets)
def test_turns_that_are_kept_are_the_bytes_that_they_were(
    raw: Turns, ascii_only: bool, policy: TrajectoryPolicy
) -> None:
    turns = [json.dumps(turn, ensure_ascii=ascii_only) for turn in raw]
    line = f'{{"conversations": [{",  ".join(turns)}], "id": 7}}'.encode()
    done = finished(line, replace(WORK, policy=policy))
    kept = turn_bytes(done.line, "conversations")
    before = [turn.encode() for turn in turns]
    tokens = [weight_of(turn) for turn in raw]
    region = expected_region([speaker_of(turn) for turn in raw], tokens, policy)
    if region is None:
        assert done.line == line + b"\n"
        return
    start, stop = region
    assert kept[start + 1 :] == before[stop:]
    first = 1 if NOTICE.strip() in kept[0].decode() else 0
    assert kept[first:start] == before[first:start]


def test_a_third_of_the_lines_that_are_drawn_are_compressed() -> None:
    drawn: list[bool] = []

    @settings(derandomize=True, max_examples=300)
    @given(trajectories(), targets)
    def draw(raw: Turns, policy: TrajectoryPolicy) -> None:
        done = finished({"conversations": raw}, replace(WORK, policy=policy))
        drawn.append(done.metrics.was_compressed)

    draw()
    assert sum(drawn) * 3 >= len(drawn)


@given(trajectories(), targets)
def test_a_line_is_one_line_of_json_whose_figures_are_true(
    raw: Turns, policy: TrajectoryPolicy
) -> None:
    work = replace(WORK, policy=policy)
    done = finished({"id": "x", "conversations": raw, "z": [1]}, work)
    assert done.line.count(b"\n") == 1
    told = json.loads(done.line)
    assert list(told) == ["id", "conversations", "z"]
    assert (told["id"], told["z"]) == ("x", [1])
    assert done.metrics.compressed_tokens == sum(map(weight_of, told["conversations"]))
    assert done.metrics.compressed_turns == len(told["conversations"])
    over = done.metrics.compressed_tokens > policy.target_tokens
    assert done.metrics.still_over_limit == over


@pytest.mark.parametrize(
    "line",
    [
        lined({"conversations": sharegpt(long_story(1))}),
        lined({"id": 5, "conversations": sharegpt(long_story(1)), "score": 0.5, "tags": []}),
        lined({"messages": openai(long_story(1)), "tools": [{"name": "bash"}]}),
        lined({"conversations": []}),
        lined({"messages": []}),
        lined(openai(long_story(1))),
        lined(sharegpt(long_story(1))),
        b"[]",
        b'{"conversations":[{"from":"human","value":"\\u00e9 \\/ \\ud83e\\uddf5"}],"n":1e5}',
        b'{"n":123456789012345678901234567890,"conversations":[{"from":"gpt","value":"","w":1.0}]}',
    ],
)
def test_a_line_under_the_target_is_the_same_bytes(line: bytes) -> None:
    done = finished(line)
    assert done.line == line + b"\n"
    assert done.metrics.skipped_under_target


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({"id": 1, "conversations": sharegpt(long_story(1)), "tags": ["a"]}).encode(),
        json.dumps(openai(long_story(1))).encode(),
        b'{ "conversations":[] }',
        b'{"conversations":[],"id":1,"id":2}',
        b'{"na\\u00efve":1,"conversations":[]}',
    ],
)
def test_a_line_under_the_target_is_the_same_bytes_however_it_is_spaced(line: bytes) -> None:
    assert finished(line).line == line + b"\n"


@pytest.mark.parametrize("exchanges", [1, 12])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_that_is_laid_out_becomes_one_line(exchanges: int, end: str) -> None:
    for value in (
        {"id": {"a": 1}, "conversations": sharegpt(long_story(exchanges))},
        openai(long_story(exchanges)),
    ):
        content = json.dumps(value, indent=2).replace("\n", end).encode()
        done = finished(content)
        assert (done.line.count(b"\n"), done.line.count(b"\r")) == (1, 0)
        assert done.line == finished(lined(value)).line


def test_what_hermes_notes_among_messages_is_no_turn() -> None:
    messages = openai(long_story(1))
    note = {"role": "session_meta", "content": "x", "model": "m"}
    done = finished({"id": 1, "messages": [note, *messages]})
    assert json.loads(done.line) == {"id": 1, "messages": messages}


@pytest.mark.parametrize(
    "speakers",
    [
        ("system", "human", "gpt", "tool"),
        ("system", "user", "assistant", "observation"),
        ("system", "human", "function_call", "observation"),
        ("system", "user", "chatgpt", "function"),
        ("developer", "user", "bing", "function_response"),
    ],
)
def test_every_name_of_a_speaker_is_read(speakers: tuple[str, ...]) -> None:
    roles: list[str] = ["system", "human", "gpt", "tool"]
    named = dict(zip(roles, speakers, strict=True))
    raw: Turns = [{"from": named[each.speaker], "value": each.text} for each in long_story()]
    done = finished({"conversations": raw})
    told = json.loads(done.line)["conversations"]
    start, stop = (
        done.metrics.turns_compressed_start_idx,
        done.metrics.turns_compressed_end_idx,
    )
    assert done.metrics.was_compressed
    assert told[start]["from"] == named["human"]
    assert told[start + 1 :] == raw[stop:]


def test_calls_with_parallel_results_reasoning_and_pictures_stay_whole() -> None:
    said = [
        Said("system", "Be good."),
        Said("human", "Go."),
        Said("gpt", "a", 1),
        Said("tool", "b"),
    ]
    for number in range(8):
        said += [Said("gpt", words(20, number), 3), *[Said("tool", words(15, number))] * 3]
    raw = openai([*said, Said("human", "And?"), Said("gpt", "Done.")])
    raw[1]["content"] = [
        {"type": "text", "text": "Go."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    for turn in raw:
        if turn.get("tool_calls"):
            turn["reasoning_content"] = "think"
    work = replace(WORK, policy=TrajectoryPolicy(target_tokens=2_300, summary_tokens=80))
    done = finished({"messages": raw}, work)
    told = json.loads(done.line)["messages"]
    region = expected_region(
        [speaker_of(turn) for turn in raw], [weight_of(turn) for turn in raw], work.policy
    )
    assert region is not None
    assert region == (
        done.metrics.turns_compressed_start_idx,
        done.metrics.turns_compressed_end_idx,
    )
    assert told[1:4] == raw[1:4]
    assert told[region[0] + 1 :] == raw[region[1] :]
    assert (region[1] - region[0]) % 4 == 0
    assert done.metrics.compressed_tokens == sum(map(weight_of, told))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("to", ["", "sharegpt", "openai"])
def test_any_shape_is_written_as_asked(shape: str, to: str) -> None:
    raw = SHAPES[shape](long_story())
    done = finished({"id": 5, KEYS[shape]: raw}, replace(WORK, to=to))
    told = json.loads(done.line)
    key = {"": KEYS[shape], "sharegpt": "conversations", "openai": "messages"}[to]
    assert list(told) == ["id", key]
    assert told["id"] == 5
    names = {"from"} if to == "sharegpt" and shape != "parts" else {"role", "from"}
    assert all(names & set(turn) for turn in told[key])
    assert done.metrics.was_compressed
    weight = sum(map(weight_of, told[key]))
    assert done.metrics.compressed_tokens == weight
    assert done.metrics.still_over_limit == (weight > SMALL.target_tokens)


ANTHROPIC = {
    "system": "Be good.",
    "model": "m",
    "messages": [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
    ],
}
GEMINI = {
    "model": "m",
    "contents": [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "bash", "args": {"command": "ls"}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "bash", "response": {"output": "a.py"}}}],
        },
        {"role": "model", "parts": [{"text": "One file."}]},
    ],
}
RESPONSES = {
    "model": "m",
    "input": [
        {"role": "user", "content": "Go."},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "bash",
            "arguments": '{"command": "ls"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "One file."}]},
    ],
}


@pytest.mark.parametrize(
    ("document", "speakers"),
    [
        (ANTHROPIC, ["system", "human", "gpt", "tool", "gpt"]),
        (GEMINI, ["human", "gpt", "tool", "gpt"]),
        (RESPONSES, ["human", "gpt", "tool", "gpt"]),
        (ANTHROPIC["messages"], ["human", "gpt", "tool", "gpt"]),
        (GEMINI["contents"], ["human", "gpt", "tool", "gpt"]),
    ],
)
@pytest.mark.parametrize("to", ["", "openai"])
def test_documents_of_providers_are_converted(
    document: object, speakers: list[str], to: str
) -> None:
    told = json.loads(finished(document, replace(WORK, to=to)).line)
    key = "messages" if to else "conversations"
    assert [speaker_of(turn) for turn in told.pop(key)] == speakers
    assert told == ({"model": "m"} if isinstance(document, dict) else {})


def test_a_conversion_keeps_words_calls_and_results() -> None:
    assert json.loads(finished(GEMINI).line) == {
        "model": "m",
        "conversations": [
            {"from": "human", "value": "Go."},
            {
                "from": "gpt",
                "value": '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n'
                "</tool_call>",
            },
            {
                "from": "tool",
                "value": '<tool_response>\n{"tool_call_id": "gemini_1_bash", "name": "bash", '
                '"content": "a.py"}\n</tool_response>',
            },
            {"from": "gpt", "value": "One file."},
        ],
    }


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"", "json: the line: it is no JSON: "),
        (b"{", "json: the line: it is no JSON: "),
        (b"12", "json: the line: expected an object, found a number"),
        (b"null", "json: the line: expected an object, found null"),
        (b'"x"', "json: the line: expected an object, found text"),
        (b"{}", "trajectory: the object: it holds no conversation; keys: "),
        (b'{"b":1,"a":2}', "trajectory: the object: it holds no conversation; keys: a, b"),
        (b"[1]", "trajectory: turn 0: expected an object, found a number"),
        (
            lined(
                {"conversations": [*sharegpt(long_story(1)), {"from": "narrator", "value": "x"}]}
            ),
            "sharegpt: turn 6: unknown speaker 'narrator'",
        ),
        (
            lined({"conversations": [{"from": "human", "value": "x"}, {"from": "gpt"}]}),
            "sharegpt: turn 1: expected text, found null",
        ),
        (
            lined({"messages": [{"role": "user", "content": "x"}, {"role": "user", "content": 5}]}),
            "openai: turn 1: expected text or a list of parts, found a number",
        ),
        (
            lined({"messages": [{"role": "user", "content": "x"}, 5]}),
            "trajectory: turn 1: expected an object, found a number",
        ),
        (b'{"messages":[{"role":"user","content":"x"}],"d":' + b"[" * 99_999, "maximum recursion"),
        (
            b'{"messages":[{"role":"user","content":"x","d":'
            + b"[" * 9_999
            + b"]" * 9_999
            + b"}]}",
            "maximum recursion",
        ),
    ],
)
def test_what_cannot_be_read_is_set_aside_with_the_reason(line: bytes, error: str) -> None:
    failed = outcome(line)
    assert isinstance(failed, Failed)
    assert failed.error.startswith(error)
    assert failed.content == line.decode()[:20_000]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "from",
                        "value",
                        "role",
                        "content",
                        "messages",
                        "conversations",
                        "tool_calls",
                    ),
                    *(
                        "input",
                        "contents",
                        "parts",
                        "type",
                        "text",
                        "system",
                        "function",
                        "history",
                    ),
                ]
            ),
            inner | st.sampled_from(["human", "gpt", "user", "assistant", "tool", "text"]),
            max_size=4,
        )
    ),
    max_leaves=16,
)


@given(values, st.sampled_from(["", "sharegpt", "openai"]))
def test_no_value_is_an_exception(value: object, to: str) -> None:
    work = replace(WORK, to=to)
    (one, other) = outcomes(json.dumps(value).encode(), lined({"conversations": []}), work=work)
    assert isinstance(one, FinishedTrajectory | Failed)
    assert isinstance(other, FinishedTrajectory)
    assert other.line == lined({"conversations": []}) + b"\n"


@given(st.binary(max_size=40))
def test_no_bytes_are_an_exception(line: bytes) -> None:
    assert isinstance(outcome(line), FinishedTrajectory | Failed)


def test_the_reason_why_an_item_could_not_be_read_is_its_error() -> None:
    batch = TrajectoryBatch("x", (Item(3, b"", "it is longer than 64 MiB"), Item(4, b"[]")))
    failed, done = process(batch, WORK)
    assert failed == Failed(3, "it is longer than 64 MiB", "")
    assert isinstance(done, FinishedTrajectory)
    assert (done.number, done.line) == (4, b"[]\n")


def test_secrets_are_in_no_line_and_turns_without_one_are_the_same_bytes() -> None:
    secrets = list(SECRETS.values())
    raw = openai(long_story())
    raw[1]["content"] = f"Use {secrets[0]}."
    raw[8]["content"] = f"{words(20)} {secrets[1]}"
    calls = raw[-4]["tool_calls"]
    assert isinstance(calls, list)
    calls[0]["function"]["arguments"] = json.dumps({"env": {"TOKEN": secrets[2]}, "n": 1})
    raw[-1]["reasoning_content"] = f"line\n{secrets[3]}\n"
    line = json.dumps(
        {
            "env": {"DB_PASSWORD": "Xk93!mQz-hunter2", "HOME": "/root"},
            "note": f"see {secrets[4]}",
            "messages": raw,
            "tail": [1.0, "é"],
        }
    ).encode()
    done = finished(line)
    assert done.metrics.was_compressed
    assert not [each for each in [*secrets, "Xk93!mQz-hunter2"] if each.encode() in done.line]
    told = json.loads(done.line)
    assert told["env"] == {"DB_PASSWORD": "[REDACTED]", "HOME": "/root"}
    (call,) = told["messages"][-4]["tool_calls"]
    assert sorted(json.loads(call["function"]["arguments"])) == ["env", "n"]
    assert turn_bytes(done.line, "messages")[-2:-1] == [json.dumps(raw[-2]).encode()]
    assert done.line.endswith(b'"tail":[1.0, "\\u00e9"]}\n')
    assert done.metrics.redacted_turns == 4


def test_a_pattern_of_the_user_is_masked_too() -> None:
    work = replace(WORK, patterns=(r"ACME-\d{4}",))
    line = lined({"note": "ACME-1234", "conversations": [{"from": "human", "value": "ACME-5678"}]})
    assert b"ACME-" not in finished(line, work).line


def test_whoever_wants_secrets_has_them() -> None:
    line = lined({"k": SECRETS["npm"], "conversations": [{"from": "gpt", "value": SECRETS["aws"]}]})
    assert finished(line, replace(WORK, redact=False)).line == line + b"\n"


def test_a_secret_in_a_trajectory_that_failed_is_masked() -> None:
    for secret in SECRETS.values():
        line = lined({"conversations": [{"from": "human", "value": f"a\n{secret}"}, {"from": "x"}]})
        failed = outcome(line)
        assert isinstance(failed, Failed)
        assert secret not in failed.content
        assert failed.content.startswith('{"conversations":[{"from":"human","value":"a\\n')
        assert not isinstance(outcome(f"{{{secret}".encode()), FinishedTrajectory)


def test_a_trajectory_waits_for_a_model_and_can_be_sent_meanwhile() -> None:
    waiting = outcome(lined({"id": 1, "conversations": sharegpt(long_story())}), ASKS)
    assert isinstance(waiting, Waiting)
    sent = pickle.loads(pickle.dumps(waiting))
    done = complete(sent, Written(f"Did things with {SECRETS['github']}.", "m"), ASKS)
    told = json.loads(done.line)["conversations"]
    start = done.metrics.turns_compressed_start_idx
    assert told[start]["value"] == (
        f"[CONTEXT SUMMARY]: Did things with ghp_...{SECRETS['github'][-4:]}."
    )
    assert told[start]["holdfast"]["origin"] == "model"
    before = [lined(turn) for turn in sharegpt(long_story())]
    stop = done.metrics.turns_compressed_end_idx
    assert turn_bytes(done.line, "conversations")[start + 1 :] == before[stop:]


def test_without_an_answer_a_trajectory_that_waited_is_the_one_that_did_not_wait() -> None:
    line = lined({"id": 1, "conversations": sharegpt(long_story())})
    waiting = outcome(line, ASKS)
    assert isinstance(waiting, Waiting)
    assert complete(waiting, None, ASKS).line == finished(line).line


def test_a_trajectory_that_fits_does_not_wait() -> None:
    assert isinstance(outcome(lined({"conversations": []}), ASKS), FinishedTrajectory)


def test_a_dry_run_has_figures_and_no_lines() -> None:
    dry = replace(WORK, dry_run=True)
    lines = [lined({"conversations": sharegpt(long_story(size))}) for size in (1, 12)]
    small, large = outcomes(*lines, work=dry)
    assert isinstance(small, FinishedTrajectory)
    assert isinstance(large, FinishedTrajectory)
    assert (small.line, large.line) == (b"", b"")
    real = finished(lines[1])
    assert large.metrics.original_tokens == real.metrics.original_tokens
    assert large.metrics.compressed_tokens >= real.metrics.compressed_tokens
    assert (small.metrics.was_compressed, large.metrics.was_compressed) == (False, True)


def test_a_process_is_prepared_before_its_first_batch() -> None:
    prepare_process(WORK)
    with pytest.raises(ConfigError, match="no exact vocabulary for 'nothing'"):
        prepare_process(replace(WORK, tokenizer="nothing"))
    with pytest.raises(ConfigError):
        prepare_process(replace(WORK, patterns=("(",)))


def test_a_sample_is_the_same_whoever_asks_and_as_large_as_wanted() -> None:
    work = replace(WORK, sample=0.15)
    lines = [lined({"conversations": []})] * 2_000
    taken = [each.number for each in outcomes(*lines, work=work, source="/a/set.jsonl")]
    assert 220 <= len(taken) <= 380
    assert taken == [each.number for each in outcomes(*lines, work=work, source="b\\set.jsonl")]
    assert taken == sorted(taken)
    others = outcomes(*lines, work=replace(work, seed=7), source="/a/set.jsonl")
    assert taken != [each.number for each in others]
    assert outcomes(*lines, work=replace(WORK, sample=0.0)) == ()


def of_session(name: str) -> list[Outcome]:
    inputs, _ = find_inputs([str(SESSIONS / name)], "auto")
    return [each for batch in batches(inputs, lambda _: None) for each in process(batch, WORK)]


@pytest.mark.parametrize("name", sorted(FORMAT_OF))
def test_the_sessions_of_agents_are_converted(name: str) -> None:
    found = of_session(name)
    for each in found:
        assert isinstance(each, FinishedTrajectory)
        told = json.loads(each.line)
        turns = told.get("conversations") or told["messages"]
        assert each.metrics.compressed_tokens == sum(map(weight_of, turns))
        assert each.metrics.compressed_turns == len(turns)


def test_the_session_of_an_agent_keeps_what_is_known_of_it() -> None:
    (done,) = of_session("claude_code.jsonl")[:1]
    assert isinstance(done, FinishedTrajectory)
    told = json.loads(done.line)
    assert told["source"] == "claude-code"
    assert list(told)[-1] == "conversations"
    assert told["id"]


def test_a_session_that_is_gone_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "pi.jsonl"
    path.write_bytes((SESSIONS / "pi_v3.jsonl").read_bytes())
    inputs, _ = find_inputs([str(path)], "auto")
    (batch,) = batches(inputs, lambda _: None)
    path.unlink()
    (failed,) = process(batch, WORK)
    assert failed == Failed(1, f"cannot read {path}: there is no such file or folder", "")


def test_a_sample_of_sessions_leaves_some_out() -> None:
    inputs, _ = find_inputs([str(SESSIONS / "pi_v3.jsonl")], "auto")
    (batch,) = batches(inputs, lambda _: None)
    assert process(batch, replace(WORK, sample=0.0)) == ()
