"""What a folded request carries of its client's, and what memory adds, through a gateway."""

import asyncio
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from holdfast.gateway.client_turn import ClientTurn
from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import TurnKeeper
from holdfast.recognition.matching import Continuity
from holdfast.recognition.request import read_request
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.registry import Conversations
from tests.agents.answers import Answer
from tests.gateway.scripted import Received, Recorded, answer, gateway, stream, streamed, upstream
from tests.gateway.serving import serving

MESSAGES, CHAT = "/v1/messages", "/v1/chat/completions"
TOOLS = [{"name": "read", "input_schema": {"type": "object"}}]
MARK = {"type": "ephemeral"}
SUMMARIZE = (
    "Respond with text only, do not call any tools. Write a detailed summary of the conversation "
    "so far, so that another agent can go on. " + "Tell every detail. " * 20
)


def asked(messages: list[Any], **more: object) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "tools": TOOLS, "messages": messages, **more}


def step(number: int) -> list[dict[str, Any]]:
    call = {
        "type": "tool_use", "id": f"toolu_{number}x7Qz", "name": "read",
        "input": {"path": f"src/m_{number}.py"},
    }  # fmt: skip
    thought = {"type": "thinking", "thinking": f"Step {number}.", "signature": f"sig-{number}=="}
    text = f"line {number} " * 110
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}x7Qz", "content": text}
    return [
        {"role": "assistant", "content": [thought, call]},
        {"role": "user", "content": [result]},
    ]


def marked(message: dict[str, Any]) -> dict[str, Any]:
    blocks = message["content"]
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    return {**message, "content": [*blocks[:-1], {**blocks[-1], "cache_control": MARK}]}


def marks(messages: list[Any]) -> list[int]:
    """Return where markers stand."""
    return [at for at, each in enumerate(messages) if "cache_control" in json.dumps(each)]


def keeper(window: int = 6_000) -> TurnKeeper:
    return TurnKeeper(Conversations("memory:"), TreeFile(":memory:"), window)


async def taken(turns: TurnKeeper, body: dict[str, Any], path: str = MESSAGES) -> ClientTurn:
    request = read_request(path, {}, body)
    assert request is not None
    return await turns.take(request, body)


def run_of(turns: TurnKeeper, steps: int) -> Iterator[tuple[list[Any], list[Any] | None]]:
    """Yield the messages of a long run, with markers on the first and on the last two."""
    said: list[Any] = [{"role": "user", "content": "Rule: port 8443 only. Read all."}]
    for number in range(steps):
        said += step(number)
        told = [marked(said[0]), *said[1:-3], marked(said[-3]), said[-2], marked(said[-1])]
        turn = asyncio.run(taken(turns, asked(told)))
        yield told, asyncio.run(turn.outgoing())


def test_a_marker_on_what_was_folded_stands_at_the_end_of_what_takes_its_place() -> None:
    folded = [(told, out) for told, out in run_of(keeper(), 60) if out is not None]
    assert len(folded) > 20
    for told, out in folded:
        assert out is not None
        assert len(marks(out)) <= len(marks(told)) == 3
        assert DIALECTS["anthropic"].validate(Body(out)) == ()
        assert out[-1] == told[-1]
        # The first of the markers is on the summary, the others on the client's own messages.
        assert "[holdfast summary" in json.dumps(out[marks(out)[0]])
        signed = [block for each in out for block in each["content"] if "signature" in block]
        assert all(f'"{block["signature"]}"' in json.dumps(told) for block in signed)


def test_what_was_folded_is_sent_with_the_same_bytes_until_it_is_folded_again() -> None:
    sent = [out for _, out in run_of(keeper(), 90) if out is not None]

    def head(out: list[Any]) -> str:
        at = next(at for at, each in enumerate(out) if "[holdfast summary" in json.dumps(each))
        return json.dumps(out[: at + 1])

    changes = sum(head(one) != head(other) for one, other in pairwise(sent))
    assert 0 < changes < len(sent) / 5


