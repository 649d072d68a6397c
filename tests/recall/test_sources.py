"""Sources: what a person means who names an agent."""

from __future__ import annotations

import pytest

from holdfast.recall.values import agent_of, meant_sources


@pytest.mark.parametrize(
    ("names", "sources"),
    [
        ((), ()),
        (("claude-code",), ("claude-code", "import:claude-code")),
        (("import",), ("import", "import:")),
        (("import:pi", "cli"), ("import:pi", "cli", "import:cli")),
    ],
)
def test_an_agent_stands_for_what_was_imported_from_it(
    names: tuple[str, ...], sources: tuple[str, ...]
) -> None:
    assert meant_sources(names) == sources


def test_only_an_imported_session_has_an_agent() -> None:
    assert (agent_of("import:pi"), agent_of("cli")) == ("pi", "")
