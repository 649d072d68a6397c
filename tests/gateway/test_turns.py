"""Turns of clients in stored conversations: recorded once, forwarded as they came in or folded."""

import asyncio
import json
from itertools import pairwise

import pytest

from holdfast.conversation.waiting import in_store
from holdfast.gateway.bodies import read_body, spliced
from holdfast.gateway.client_turn import ClientTurn
from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import TurnKeeper
from holdfast.ports import Listing
from holdfast.recognition.matching import Continuity
from holdfast.recognition.request import read_request
from holdfast.recognition.slices import KnownSlices
from holdfast.recognition.tree import Node
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.registry import Conversations
from tests.recognition.test_recorded_traffic import WIRE

CHAT = "/v1/chat/completions"
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]


def keeper(window: int = 6_000) -> TurnKeeper:
    return TurnKeeper(Conversations("memory:"), TreeFile(":memory:"), window)


def request(*messages: dict[str, object], **fields: object) -> dict[str, object]:
    return {"model": "m", "messages": [*messages], "tools": TOOLS, **fields}


def said(role: str, text: str) -> dict[str, object]:
    return {"role": role, "content": text}


def step(number: int, output: str = "") -> list[dict[str, object]]:
    """Return a call of the assistant and its result."""
    arguments = json.dumps({"path": f"src/m_{number}.py"})
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": "read", "arguments": arguments},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": f"call_{number}",
            "content": output or f"line {number} " * 40,
        },
    ]


async def taken(turns: TurnKeeper, body: dict[str, object]) -> ClientTurn:
    asked = read_request(CHAT, {}, body)
    assert asked is not None
    return await turns.take(asked, body)


async def log_of(turn: ClientTurn) -> list[str]:
    assert turn.chat is not None
    return [entry.message.role.value for entry in await turn.chat.log()]


def test_what_is_new_is_recorded_once_and_goes_out_as_it_came_in() -> None:
    async def run() -> None:
        turns = keeper(200_000)
        first = [said("system", "Be careful."), said("user", "Read the file.")]
        one = await taken(turns, request(*first))
        again = await taken(turns, request(*first))
        assert (one.found.how, again.found.how) == (Continuity.ROOT, Continuity.RETRY)
        assert await log_of(again) == ["system", "user"]
        longer = await taken(turns, request(*first, *step(1)))
        assert longer.found.how is Continuity.EXTENDS
        assert await log_of(longer) == ["system", "user", "assistant", "tool"]
        assert await longer.outgoing() is None

    asyncio.run(run())


def test_an_answer_that_was_recorded_is_known_in_the_echo_of_the_client() -> None:
    async def run() -> None:
        turns = keeper(200_000)
        one = await taken(turns, request(said("user", "Read the file.")))
        assert one.chat is not None
        call, result = step(1)
        await one.chat.add_response({"choices": [{"message": call}]})
        await taken(turns, request(said("user", "Read the file."), call, result))
        assert await log_of(one) == ["user", "assistant", "tool"]

    asyncio.run(run())


def test_an_answer_that_the_client_has_otherwise_leaves_the_window_and_not_the_log() -> None:
    async def run() -> None:
        turns = keeper(200_000)
        one = await taken(turns, request(said("user", "Hello")))
        assert one.chat is not None
        await one.chat.add_response(said("assistant", "Good morn"))
        more = [said("assistant", "Good morning, cut off"), said("user", "Go on.")]
        await taken(turns, request(said("user", "Hello"), *more))
        assert len(await one.chat.log()) == 4
        shown = await one.chat.messages()
        assert [each["content"] for each in shown] == ["Hello", "Good morning, cut off", "Go on."]

    asyncio.run(run())


def test_a_long_conversation_is_folded_and_ends_in_the_client_s_own_words() -> None:
    async def run() -> None:
        turns = keeper()
        messages = [said("system", "Be careful."), said("user", "Rule: port 8443 only. Read all.")]
        folded: list[list[dict[str, object]]] = []
        turn = await taken(turns, request(*messages))
        for number in range(60):
            messages += step(number)
            turn = await taken(turns, request(*messages))
            assert turn.found.how in (Continuity.ROOT, Continuity.EXTENDS)
            out = await turn.outgoing()
            if out is None:
                continue
            folded.append(out)
            assert DIALECTS["openai"].validate(Body(out)) == ()
            assert out[0] == messages[0]
            assert out[-2:] == messages[-2:]
            assert turn.chat is not None
            assert (await turn.chat.status()).tokens < 6_000
        assert folded
        assert "8443" in json.dumps(folded[-1])
        assert len(await log_of(turn)) == len(messages)
        # What stands before the newest messages stays as it is from request to request.
        steady = [_common(one, other) == len(one) for one, other in pairwise(folded)]
        assert sum(steady) > len(steady) * 0.7

    asyncio.run(run())


