"""The failure table from the socket to the answer: real SDKs, a real server, the whole chain."""

import pytest

from holdfast.engines import SummarizerFallback
from holdfast.providers import AnthropicSummarizer, OpenAISummarizer
from holdfast.summary import Declined, Failure, Written
from holdfast.testing import FixedClock
from tests.engines.asks import CHATTER, RECORD, WAYS, Asking
from tests.providers.provider import Reply, chat, error, message, provider

every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
WHOLE = message({"type": "text", "text": RECORD})


@every_way
@pytest.mark.parametrize(
    "reply",
    [
        error(404, "no model small"),
        error(429, "slow down", retry_after="1"),
        error(502, "bad gateway"),
        Reply(body="{nope"),
        Reply(body='{"id": "' + "x" * 5_000 + '"}', cut=40),
        chat(""),
        chat(CHATTER),
    ],
    ids=["404", "429", "502", "garbage", "cut", "empty", "refusal"],
)
def test_a_summary_model_that_fails_on_the_wire_is_replaced(way: Asking, reply: Reply) -> None:
    with provider(reply) as bad, provider(WHOLE) as good:
        small = OpenAISummarizer("small", base_url=f"{bad.url}/v1")
        main = AnthropicSummarizer("main", base_url=good.url)
        chain = SummarizerFallback(main, small, clock=FixedClock())
        assert [way(chain), way(chain)] == [Written(RECORD, "main")] * 2
        assert len(bad.requests) == (2 if reply == chat(CHATTER) else 1)
        assert len(good.requests) == 2
    assert len(chain.notes) == 1


@every_way
@pytest.mark.parametrize(
    ("reply", "failure", "pause"),
    [
        (error(429, "slow down", retry_after="77"), Failure.TRANSIENT, 77.0),
        (error(429, "slow down", retry_after="7"), Failure.TRANSIENT, 60.0),
        (error(500, "oops"), Failure.TRANSIENT, 60.0),
        (Reply(body="{nope"), Failure.MISREAD, 30.0),
        (error(401, "bad key"), Failure.AUTH, None),
    ],
    ids=["429", "429 soon", "500", "garbage", "401"],
)
def test_a_main_model_that_fails_on_the_wire_is_left_alone(
    way: Asking, reply: Reply, failure: Failure, pause: float | None
) -> None:
    with provider(reply) as server:
        chain = SummarizerFallback(
            OpenAISummarizer("main", base_url=f"{server.url}/v1"), clock=FixedClock()
        )
        declined = way(chain)
    assert isinstance(declined, Declined)
    assert (declined.failure, declined.retry_after) == (failure, pause)
    assert chain.cooldown == (pause or 0.0)
