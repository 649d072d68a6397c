"""The front door: what it offers, and what opening it costs."""

import json
import subprocess
import sys

import pytest

import holdfast

PUBLIC = [
    "Abandoned",
    "AsyncConversation",
    "Compaction",
    "CompactionReport",
    "Compressor",
    "ContextEngine",
    "Conversation",
    "Conversations",
    "Folded",
    "HoldfastError",
    "LiveState",
    "PlanItem",
    "Policy",
    "Pruned",
    "Redactor",
    "SessionSearch",
    "SessionStamp",
    "Status",
    "Unchanged",
    "Usage",
    "compact",
    "compress",
    "current_session",
    "estimate_tokens",
    "is_context_overflow",
    "load_engine",
    "redact",
    "register_context_engine",
    "session_search",
    "session_search_tool",
]
HEAVY = ("rich", "click", "yaml", "asyncio", "openai", "anthropic", "httpx", "splintr")


def loaded(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has after running the code."""
    report = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, check=True, timeout=60
    )
    return set(json.loads(done.stdout))


def test_the_public_names_are_those_that_were_agreed_on() -> None:
    assert holdfast.__all__ == PUBLIC
    assert dir(holdfast) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_loaded(name: str) -> None:
    assert getattr(holdfast, name).__doc__


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'compact_everything'"):
        _ = holdfast.compact_everything  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "code",
    [
        "import holdfast",
        "from holdfast import compress, Compressor, redact, estimate_tokens",
        "import holdfast; holdfast.compress([{'role': 'user', 'content': 'hi'}])",
        "import holdfast; holdfast.redact('nothing to hide')",
        "from holdfast import Conversation",
    ],
    ids=["import", "names", "compress", "redact", "conversation"],
)
def test_using_the_library_loads_nothing_that_is_heavy(code: str) -> None:
    names = loaded(code) - loaded("pass")
    assert names
    assert sorted(names.intersection(HEAVY)) == []


def test_importing_loads_no_module_of_ours_but_the_front_door() -> None:
    ours = {name for name in loaded("import holdfast") if name.startswith("holdfast")}
    assert ours == {"holdfast"}