def _common(one: list[dict[str, object]], other: list[dict[str, object]]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (first, second) in enumerate(pairs) if first != second), len(one))


def test_a_request_fits_together_with_the_tools_that_go_with_it() -> None:
    async def run() -> None:
        window = 12_000
        words = "".join(f"What the parameter {n} of the tool means. " for n in range(450))
        tools = [{"type": "function", "function": {"name": "read", "description": words}}]
        turns = keeper(window)
        messages = [said("user", "Rule: port 8443 only. Read all.")]
        out = None
        for number in range(60):
            messages += step(number)
            body = request(*messages, tools=tools)
            out = await (await taken(turns, body)).outgoing()
            sent = body if out is None else {**body, "messages": out}
            assert len(json.dumps(sent)) // 4 <= window
        assert "8443" in json.dumps(out)

    asyncio.run(run())


def test_an_answer_that_the_client_has_otherwise_leaves_the_summary_where_it_is() -> None:
    async def run() -> None:
        turns = keeper()
        messages = [said("user", "Rule: port 8443 only. Read all.")]
        out = None
        moved = said("user", "Internal: what moves to the end of every request.")
        for number in range(60):
            messages += step(number)
            turn = await taken(turns, request(*messages, moved))
            assert turn.chat is not None
            sent = await turn.outgoing()
            assert sent is not None or out is None
            out = sent
            if out is not None:
                assert "8443" in json.dumps(out)
            await turn.chat.add_response(said("assistant", "An answer that is never heard."))
            await in_store(turn.chat.sync.wait)
        assert out is not None
        assert "never heard" not in json.dumps(out)

    asyncio.run(run())


def test_requests_at_the_same_moment_are_recorded_one_after_the_other() -> None:
    async def run() -> None:
        turns = keeper(200_000)
        start = [said("user", "Read both."), *step(1)]
        await taken(turns, request(*start))
        ends = [[said("assistant", "Done."), said("user", f"Way {way}")] for way in range(4)]
        found = await asyncio.gather(*(taken(turns, request(*start, *end)) for end in ends))
        shown: set[str] = set()
        for turn in found:
            assert turn.chat is not None
            words = [each["content"] for each in await turn.chat.messages()]
            assert len(words) == 5
            shown.add(str(words[-1]))
        assert shown == {f"Way {way}" for way in range(4)}
        same = await asyncio.gather(*(taken(turns, request(said("user", "Hi"))) for _ in range(4)))
        assert len({turn.chat.id for turn in same if turn.chat}) == 1

    asyncio.run(run())


def test_words_that_move_to_the_end_of_every_request_double_no_answer() -> None:
    async def run() -> None:
        turns = keeper(200_000)
        first, moved = said("user", "Read it."), said("user", "Internal: the time is now.")
        call, result = step(1)
        one = await taken(turns, request(first, moved))
        assert one.chat is not None
        await one.chat.add_response({"choices": [{"message": call}]})
        await taken(turns, request(first, call, result, moved))
        assert await log_of(one) == ["user", "user", "assistant", "tool", "user"]
        assert [each["role"] for each in await one.chat.messages()] == [
            "user",
            "assistant",
            "tool",
            "user",
        ]

    asyncio.run(run())


def test_a_branch_shares_what_was_said_before_it() -> None:
    async def run() -> None:
        turns = keeper(200_000)
        start = [said("user", "Read both."), *step(1)]
        main = await taken(turns, request(*start, said("assistant", "Done."), said("user", "Next")))
        other = await taken(
            turns, request(*start, said("assistant", "Done."), said("user", "Otherwise"))
        )
        assert other.found.how is Continuity.BRANCH
        assert other.chat is not None
        assert main.chat is not None
        assert other.chat.id != main.chat.id
        assert (await other.chat.session()).parent == main.chat.id
        assert len(await other.chat.messages()) == 5

    asyncio.run(run())


