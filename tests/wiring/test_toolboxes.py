"""The tools of a chat: the same for a sub-agent, but for the one that makes sub-agents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.transcript import ToolCall
from holdfast.wiring import Conversation
from holdfast.wiring.toolboxes import CORE_TOOLS, Kit, toolbox_for
from tests.agent.scripted import ScriptedModel, call, calls, words


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Conversation]:
    """Return a conversation in a store of its own."""
    with Conversation.open(store=tmp_path / "store.db", active=False) as chat:
        yield chat


def kit(chat: Conversation, folder: Path, model: ScriptedModel | None = None) -> Kit:
    return Kit(
        store=chat.store,
        model=model or ScriptedModel([]),
        directory=folder,
        approve=lambda question: "allowed" in question,
    )


def test_every_core_tool_is_there(chat: Conversation, tmp_path: Path) -> None:
    box = toolbox_for(chat, kit(chat, tmp_path))
    assert sorted(spec.name for spec in box.specs) == sorted(CORE_TOOLS)


def test_a_command_runs_in_the_folder_and_only_when_allowed(
    chat: Conversation, tmp_path: Path
) -> None:
    box = toolbox_for(chat, kit(chat, tmp_path))
    allowed = box.answer(call("1", "run_command", command="echo allowed > made.txt"))
    assert (allowed.is_error, (tmp_path / "made.txt").read_text("utf-8")) == (False, "allowed\n")
    refused = box.answer(call("2", "run_command", command="touch other.txt"))
    assert (refused.is_error, (tmp_path / "other.txt").exists()) == (True, False)


def test_a_sub_agent_has_the_tools_but_cannot_delegate(chat: Conversation, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The port is 8443.", "utf-8")
    model = ScriptedModel([calls(ToolCall("r", "read_file", '{"path": "a.txt"}')), words("8443.")])
    box = toolbox_for(chat, kit(chat, tmp_path, model))
    assert box.answer(call("d", "delegate", task="Which port?")).text == "8443."
    names = {spec.name for spec in model.prompts[0].tools}
    assert names == set(CORE_TOOLS) - {"delegate"}
    assert "The port is 8443." in str(model.prompts[1].body.messages)