def test_words_that_are_added_to_a_message_leave_its_results_recorded_once() -> None:
    async def run() -> list[object]:
        turns, said = keeper(200_000), [{"role": "user", "content": "Read."}, *step(1)]
        await taken(turns, asked(said))
        last = {**said[-1], "content": [*said[-1]["content"], {"type": "text", "text": "Go on."}]}
        turn = await taken(turns, asked([*said[:-1], last]))
        assert turn.found.how is Continuity.EXTENDS
        assert turn.chat is not None
        return [each["role"] for each in await turn.chat.messages()]

    assert asyncio.run(run()) == ["user", "assistant", "tool", "user"]


def test_a_question_that_was_asked_before_takes_nothing_from_who_asked_it_first() -> None:
    async def run() -> None:
        turns, first = keeper(200_000), [{"role": "user", "content": "Read."}]
        one = await taken(turns, asked(first))
        for number in range(1, 5):
            more = [message for at in range(number) for message in step(at)]
            one = await taken(turns, asked([*first, *more]))
        other = await taken(turns, asked(first))
        assert one.chat is not None
        assert other.chat is not None
        assert other.chat.id != one.chat.id
        assert len(await one.chat.messages()) == 9
        assert [each["content"] for each in await other.chat.messages()] == ["Read."]

    asyncio.run(run())


def test_a_text_alone_as_input_is_recorded() -> None:
    async def run() -> list[str]:
        turn = await taken(keeper(), {"model": "m", "input": "Hello"}, "/v1/responses")
        assert turn.chat is not None
        return [str(each["content"]) for each in await turn.chat.messages()]

    assert asyncio.run(run()) == ["Hello"]


def test_results_that_gemini_sends_twice_are_recorded_once_and_folded_in_pairs() -> None:
    def contents(steps: int, *, twice: bool) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Read all."}]}]
        for n in range(steps):
            id_ = f"read_17948840431{n:03}_0"
            call = {"functionCall": {"id": id_, "name": "read", "args": {"n": n}}}
            output = {"output": f"line {n} " * 60}
            gave = {"functionResponse": {"id": id_, "name": "read", "response": output}}
            told.append({"role": "model", "parts": [call]})
            told.append({"role": "user", "parts": [gave, gave] if twice else [gave]})
        return told

    async def run() -> int:
        turns, folded = keeper(), 0
        for steps in range(1, 50):
            body = {"contents": contents(steps, twice=steps > 20)}
            turn = await taken(turns, body, "/v1beta/models/m:streamGenerateContent")
            assert turn.found.how in (Continuity.ROOT, Continuity.EXTENDS)
            assert turn.chat is not None
            out = await turn.outgoing()
            folded += out is not None
            assert out is None or DIALECTS["gemini"].validate(Body(out)) == ()
            results = [each for entry in await turn.chat.log() for each in entry.message.results]
            assert len({each.call_id for each in results}) == steps
        return folded

    assert asyncio.run(run()) > 5


def model(received: Received) -> Any:
    """Answer as a model that tells the true size of what it was asked."""
    size = len(received.body) // 4
    if received.target.endswith("count_tokens"):
        return answer(b'{"input_tokens": %d}' % size)
    return stream(*streamed("anthropic", Answer(1, "All read.", read=size)))


def test_tokens_are_counted_of_the_window_that_is_sent() -> None:
    recorded = Recorded(context_length=6_000)
    said: list[Any] = [{"role": "user", "content": "Read all."}]
    with upstream(model) as up, gateway(up, recorded.turns) as here:
        for number in range(40):
            said += step(number)
            here.client.post(MESSAGES, json=asked(said, stream=True))
        found = here.client.post(f"{MESSAGES}/count_tokens", json={"model": "m", "messages": said})
        assert found.json()["input_tokens"] < 6_000 < len(json.dumps(said)) // 4
        assert "[holdfast summary" in up.requests[-1].body.decode()
        # Of what nobody knows all is counted.
        other = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
        here.client.post(f"{MESSAGES}/count_tokens", content=other)
        assert up.requests[-1].body == other