def test_a_branch_that_another_model_goes_on_with_is_one_branch() -> None:
    async def run() -> None:
        turns = keeper()
        first, answer = said("user", "Fix the parser"), said("assistant", "Which one?")
        one = await taken(turns, request(first))
        assert one.chat is not None
        await one.chat.add_response({"role": "assistant", "content": "Which one?"})
        await taken(turns, request(first, answer, said("user", "The first")))
        other = await taken(turns, request(first, answer, said("user", "The other"), model="n"))
        assert other.chat is not None
        assert (await other.chat.session()).model == "n"
        assert len(turns.conversations.store.sessions(Listing())) == 2

    asyncio.run(run())


def test_words_alone_are_a_message_of_their_user() -> None:
    async def run() -> None:
        turns = keeper()
        asked = read_request("/v1/responses", {}, {"model": "m", "input": "Which port?"})
        assert asked is not None
        turn = await turns.take(asked, {"model": "m", "input": "Which port?"})
        assert await log_of(turn) == ["user"]
        assert await turn.outgoing() is None

    asyncio.run(run())


def test_a_conversation_begins_with_the_model_that_is_asked() -> None:
    async def run() -> None:
        turns = keeper()
        turn = await taken(turns, request(said("user", "Hello"), model="gpt-x"))
        assert turn.chat is not None
        session = await turn.chat.session()
        assert (session.model, session.context_length) == ("gpt-x", 6_000)
        assert turn.chat.sync.live.deps.engine.policy.context_length == 6_000

    asyncio.run(run())


def test_messages_that_were_sent_before_go_out_in_the_bytes_of_their_client() -> None:
    async def run() -> list[bytes]:
        turns, known = keeper(), KnownSlices()
        messages = [said("user", "Fix the parsers; the port is 8443.")]
        sent: list[bytes] = []
        for number in range(80):
            messages += step(number)
            data = json.dumps(request(*messages), indent=1).encode()
            body = read_body(data, "openai", known)
            asked = read_request(CHAT, {}, body)
            assert asked is not None
            out = await (await turns.take(asked, body)).outgoing()
            if out is not None:
                sent.append(spliced(data, "messages", out, body["messages"]))
        return sent

    sent = asyncio.run(run())
    assert sent
    for each in sent:
        # Ours are written without white space, those of the client with its own.
        last = json.loads(each)["messages"][-1]
        assert json.dumps(last, indent=1).replace("\n", "\n  ").encode() in each


def test_a_client_that_lost_its_first_words_goes_on_with_the_conversation_of_its_calls() -> None:
    async def run() -> None:
        turns = keeper(200_000)
        context = said("user", "Today is Monday.")
        other = await taken(turns, request(context, said("user", "Which model?")))
        # Of ids that no server counts: those would be anybody's.
        work = [*step(73_901), *step(21_034), *step(55_512)]
        main = await taken(turns, request(said("user", "Today is Monday. Read all."), *work))
        later = await taken(turns, request(context, *work, said("user", "Go on.")))
        assert later.found.how is Continuity.REVISION
        assert later.chat is not None
        assert main.chat is not None
        assert other.chat is not None
        assert later.chat.id == main.chat.id != other.chat.id

    asyncio.run(run())


def test_results_of_a_client_that_writes_call_ids_otherwise_are_shown_after_a_fold() -> None:
    async def run() -> None:
        turns = keeper()
        messages = [said("user", "Read all.")]
        for number in range(60):
            turn = await taken(turns, request(*messages))
            assert turn.chat is not None
            called, result = step(number)
            await turn.chat.add_response({"choices": [{"message": called}]})
            messages += json.loads(
                json.dumps([called, result]).replace(f"call_{number}", f"call{number}")
            )
        turn = await taken(turns, request(*messages))
        out = await turn.outgoing()
        assert out is not None
        assert "[holdfast summary" in json.dumps(out)
        assert "no result in the window" not in json.dumps(out)
        assert out[-1] == messages[-1]

    asyncio.run(run())


SUMMARY = (
    "Respond with text only, do not call any tools. Your task is to write a detailed summary "
    "of the conversation so far, so that another agent can go on. " + "Tell every detail. " * 20
)


def test_a_request_for_a_summary_is_cut_to_what_its_tools_leave_of_the_window() -> None:
    async def run() -> None:
        turns = keeper()
        tools = [{"type": "function", "function": {"name": "read", "description": "Read. " * 1500}}]
        messages = [said("user", "Read all.")]
        for number in range(60):
            messages += step(number)
        await taken(turns, request(*messages, tools=tools))
        side = await taken(turns, request(*messages, said("user", SUMMARY), tools=tools))
        out = await side.outgoing()
        assert out is not None
        assert out[-1]["content"] == SUMMARY
        assert len(json.dumps(request(*out, tools=tools))) < 6_000 * 4

    asyncio.run(run())


