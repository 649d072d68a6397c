"""A server's refusals teach how it wants its requests written, once each."""

import pytest

from holdfast.providers.openai_model import OpenAICompat


def test_openai_and_other_servers_begin_with_the_name_they_usually_know() -> None:
    assert OpenAICompat(None).limit == "max_completion_tokens"
    assert OpenAICompat("http://127.0.0.1/v1").limit == "max_tokens"


def test_the_other_name_of_the_limit_is_learned() -> None:
    habits = OpenAICompat("http://127.0.0.1/v1")
    assert habits.learn(400, "max_tokens is not there; use max_completion_tokens")
    assert habits.limit == "max_completion_tokens"
    assert not habits.learn(400, "use something else")


def test_a_server_that_reports_no_usage_is_not_asked_for_it() -> None:
    habits = OpenAICompat(None)
    assert habits.learn(422, "stream_options: extra fields not permitted")
    assert not habits.reports_usage
    assert not habits.learn(422, "stream_options: extra fields not permitted")


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(500, "unsupported max_completion_tokens"), (400, "max_completion_tokens is 0"), (400, "no")],
)
def test_other_refusals_teach_nothing(status: int, sentence: str) -> None:
    habits = OpenAICompat(None)
    assert not habits.learn(status, sentence)
    assert (habits.limit, habits.reports_usage) == ("max_completion_tokens", True)