def test_a_client_that_compacts_gets_what_was_said_and_then_begins_anew() -> None:
    recorded = Recorded(context_length=6_000)
    said: list[Any] = [{"role": "user", "content": "Read all."}]
    with upstream(model) as up, gateway(up, recorded.turns) as here:
        said += step(0)
        first = here.client.post(MESSAGES, json=asked(said, stream=True))
        for number in range(1, 40):
            said += step(number)
            here.client.post(MESSAGES, json=asked(said, stream=True))
        assert "[holdfast summary" in up.requests[-1].body.decode()
        here.client.post(
            MESSAGES, json=asked([*said, {"role": "user", "content": SUMMARIZE}], stream=True)
        )
        sent = up.requests[-1].fields["messages"]
        assert SUMMARIZE in json.dumps(sent[-1])
        assert "[holdfast summary" not in json.dumps(sent)
        assert 20 < len(sent) <= len(said) + 1
        assert len(up.requests[-1].body) // 4 < 6_000
        kept = [{"role": "user", "content": "Summary: all read."}, *said[-4:]]
        after = here.client.post(MESSAGES, json=asked(kept, stream=True))
        assert up.requests[-1].fields["messages"] == kept
        old, new = (each.headers["x-holdfast-session"] for each in (first, after))
        assert recorded.conversations.store.session(new).parent == old != new


PLUGIN = """
from holdfast.ports.memory import MemoryProvider

class Notes(MemoryProvider):
    name = "notes"
    heard = []
    def prefetch(self, query): return "The port is 8443." if "port" in query else ""
    def sync(self, user, assistant): Notes.heard.append((user, assistant))

def made(folder): return Notes()
"""


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package that offers a memory."""
    about = tmp_path / "site" / "gateway_notes-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: gateway-notes\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[holdfast.memory]\nnotes = gateway_notes:made\n")
    (tmp_path / "site" / "gateway_notes.py").write_text(PLUGIN, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "gateway_notes", raising=False)
    return tmp_path


@pytest.mark.parametrize("is_configured", [True, False])
def test_recalled_memory_goes_out_with_its_turn_each_time_and_is_nobody_s_words(
    notes: Path, is_configured: bool
) -> None:
    repeats = "I recall: <memory-context>The port is 8443.</memory-context>It is 8443."
    more = {"HOLDFAST_MEMORY_PROVIDER": "notes"} if is_configured else {}
    question: dict[str, Any] = {"role": "user", "content": "Which port?"}
    with (
        upstream(stream(*streamed("openai", Answer(1, repeats)))) as up,
        serving(notes / "home", up.url, **more) as here,
    ):
        body: dict[str, Any] = {"model": "m", "stream": True, "messages": [question]}
        said = here.post(CHAT, body)
        first = up.requests[0].fields["messages"]
        again = [question, {"role": "assistant", "content": "It is 8443."}]
        here.post(CHAT, {**body, "messages": [*again, {"role": "user", "content": "Why?"}]})
        second = up.requests[1].fields["messages"]
        session = said.headers["x-holdfast-session"]
        kept = here.get(f"/api/sessions/{session}/messages").content.decode()
        hits = here.get("/api/search?q=port").json
    if not is_configured:
        assert first == [question]
        assert b"memory-context" in said.content
        return
    assert "The port is 8443." in first[0]["content"]
    assert first[0]["content"].endswith("Which port?")
    assert b"memory-context" not in said.content
    # The same bytes again, so that the provider's cache holds; nothing for what has none.
    assert second[0] == first[0]
    assert second[-1]["content"] == "Why?"
    assert "Which port?" in kept
    assert hits
    heard = sys.modules["gateway_notes"].Notes.heard
    assert heard[0][0] == "Which port?"
    assert "memory-context" not in heard[0][1]