def test_a_request_for_a_summary_gets_what_was_said_and_is_no_turn() -> None:
    async def run() -> None:
        turns = keeper()
        messages = [said("user", "Read all.")]
        for number in range(60):
            messages += step(number)
        await taken(turns, request(*messages))
        side = await taken(turns, request(*messages, said("user", SUMMARY)))
        assert side.found.how is Continuity.SIDE
        assert side.chat is None
        out = await side.outgoing()
        assert out is not None
        assert out[-1]["content"] == SUMMARY
        assert "[holdfast summary" not in json.dumps(out)
        assert len(messages) // 2 < len(out) <= len(messages) + 1
        assert len(json.dumps(out)) < len(json.dumps(messages)) * 0.8

    asyncio.run(run())


@pytest.mark.skipif(not WIRE.is_dir(), reason="the recordings are not here")
@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("claude-code/session", 5_000),
        ("codex/session", 10_000),
        ("pi/session-anthropic", 3_000),
        ("pi/session-gemini", 2_200),
        ("hermes/session", 5_000),
        ("openclaw/session", 5_000),
        ("opencode/session", 5_000),
        ("gemini-cli/session", 13_000),
        ("qwen/session", 9_000),
        ("copilot/session", 9_000),
        ("kimi/session", 5_000),
    ],
)
def test_recorded_sessions_are_folded_into_requests_that_providers_take(
    name: str, window: int
) -> None:
    async def run() -> int:
        turns = keeper(window)
        count = owned = 0
        for line in (WIRE / f"{name}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            asked = row["body"] and read_request(row["path"], row["headers"], row["body"])
            if row["method"] != "POST" or not asked:
                continue
            turn = await turns.take(asked, row["body"])
            out = await turn.outgoing()
            if out is not None and turn.chat is not None:
                count += 1
                assert DIALECTS[asked.dialect].validate(Body(out)) == ()
                # The newest message is the client's own, or a result of it that was shortened.
                assert out[-1].keys() == turn.messages[-1].keys()
                owned += out[-1] == turn.messages[-1]
        assert owned >= count * 0.7
        return count

    assert asyncio.run(run()) > 0


def test_results_of_calls_without_ids_are_shown_with_their_calls_after_a_fold() -> None:
    async def run() -> None:
        turns = keeper()
        messages: list[dict[str, object]] = [{"role": "user", "parts": [{"text": "Read it all."}]}]
        out: list[dict[str, object]] | None = None
        for number in range(60):
            body = {"contents": messages, "tools": [{"functionDeclarations": [{"name": "read"}]}]}
            asked = read_request("/v1beta/models/m:generateContent", {}, body)
            assert asked is not None
            turn = await turns.take(asked, body)
            out = await turn.outgoing()
            called = {"name": "read", "args": {"path": f"src/m_{number}.py"}}
            content: dict[str, object] = {"role": "model", "parts": [{"functionCall": called}]}
            assert turn.chat is not None
            await turn.chat.add_response({"candidates": [{"content": content}]})
            result = {"name": "read", "response": {"output": f"line {number} " * 40}}
            messages.append(content)
            messages.append({"role": "user", "parts": [{"functionResponse": result}]})
        assert out is not None
        assert out[-1] == messages[-3]

    asyncio.run(run())


def test_calls_that_many_conversations_have_are_looked_up_in_a_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> int:
        turns = keeper(200_000)
        work = [each for number in range(90_000, 90_020) for each in step(number)]
        own = [step(number) for number in range(70_000, 70_060)]
        for number, first in enumerate(own):
            await taken(turns, request(said("user", f"Job {number}."), *first, *work))
        read: list[int] = []
        node = turns.tree.node

        def counted(id_: int) -> Node:
            read.append(id_)
            return node(id_)

        monkeypatch.setattr(turns.tree, "node", counted)
        every = [each for first in own for each in first]
        found = await taken(turns, request(said("user", "Mine."), *every, *work))
        assert found.found.how is Continuity.ROOT
        return len(read)

    # Sixty conversations with twenty calls in common, each a way of more than forty nodes.
    assert 0 < asyncio.run(run()) < 3_000
