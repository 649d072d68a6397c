"""The ports' implementations: models behind SDKs or functions, the machine's clock, a tokenizer.

An SDK is imported when its adapter first needs it, so that `import holdfast` costs none of them.
"""

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
