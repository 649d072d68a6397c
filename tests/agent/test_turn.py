"""The loop of a turn: what is said, recorded, retried and kept when it is stopped."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.agent import Agent, Habits, Plan, Toolbox
from holdfast.agent.events import (
    Answered,
    Done,
    Retrying,
    Stopped,
    TextStreamed,
    ThinkingStreamed,
    ToolCallRequested,
    Warned,
    WindowCompacted,
)
from holdfast.agent.turn import CUT_OFF, STOPPED
from holdfast.errors import ModelDenied, ModelError, ModelOverflow, ModelUnavailable
from holdfast.ports import Prompt
from holdfast.ports import model as port
from holdfast.session import Usage
from holdfast.transcript import Role
from holdfast.wire import DIALECTS, Body
from holdfast.wire.tool_specs import ToolSpec
from holdfast.wiring import Conversation
from tests.agent.scripted import Echo, ScriptedModel, call, calls, kinds, words


def told(chat: Conversation) -> list[tuple[str, str]]:
    return [
        (entry.message.role, entry.message.text or "".join(r.text for r in entry.message.results))
        for entry in chat.log
    ]


def test_a_turn_streams_the_words_and_records_the_answer_with_its_usage(
    chat: Conversation,
) -> None:
    model = ScriptedModel([[port.Thought("hm"), *words("Good ", "day.")]])
    events = list(Agent(chat, model).turn("Hi"))
    assert events == [
        ThinkingStreamed("hm"),
        TextStreamed("Good "),
        TextStreamed("day."),
        Done("Good day.", Usage(1, input_tokens=100, output_tokens=10)),
    ]
    assert told(chat) == [("user", "Hi"), ("assistant", "Good day.")]
    assert chat.usage == Usage(1, input_tokens=100, output_tokens=10)


def test_tools_run_between_two_requests_and_their_results_are_sent(chat: Conversation) -> None:
    first, second = call("a", "echo", at=1), call("b", "echo", at=2)
    model = ScriptedModel([calls(first, second, text="Look."), words("Done.")])
    events = list(Agent(chat, model, Toolbox([Echo()])).turn("Go"))
    assert events == [
        TextStreamed("Look."),
        ToolCallRequested(first),
        Answered(first, "echo {'at': 1}"),
        ToolCallRequested(second),
        Answered(second, "echo {'at': 2}"),
        TextStreamed("Done."),
        Done("Done.", Usage(2, input_tokens=200, output_tokens=20)),
    ]
    assert [message["role"] for message in model.prompts[1].body.messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert [spec.name for spec in model.prompts[0].tools] == ["echo"]


def test_a_model_that_asks_for_tools_for_ever_is_stopped(chat: Conversation) -> None:
    model = ScriptedModel([calls(call(f"c{index}", "echo")) for index in range(3)])
    agent = Agent(chat, model, Toolbox([Echo()]), habits=Habits(most_rounds=3))
    events = list(agent.turn("Go"))
    assert kinds(events) == ["ToolCallRequested", "Answered"] * 3 + ["Stopped"]
    assert "3 times in a row" in str(events[-1])


def test_what_fails_in_passing_is_tried_again_after_a_pause(chat: Conversation) -> None:
    slept: list[float] = []
    model = ScriptedModel(
        [
            [ModelUnavailable("busy", retry_after=2.5)],
            [port.Spoken("Hal"), ModelUnavailable("cut off")],
            words("Whole."),
        ]
    )
    events = list(Agent(chat, model, habits=Habits(sleep=slept.append)).turn("Hi"))
    assert events[:-1] == [
        Retrying("busy", 2.5),
        TextStreamed("Hal"),
        Retrying("cut off", 4.0),
        TextStreamed("Whole."),
    ]
    assert slept == [2.5, 4.0]
    assert told(chat) == [("user", "Hi"), ("assistant", "Whole.")]


@pytest.mark.parametrize(
    ("failures", "requests"),
    [
        ([ModelUnavailable("down")] * 3, 3),
        ([ModelUnavailable("come back", retry_after=3_600.0)], 1),
        ([ModelDenied("no key")], 1),
    ],
)
def test_what_does_not_pass_stops_the_turn_and_says_why(
    chat: Conversation, failures: list[ModelError], requests: int
) -> None:
    model = ScriptedModel([[failure] for failure in failures])
    agent = Agent(chat, model, habits=Habits(sleep=lambda _: None))
    assert list(agent.turn("Hi"))[-1] == Stopped(str(failures[-1]), failures[-1])
    assert len(model.prompts) == requests
    assert told(chat) == [("user", "Hi")]
    model.answers = [words("Now.")]
    assert kinds(list(agent.answer())) == ["TextStreamed", "Done"]
    assert told(chat) == [("user", "Hi"), ("assistant", "Now.")]


def test_words_of_an_answer_that_never_came_whole_are_kept_as_less(chat: Conversation) -> None:
    cut = [port.Spoken("Half of "), ModelUnavailable("cut off")]
    model = ScriptedModel([list(cut), list(cut), list(cut)])
    list(Agent(chat, model, habits=Habits(sleep=lambda _: None)).turn("Hi"))
    assert told(chat) == [("user", "Hi"), ("assistant", f"Half of \n{CUT_OFF}")]


def fill(chat: Conversation, turns: int) -> None:
    for number in range(turns):
        chat.add_user(f"Request {number}: {'the harbor reads its tide stations. ' * 8}")
        chat.add_assistant(f"Answer {number}: {'each of them once a minute. ' * 8}")


def test_a_refusal_for_size_compacts_the_window_and_the_turn_goes_on(chat: Conversation) -> None:
    fill(chat, 36)
    refusal = ModelOverflow("maximum context length is 4000 tokens")
    model = ScriptedModel([[refusal], words("Fits.")])
    events = list(Agent(chat, model).turn("The newest task"))
    assert kinds(events)[:2] == ["Retrying", "WindowCompacted"]
    assert kinds(events)[-2:] == ["TextStreamed", "Done"]
    (folded,) = [event for event in events if isinstance(event, WindowCompacted)]
    assert folded.record.trigger == "recovery"
    first, second = (len(str(prompt.body.messages)) for prompt in model.prompts)
    assert second < first
    assert "The newest task" in str(model.prompts[1].body.messages)
    assert chat.status().context_length == 4_000


def test_a_model_that_refuses_everything_for_its_size_is_asked_four_times(
    chat: Conversation,
) -> None:
    fill(chat, 20)
    refusal = ModelOverflow("too long")
    model = ScriptedModel([[refusal] for _ in range(4)])
    events = list(Agent(chat, model).turn("Hi"))
    assert events[-1] == Stopped("too long", refusal)
    assert len(model.prompts) == 4


def test_closing_the_turn_stops_the_request_and_keeps_the_words(chat: Conversation) -> None:
    model = ScriptedModel([words("One ", "two ", "three.")])
    turn = Agent(chat, model).turn("Count")
    assert [next(turn), next(turn)] == [TextStreamed("One "), TextStreamed("two ")]
    turn.close()
    assert model.closed == 1
    assert told(chat) == [("user", "Count"), ("assistant", f"One two \n{STOPPED}")]


def test_an_interruption_inside_the_model_keeps_the_words_too(chat: Conversation) -> None:
    model = ScriptedModel([[port.Spoken("One "), KeyboardInterrupt()]])
    with pytest.raises(KeyboardInterrupt):
        list(Agent(chat, model).turn("Count"))
    assert told(chat) == [("user", "Count"), ("assistant", f"One \n{STOPPED}")]


def test_an_interruption_inside_a_tool_answers_every_open_call(chat: Conversation) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    model = ScriptedModel([calls(call("a", "echo"), call("b", "stop"), call("c", "echo"))])
    tools = Toolbox([Echo(), Echo("stop", effect=interrupt)])
    with pytest.raises(KeyboardInterrupt):
        list(Agent(chat, model, tools).turn("Go"))
    stub = "not run: the user stopped the turn"
    assert told(chat)[2:] == [("tool", "echo {}"), ("tool", stub), ("tool", stub)]


def test_a_turn_stopped_at_any_moment_leaves_a_window_that_every_provider_takes(
    tmp_path: Path,
) -> None:
    answers = [calls(call("a", "echo"), call("b", "echo"), text="Look."), words("All ", "done.")]
    for index in range(8):
        with Conversation.open(store=tmp_path / f"{index}.db", active=False) as chat:
            turn = Agent(chat, ScriptedModel(list(answers)), Toolbox([Echo()])).turn("Go")
            seen = [next(turn) for _ in range(index + 1)]
            turn.close()
            spoken = "".join(event.text for event in seen if isinstance(event, TextStreamed))
            kept = "".join(text for role, text in told(chat) if role == Role.ASSISTANT)
            assert kept.replace(f"\n{STOPPED}", "") == spoken
            for dialect in ("openai", "anthropic"):
                assert DIALECTS[dialect].validate(chat.body(dialect)) == ()
            list(Agent(chat, ScriptedModel([words("Again.")])).turn("Go on"))
            assert DIALECTS["openai"].validate(chat.body()) == ()


class Remembering:
    """A memory that knows one thing and listens."""

    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []

    def begin_turn(self, words: str, turn: int) -> None:
        self.heard.append(("begin", words, turn))

    def recall(self, query: str) -> str:
        return f"The port is 8443 (asked: {query})"

    def after_turn(self, user: str, assistant: str) -> None:
        self.heard.append(("after", user, assistant))

    def tools(self) -> tuple[ToolSpec, ...]:
        return ()

    def call(self, name: str, arguments: object) -> str:
        raise AssertionError((name, arguments))


def test_a_turn_has_its_number_also_after_a_compaction_a_rewind_and_a_new_start(
    chat: Conversation,
) -> None:
    memory = Remembering()
    agent = Agent(chat, ScriptedModel([words("Yes.")] * 9), memory=memory)
    for said in ("One", "Two"):
        list(agent.turn(said))
    chat.compact()
    list(agent.turn("Three"))
    chat.rewind()
    list(agent.turn("Four"))
    again = Agent(chat, ScriptedModel([words("Yes.")]), memory=memory)
    list(again.turn("Five"))
    begun = [turn for kind, _, turn in memory.heard if kind == "begin"]
    assert begun == [1, 2, 3, 4, 5]


def test_memory_is_recalled_for_the_model_and_told_of_the_exchange(chat: Conversation) -> None:
    memory = Remembering()
    model = ScriptedModel([words("It is 8443.")])
    list(Agent(chat, model, memory=memory).turn("Which port?"))
    assert memory.heard == [("begin", "Which port?", 1), ("after", "Which port?", "It is 8443.")]
    sent = str(model.prompts[0].body.messages[-1]["content"])
    assert "<memory-context>" in sent
    assert sent.rstrip().endswith("Which port?")
    assert told(chat)[0] == ("user", "Which port?")


def test_a_model_that_repeats_its_memory_is_neither_heard_nor_recorded(
    chat: Conversation,
) -> None:
    model = ScriptedModel([words("I see <memory-", "context>secret</memory", "-context> you.")])
    events = list(Agent(chat, model).turn("Hi"))
    spoken = "".join(event.text for event in events if isinstance(event, TextStreamed))
    assert spoken == "I see  you."
    assert told(chat)[-1] == ("assistant", "I see  you.")


def test_a_turn_that_got_no_answer_is_not_told_to_memory(chat: Conversation) -> None:
    memory = Remembering()
    list(Agent(chat, ScriptedModel([[ModelDenied("no")]]), memory=memory).turn("Hi"))
    assert memory.heard == [("begin", "Hi", 1)]


def test_an_answer_with_nothing_in_it_is_said_and_not_recorded(chat: Conversation) -> None:
    events = list(Agent(chat, ScriptedModel([words("")])).turn("Hi"))
    assert Warned("the model answered with nothing") in events
    assert kinds(events)[-1] == "Done"
    assert told(chat) == [("user", "Hi")]


def test_an_answer_cut_at_the_limit_is_kept_and_marked(chat: Conversation) -> None:
    model = ScriptedModel([words("As I was say", finish="length")])
    events = list(Agent(chat, model, habits=Habits(max_tokens=4)).turn("Hi"))
    done = events[-1]
    assert isinstance(done, Done)
    assert (done.reply, done.is_cut) == ("As I was say", True)
    assert model.prompts[0].max_tokens == 4
    assert told(chat)[-1] == ("assistant", "As I was say")


class Marks:
    """Marks each request, and prices each answer."""

    def __init__(self) -> None:
        self.settled: list[Usage] = []

    def prepare(self, prompt: Prompt) -> Prompt:
        return Prompt(body=Body([{"role": "user", "content": "marked"}]), tools=prompt.tools)

    def settle(self, usage: Usage) -> Usage:
        self.settled.append(usage)
        return replace(usage, cost=0.25)


def test_what_is_sent_is_what_caching_prepared(chat: Conversation) -> None:
    marks, model = Marks(), ScriptedModel([words("ok")])
    list(Agent(chat, model, caching=marks).turn("Hi"))
    assert model.prompts[0].body.messages == [{"role": "user", "content": "marked"}]
    assert [each.calls for each in marks.settled] == [1]
    assert chat.usage.cost == 0.25


def test_what_a_killed_process_had_streamed_is_the_model_s_words(
    chat: Conversation, tmp_path: Path
) -> None:
    moments = iter(range(100))
    now: Callable[[], float] = lambda: float(next(moments))  # noqa: E731 - a clock that runs
    model = ScriptedModel([words("One ", "two ", "three.")])
    turn = Agent(chat, model, habits=Habits(now=now)).turn("Count")
    assert [next(turn), next(turn)] == [TextStreamed("One "), TextStreamed("two ")]
    with Conversation.open(chat.id, store=tmp_path / "chat.db", active=False) as again:
        agent = Agent(again, ScriptedModel([words("Hm.")]))
        assert agent.resume_draft() == "One two "
        assert told(again)[-1] == ("assistant", f"One two \n{CUT_OFF}")
        assert agent.resume_draft() == ""
    turn.close()


def test_an_answer_that_arrived_leaves_no_draft(chat: Conversation) -> None:
    moments = iter(range(100))
    model = ScriptedModel([words("One ", "two ", "three.")])
    agent = Agent(chat, model, habits=Habits(now=lambda: float(next(moments))))
    list(agent.turn("Count"))
    assert agent.resume_draft() == ""
    assert len(chat.log) == 2


def test_a_plan_stands_in_the_window_after_every_compaction(chat: Conversation) -> None:
    items = [
        {"content": "read the tide file", "status": "completed"},
        {"content": "write the alarm", "status": "in_progress"},
    ]
    model = ScriptedModel([calls(call("p", "plan", items=items)), words("Planned.")])
    list(Agent(chat, model, Toolbox([Plan()])).turn("Plan it"))
    fill(chat, 20)
    for _ in range(2):
        chat.compress()
        fill(chat, 3)
    assert "[in_progress] write the alarm" in str(chat.messages())
    assert "[completed] read the tide file" in str(chat.messages())
