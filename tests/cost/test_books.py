"""Prices that are given go before those that are looked up."""

from holdfast.cost import GivenPrices, Layered, Price, PriceBook


def flat(dollars: float) -> Price:
    return Price(
        input=dollars,
        output=dollars,
        cache_read=dollars,
        cache_write_5m=dollars,
        cache_write_1h=dollars,
    )


class Windows(GivenPrices):
    """A book that knows one window and no price."""

    def context_length(self, model: str, *, endpoint: str = "") -> int | None:
        return 8_192 if model and not endpoint else None


def test_a_name_goes_before_a_beginning_and_a_long_one_before_a_short_one() -> None:
    book = GivenPrices(
        {"*": flat(1), "Claude-*": flat(2), "claude-opus*": flat(3), "gpt-5": flat(4)}
    )
    asked = ("smollm", "claude-haiku-4-5", "Claude-Opus-5", "GPT-5", "gpt-5-mini")
    found = [book.price(each) for each in asked]
    assert found == [flat(1), flat(2), flat(3), flat(4), flat(1)]


def test_a_model_that_nobody_priced_has_no_price() -> None:
    book = GivenPrices({"claude-*": flat(1)})
    assert (book.price("gpt-5"), book.context_length("claude-x")) == (None, None)


def test_the_first_book_that_knows_answers() -> None:
    books: tuple[PriceBook, ...] = (
        GivenPrices({"a": flat(1)}),
        Windows({}),
        GivenPrices({"a": flat(2), "b": flat(3)}),
    )
    book = Layered(books)
    assert [book.price(each) for each in "abc"] == [flat(1), flat(3), None]
    assert book.context_length("a") == 8_192
    assert Layered(()).context_length("a") is None
