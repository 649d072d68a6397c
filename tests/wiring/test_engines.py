"""Engines by name: for a conversation or by hand, and what happens when one cannot be had."""

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Conversation
from holdfast.compaction.truncation import LEFT_OUT
from holdfast.engines import registry
from holdfast.engines.plugin_engine import PluginEngine
from holdfast.errors import ConfigError
from holdfast.wiring.engines import engine_names, engine_trouble, load_engine
from tests.engines.plugins import Tail, Wire

WINDOW = 6_000


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setattr(registry, "_REGISTERED", {})
    return tmp_path


def opened(**opening: Any) -> Conversation:
    return Conversation.open(context_length=WINDOW, active=False, **opening)


def talk(chat: Conversation, turns: int = 60) -> None:
    chat.set_system("Be careful.")
    for number in range(turns):
        chat.add_user(f"ask {number}")
        chat.add_assistant(f"answer {number} " * 60)


def plugin(home: Path, name: str, code: str) -> None:
    folder = home / "plugins" / "context_engine" / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(code)


def test_an_engine_is_loaded_by_name_with_its_knobs() -> None:
    holdfast.register_context_engine(Tail)
    engine = load_engine("tail", model="m", context_length=10_000, threshold=0.25)
    assert (engine.name, engine.threshold_tokens) == ("tail", 2_500)
    assert load_engine(context_length=10_000).name == "compressor"
    assert engine_names() == ("compressor", "truncate", "tail")


def test_a_name_or_a_knob_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    holdfast.register_context_engine(Tail)
    with pytest.raises(ConfigError, match="no engine 'trunkate'; did you mean truncate"):
        load_engine("trunkate")
    with pytest.raises(ConfigError, match="there are compressor, truncate, tail"):
        opened(store=tmp_path / "s.db", engine="xyz")
    with pytest.raises(ConfigError, match="engine tail has no option target_ratio"):
        load_engine("tail", target_ratio=0.3)
    with pytest.raises(ConfigError, match="engine truncate has no option tresholdx"):
        load_engine("truncate", tresholdx=0.3)  # type: ignore[call-arg]


