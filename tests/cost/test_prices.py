"""What a usage costs, worked out by hand."""

import pytest

from holdfast.cost import Price, charge, uncached_charge
from holdfast.session import Usage

SONNET = Price(input=3.0, output=15.0, cache_read=0.3, cache_write_5m=3.75, cache_write_1h=6.0)
USAGE = Usage(
    calls=1,
    input_tokens=1_000,
    output_tokens=2_000,
    cache_read_tokens=100_000,
    cache_write_tokens=10_000,
)


def test_each_kind_of_token_has_its_price() -> None:
    # 0.003 + 0.03 + 0.03 + 0.0375
    assert charge(USAGE, SONNET) == pytest.approx(0.1005)


def test_a_longer_lifetime_costs_more_to_write() -> None:
    # 0.003 + 0.03 + 0.03 + 0.06
    assert charge(USAGE, SONNET, ttl="1h") == pytest.approx(0.123)


def test_without_a_cache_every_prompt_token_costs_the_same() -> None:
    # 111,000 at $3 and 2,000 at $15.
    assert uncached_charge(USAGE, SONNET) == pytest.approx(0.333 + 0.03)
    assert SONNET.without_cache() == Price(
        input=3.0, output=15.0, cache_read=3.0, cache_write_5m=3.0, cache_write_1h=3.0
    )
