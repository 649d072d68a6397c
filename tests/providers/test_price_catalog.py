"""Prices from the real catalog package."""

import subprocess
import sys

import pytest

from holdfast.cost import Price, PriceBook
from holdfast.errors import MissingExtra
from holdfast.providers.price_catalog import PriceCatalog
from holdfast.testing import FixedClock


def test_a_listed_model_has_all_its_prices() -> None:
    book: PriceBook = PriceCatalog()
    assert book.price("claude-opus-4-5") == Price(
        input=5.0, output=25.0, cache_read=0.5, cache_write_5m=6.25, cache_write_1h=10.0
    )
    assert book.context_length("claude-opus-4-5") == 200_000


def test_a_provider_that_takes_nothing_for_writing_charges_plain_input() -> None:
    assert PriceCatalog().price("gpt-5") == Price(
        input=1.25, output=10.0, cache_read=0.125, cache_write_5m=1.25, cache_write_1h=1.25
    )


def test_a_long_prompt_may_cost_more_for_each_token() -> None:
    book = PriceCatalog()
    short = book.price("claude-sonnet-4-5", prompt_tokens=200_000)
    long = book.price("claude-sonnet-4-5", prompt_tokens=200_001)
    assert short is not None
    assert long is not None
    assert (short.input, long.input, long.cache_write_1h) == (3.0, 6.0, 12.0)


def test_the_address_decides_whose_price_it_is() -> None:
    book = PriceCatalog()
    address = "https://openrouter.ai/api/v1"
    routed = book.price("anthropic/claude-sonnet-4.5", endpoint=address)
    assert routed is not None
    # Only the price for 5 minutes is listed there.
    assert (routed.cache_write_5m, routed.cache_write_1h) == (3.75, 6.0)


@pytest.mark.parametrize(
    ("model", "endpoint"),
    [("smollm2-360m", ""), ("", ""), ("gpt-5", "http://127.0.0.1:8080/v1")],
)
def test_what_is_not_listed_has_no_price_and_no_window(model: str, endpoint: str) -> None:
    book = PriceCatalog()
    assert book.price(model, endpoint=endpoint) is None
    assert book.context_length(model, endpoint=endpoint) is None


def test_every_price_of_the_catalog_can_be_read() -> None:
    from genai_prices.data import providers

    book = PriceCatalog(FixedClock(1_700_000_000.0))
    priced = 0
    for provider in providers:
        if provider.id in ("anthropic", "openai"):
            for model in provider.models:
                price = book.price(model.id)
                priced += price is not None
                assert price is None or price.cache_read <= price.input
    assert priced > 50


def test_the_catalog_is_loaded_only_when_it_is_asked() -> None:
    program = (
        "import sys; from holdfast.providers.price_catalog import PriceCatalog; PriceCatalog();"
        "print('genai_prices' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "False\n"


def test_a_missing_catalog_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[prices\]'"):
        PriceCatalog()
