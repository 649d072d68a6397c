"""Who caches how, and the sentence that says so."""

import pytest

from holdfast.caching import Automatic, Marked, Support, Uncached, caching_line, support_of
from holdfast.caching.cache_model import MINUTES

ROUTER = "https://openrouter.ai/api/v1"
CLAUDE_THERE = Marked(minimum=4_096, native=False, through="openrouter.ai")
DEEPSEEK = Automatic(minimum=64, step=64, lifetime=60 * MINUTES)
LOCAL = Automatic(minimum=1, step=1, lifetime=None)


@pytest.mark.parametrize(
    ("model", "dialect", "endpoint", "support"),
    [
        ("claude-sonnet-4-5", "anthropic", "", Marked()),
        ("claude-opus-4-5-20251101", "anthropic", "", Marked(minimum=4_096)),
        ("claude-opus-4-6", "anthropic", "https://api.anthropic.com", Marked(minimum=4_096)),
        ("claude-haiku-4-5", "anthropic", "https://proxy.example", Marked(minimum=4_096)),
        ("claude-3-5-haiku-latest", "anthropic", "", Marked(minimum=2_048)),
        ("claude-opus-4-1", "anthropic", "", Marked()),
        ("claude-opus-5", "anthropic", "", Marked(minimum=512)),
        ("claude-sonnet-5-5", "anthropic", "", Marked()),
        ("anthropic/claude-opus-4.5", "openai", ROUTER, CLAUDE_THERE),
        ("gpt-5", "openai", "", Automatic()),
        ("gpt-5", "responses", "https://api.openai.com/v1", Automatic()),
        ("gpt-5", "openai", "https://me.openai.azure.com", Automatic()),
        ("gemini-2.5-pro", "gemini", "", Automatic(step=1)),
        ("deepseek-chat", "openai", "https://api.deepseek.com", DEEPSEEK),
        ("smollm2", "openai", "http://127.0.0.1:8080/v1", LOCAL),
        ("smollm2", "openai", "http://localhost:8080/v1", LOCAL),
        ("smollm2", "openai", "local", LOCAL),
        ("smollm2", "anthropic", "local", LOCAL),
    ],
)  # fmt: skip
def test_model_and_address_decide(
    model: str, dialect: str, endpoint: str, support: Support
) -> None:
    assert support_of(model, dialect=dialect, endpoint=endpoint) == support


@pytest.mark.parametrize(
    ("model", "dialect", "endpoint"),
    [
        ("claude-sonnet-4-5", "openai", "https://proxy.example/v1"),
        ("claude-sonnet-4-5", "openai", ""),
        ("glm-4.6", "anthropic", "https://api.z.example/anthropic"),
        ("mistral-large", "openai", "https://notopenai.com/v1"),
    ],
)
def test_nobody_is_marked_or_counted_on_by_guess(model: str, dialect: str, endpoint: str) -> None:
    assert isinstance(support_of(model, dialect=dialect, endpoint=endpoint), Uncached)


def test_one_sentence_says_it_at_the_start() -> None:
    rules: list[Support] = [Marked(), Automatic(), LOCAL, Uncached("proxy.example keeps nothing")]
    assert [caching_line(each) for each in rules] == [
        "Prompt caching is on: four markers, kept 5 minutes after each use, from 1,024 tokens.",
        "Prompt caching is automatic at this provider, from 1,024 tokens.",
        "Prompt caching is automatic at this server.",
        "Prompt caching is off: proxy.example keeps nothing.",
    ]
    assert "kept an hour" in caching_line(Marked(), ttl="1h")
