"""The ports' implementations: models behind SDKs or functions, the machine's clock, a tokenizer.

An SDK is imported when its adapter first needs it, so that `import holdfast` costs none of them.

Each name is loaded when it is first used: a store needs no model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.adapters.anthropic_summarizer import AnthropicSummarizer
    from holdfast.adapters.callable_summarizer import CallableSummarizer
    from holdfast.adapters.exact_counter import ExactCounter
    from holdfast.adapters.openai_summarizer import OpenAISummarizer
    from holdfast.adapters.system_clock import SystemClock

__all__ = [
    "AnthropicSummarizer",
    "CallableSummarizer",
    "ExactCounter",
    "OpenAISummarizer",
    "SystemClock",
]

_HOMES = {
    "AnthropicSummarizer": "holdfast.adapters.anthropic_summarizer",
    "CallableSummarizer": "holdfast.adapters.callable_summarizer",
    "ExactCounter": "holdfast.adapters.exact_counter",
    "OpenAISummarizer": "holdfast.adapters.openai_summarizer",
    "SystemClock": "holdfast.adapters.system_clock",
}


def __getattr__(name: str) -> object:
    """Load a name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
