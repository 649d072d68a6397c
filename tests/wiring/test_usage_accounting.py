"""The books of a conversation: marks, what was expected, what it cost."""

import json

import pytest

from holdfast.caching import Shrink
from holdfast.cost import Price
from holdfast.ports import Prompt
from holdfast.session import Usage
from holdfast.testing import FixedClock
from holdfast.wire import Body
from holdfast.wiring.usage_accounting import UsageAccounting, price_book
from tests.agent.scripted import ScriptedModel

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write_5m=3.75, cache_write_1h=6.0)
LONG = "word " * 4_000
BODY = Body([{"role": "user", "content": LONG}], system="Be brief.")
CLAUDE = ScriptedModel([], name="claude-opus-4-1", dialect="anthropic")
LOCAL = ScriptedModel([], name="smollm2", endpoint="local")


class OnePrice:
    """A catalog in which everything costs the same."""

    def price(self, model: str, *, endpoint: str = "", prompt_tokens: int = 0) -> Price | None:
        del model, endpoint, prompt_tokens
        return PRICE

    def context_length(self, model: str, *, endpoint: str = "") -> int | None:
        del model, endpoint
        return None


def marks(accounting: UsageAccounting) -> int:
    body = accounting.prepare(Prompt(body=BODY)).body
    return json.dumps([body.system, body.messages]).count("cache_control")


@pytest.mark.parametrize(
    ("model", "ttl", "count", "line"),
    [
        (CLAUDE, "5m", 2, "Prompt caching is on: four markers, kept 5 minutes"),
        (CLAUDE, "1h", 2, "Prompt caching is on: four markers, kept an hour"),
        (CLAUDE, "off", 0, "Prompt caching is off: model.cache_ttl says so."),
        (LOCAL, "5m", 0, "Prompt caching is automatic at this server."),
    ],
)
def test_markers_go_where_they_are_read(
    model: ScriptedModel, ttl: str, count: int, line: str
) -> None:
    accounting = UsageAccounting(model, FixedClock(), ttl=ttl)
    assert accounting.line.startswith(line)
    assert marks(accounting) == count


def test_a_call_has_its_price_and_what_the_cache_saved() -> None:
    accounting = UsageAccounting(CLAUDE, FixedClock(), prices=OnePrice())
    accounting.prepare(Prompt(body=BODY))
    usage = Usage(calls=1, input_tokens=1_000, output_tokens=100, cache_read_tokens=10_000)
    settled = accounting.settle(usage)
    assert settled.cost == pytest.approx((1_000 * 3.0 + 10_000 * 0.3 + 100 * 15.0) / 1e6)
    assert accounting.tally.saved == pytest.approx(10_000 * 2.7 / 1e6)


def test_a_compaction_has_a_price_before_it_is_made() -> None:
    accounting = UsageAccounting(CLAUDE, FixedClock(), prices=OnePrice())
    shrink = Shrink(before=0, after=1_000, brief=4_000, summary=500)
    assert accounting.estimate(shrink) is None
    accounting.prepare(Prompt(body=BODY))
    accounting.settle(Usage(calls=1, input_tokens=5_000))
    found = accounting.estimate(shrink)
    assert found is not None
    assert found.summarizing == pytest.approx((4_000 * 3.0 + 500 * 15.0) / 1e6)
    assert str(found).startswith("A compaction costs about $0.0")


def test_without_prices_nothing_costs_anything() -> None:
    accounting = UsageAccounting(LOCAL, FixedClock())
    accounting.prepare(Prompt(body=BODY))
    assert accounting.settle(Usage(calls=1, input_tokens=5)).cost == 0.0
    assert accounting.estimate(Shrink(before=0, after=1)) is None


def test_the_catalog_is_there_where_it_is_installed() -> None:
    book = price_book()
    assert book is not None
    assert book.price("gpt-5") is not None
