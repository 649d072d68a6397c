"""The tool: what a model is told is what an edit takes."""

from holdfast.memory import MEMORY_TOOL, NOTEBOOKS, edit_from
from holdfast.wire.tool_specs import write_tools


def test_the_schema_names_what_an_edit_takes() -> None:
    (written,) = write_tools([MEMORY_TOOL], "anthropic")
    schema = written["input_schema"]
    assert isinstance(schema, dict)
    assert schema["required"] == ["action"]
    properties = schema["properties"]
    assert list(properties) == ["action", "target", "content", "old_text"]
    assert properties["target"]["enum"] == list(NOTEBOOKS)
    for action in properties["action"]["enum"]:
        assert edit_from({"action": action, "content": "Tea.", "old_text": "Tea"})


def test_the_description_states_the_limits() -> None:
    for notebook in NOTEBOOKS.values():
        assert f"{notebook.limit:,} characters" in MEMORY_TOOL.description
