"""The adapters import nothing heavy until they are used, and name the extra that is missing."""

import subprocess
import sys

import pytest

from holdfast.errors import MissingExtra
from holdfast.providers import AnthropicSummarizer, OpenAISummarizer


def test_adapters_import_no_sdk_by_themselves() -> None:
    program = (
        "import sys; import holdfast.providers as a; a.OpenAISummarizer('m');"
        "a.AnthropicSummarizer('m'); a.ExactCounter('gpt-4o');"
        "print(sorted({'openai', 'anthropic', 'splintr', 'asyncio', 'httpx2'} & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "[]\n"


def test_a_missing_openai_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[openai\]'"):
        OpenAISummarizer("m")


def test_a_missing_anthropic_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[anthropic\]'"):
        AnthropicSummarizer("m")