def test_a_plug_in_that_cannot_be_loaded_is_one_warning_and_the_default(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plugin(home, "broken", "raise RuntimeError('no such luck')")
    with caplog.at_level(logging.WARNING):
        assert load_engine("broken", context_length=9_000).name == "compressor"
    assert [record.getMessage() for record in caplog.records] == [
        "The engine broken could not be loaded: RuntimeError: no such luck; compressor is used."
    ]


def test_one_that_does_not_take_its_model_is_not_loaded_either(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Stubborn(Tail):
        def update_model(self, *_: object, **__: object) -> None:
            raise ValueError("no such model")

    holdfast.register_context_engine(Stubborn)
    with caplog.at_level(logging.WARNING):
        assert load_engine("tail", context_length=9_000).name == "compressor"
    assert "ValueError: no such model" in caplog.text


def test_what_is_no_name_is_no_engine() -> None:
    with pytest.raises(ConfigError, match="no engine 'None'"):
        load_engine(None)  # type: ignore[arg-type]


def test_the_trouble_of_an_engine_is_found_by_loading_it(home: Path) -> None:
    plugin(home, "broken", "raise RuntimeError('no such luck')")
    plugin(home, "slow", "import time\ntime.sleep(3)")
    holdfast.register_context_engine(Tail)
    assert engine_trouble("broken") == "RuntimeError: no such luck"
    assert engine_trouble("slow", seconds=0.2) == "no answer within 0.2 s"
    assert "there is no engine 'missing'" in engine_trouble("missing")
    assert [engine_trouble(name) for name in ("tail", "compressor", "truncate")] == ["", "", ""]


class Reticent(Tail):
    @property
    def name(self) -> str:  # type: ignore[override]
        raise RuntimeError("not today")


def test_an_engine_that_does_not_say_its_name_is_set_aside() -> None:
    with opened(engine=Reticent()) as chat:
        assert "The engine Reticent could not be loaded: RuntimeError" in chat.status().warning
        talk(chat)
        assert len(chat.messages()) < 100


def test_a_tool_that_has_a_name_of_the_hosts_is_left_out() -> None:
    with opened(engine=Tail()) as chat:
        assert chat.engine_tools(reserved=["tail_grep"]) == ()
        assert "another tool called tail_grep" in chat.status().warning
        assert [spec.name for spec in chat.engine_tools()] == ["tail_grep"]


def test_an_engine_forgets_what_it_counted_where_a_conversation_begins_anew(
    tmp_path: Path,
) -> None:
    class Counted(Tail):
        def on_session_reset(self) -> None:
            self.seen.append(("reset", self.last_prompt_tokens))
            super().on_session_reset()

    shared, store = Counted(), tmp_path / "s.db"
    holdfast.register_context_engine(lambda: shared, "shared")
    with opened(engine="shared", store=store) as chat:
        chat.add_response({"role": "assistant", "content": "x"}, usage=holdfast.Usage(1, 999, 3))
    with opened(engine="shared", store=store):
        assert shared.last_prompt_tokens == 0
    with Conversation.open(chat.id, engine="shared", store=store):
        pass
    told = [each for each in shared.seen if each[0] in ("reset", "start")]
    assert told == [("reset", 0), ("start", ""), ("reset", 999), ("start", ""), ("start", "")]


@pytest.mark.parametrize("name", ["broken", "missing"])
def test_a_configured_engine_that_cannot_be_had_loses_nothing(
    home: Path, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plugin(home, "broken", "import nothing_of_that_name")
    monkeypatch.setenv("HOLDFAST_CONTEXT_ENGINE", name)
    with caplog.at_level(logging.WARNING), opened() as chat:
        assert f"The engine {name} could not be loaded" in chat.status().warning
        talk(chat)
        assert len(chat.messages()) < 100
        assert chat.compactions()[0].summary
        assert len([each for each in caplog.records if "could not be loaded" in each.message]) == 1
        assert chat.status().warning.count("could not be loaded") == 1


def test_the_configured_engine_is_the_default_of_a_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOLDFAST_CONTEXT_ENGINE", "truncate")
    with opened() as chat:
        chat.goal = "One retry policy."
        talk(chat)
        window = chat.messages()
        assert not isinstance(chat.live.deps.engine, PluginEngine)
        assert chat.compactions()
        assert [each.summary for each in chat.compactions()] == [""] * len(chat.compactions())
        assert LEFT_OUT in str(window[0]["content"])
        assert str(window[0]["content"]).endswith("One retry policy.")
        assert [each["content"] for each in window[-2:]] == ["ask 59", "answer 59 " * 60]
        chat.set_system("Be careful.")
        assert chat.messages() == window
        chat.set_system("Be bold.")
        assert str(chat.messages()[0]["content"]).startswith(f"Be bold.\n\n{LEFT_OUT}")
    with opened(engine="compressor") as chat:
        talk(chat)
        chat.messages()
        assert chat.compactions()[0].summary


@pytest.mark.parametrize("engine", ["truncate", Tail()])
def test_a_pass_of_any_engine_can_be_undone(engine: Any) -> None:
    with opened(engine=engine, automatic=False) as chat:
        talk(chat)
        before = chat.messages()
        assert chat.compress().tokens_after < WINDOW
        assert len(chat.messages()) < len(before)
        assert chat.undo()
        assert chat.messages() == before


def test_nothing_is_active_because_it_is_there(home: Path) -> None:
    plugin(home, "greedy", "raise SystemExit('imported')")
    holdfast.register_context_engine(Tail)
    with opened() as chat:
        assert type(chat.live.deps.engine).__name__ == "Engine"
        assert chat.engine_tools() == ()
        assert "no tool 'x'" in json.loads(chat.call_engine_tool("x", {}))["error"]


def test_a_plug_in_lives_through_a_whole_conversation() -> None:
    plugin = Tail()
    with opened(engine=plugin, strategy="rotation", title="Bills") as chat:
        first = chat.id
        assert chat.status().threshold == plugin.threshold_tokens
        talk(chat)
        assert len(chat.messages()) < 8
        assert chat.id != first
        assert plugin.compression_count > 0
        assert [spec.name for spec in chat.engine_tools()] == ["tail_grep"]
        assert json.loads(chat.call_engine_tool("tail_grep", {"query": "x"})) == {"found": 1}
        assert chat.status().warning == ""
        size = len(chat.messages())
        chat.close()
    assert plugin.seen[0] == ("start", "")
    assert ("start", first) in plugin.seen
    assert [each for each in plugin.seen if each[0] == "end"] == [("end", size)]


def test_ending_a_session_ends_it_for_the_plug_in_once() -> None:
    plugin = Tail()
    with opened(engine=plugin) as chat:
        chat.add_user("hello")
        chat.end()
    assert [each for each in plugin.seen if each[0] == "end"] == [("end", 1)]


def test_a_branch_has_an_engine_of_its_own() -> None:
    plugin = Tail()
    with opened(engine=plugin) as chat:
        talk(chat, 5)
        branch = chat.branch(keep_parent=True)
        assert isinstance(branch.live.deps.engine, PluginEngine)
        assert branch.live.deps.engine is not chat.live.deps.engine
        branch.add_response({"role": "assistant", "content": "x"}, usage=holdfast.Usage(1, 999, 3))
        assert plugin.last_prompt_tokens == 0
        chat.add_response({"role": "assistant", "content": "x"}, usage=holdfast.Usage(1, 999, 3))
        assert (plugin.last_prompt_tokens, plugin.last_completion_tokens) == (999, 3)
        chat.switch_model("another", 60_000)
        assert plugin.context_length == 60_000


class Bad(Tail):
    def __init__(self, compress: Callable[[Wire], object]) -> None:
        super().__init__()
        self.act = compress

    def compress(self, messages: Wire, *_: object, **__: object) -> Any:
        return self.act(messages)


def explode(_: Wire) -> object:
    raise ConnectionError("the model of the plug-in is gone")


def hang(_: Wire) -> object:
    threading.Event().wait(3)
    return []


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (explode, "the model of the plug-in is gone"),
        (hang, "no answer within 0.3 s"),
        (lambda _: "a summary", "expected a list of messages"),
        (lambda messages: messages[:-2], "the newest user message is missing"),
        (lambda messages: [*messages, *messages[-1:] * 3], "larger than before"),
    ],
    ids=["raises", "hangs", "text", "drops", "grows"],
)
def test_a_turn_goes_on_whatever_a_plug_in_does(
    act: Callable[[Wire], object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_AUXILIARY_COMPRESSION_TIMEOUT", "0.3")
    with opened(engine=Bad(act)) as chat:
        talk(chat)
        window = chat.messages()
        assert window[-1]["content"] == "answer 59 " * 60
        assert said in chat.status().warning
        assert chat.compactions()[0].summary
        assert len(chat.log) > 120
        assert said in str(chat.compactions()[0].report["warnings"])
        talk(chat, 30)
        chat.messages()
        assert said in chat.status().warning
