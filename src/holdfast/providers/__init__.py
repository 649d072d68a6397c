"""Models behind SDKs or functions, their files and prices, and exact token counting.

An SDK is imported when its adapter first needs it, so that `import holdfast` costs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.providers.anthropic_model import AnthropicSummarizer
    from holdfast.providers.callable_summarizer import CallableSummarizer
    from holdfast.providers.exact_counter import ExactCounter
    from holdfast.providers.openai_model import OpenAISummarizer

__all__ = ["AnthropicSummarizer", "CallableSummarizer", "ExactCounter", "OpenAISummarizer"]

_HOMES = {
    "AnthropicSummarizer": "holdfast.providers.anthropic_model",
    "CallableSummarizer": "holdfast.providers.callable_summarizer",
    "ExactCounter": "holdfast.providers.exact_counter",
    "OpenAISummarizer": "holdfast.providers.openai_model",
}


def __getattr__(name: str) -> object:
    """Load a name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
