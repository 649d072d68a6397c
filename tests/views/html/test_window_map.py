"""The map is to scale, and each block leads to its message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.views.context_map import ContentKind, WeighedMessage, WeighedWindow, WindowLimits
from holdfast.views.html.page import map_shown
from tests.views.html.pages import Reading, read

LIMITS = WindowLimits(window=1000, threshold=500)


def window(*pieces: tuple[ContentKind, int]) -> WeighedWindow:
    weights = tuple(WeighedMessage(id_, None, (piece,)) for id_, piece in enumerate(pieces, 1))
    heaviest = tuple((weight.pieces[0][1], weight, "<words>") for weight in weights[:2])
    return WeighedWindow(weights, heaviest, {})


def bars(page: Reading) -> list[list[tuple[str, float]]]:
    """Return the blocks of each bar: the class and the width in thousandths."""
    found: list[list[tuple[str, float]]] = []
    for tag, attrs in page.tags:
        if tag == "svg" and attrs["class"] == "bar":
            found.append([])
        elif tag == "rect" and "x" in attrs:
            found[-1].append((attrs["class"], float(attrs["width"])))
    return found


def test_the_bars_are_drawn_to_scale() -> None:
    found = window((ContentKind.USER, 100), (ContentKind.RESULTS, 250), (ContentKind.USER, 50))
    page = read(map_shown(found, LIMITS, frozenset({1, 2, 3})))
    assert bars(page) == [
        [("kind-user", 150.0), ("kind-results", 250.0)],
        [("kind-user", 250.0), ("kind-results", 625.0), ("kind-user", 125.0)],
    ]
    assert page.count("line", **{"class": "threshold", "x1": "500.00"}) == 1
    assert page.count("line", **{"class": "limit"}) == 0


def test_a_window_that_is_too_full_shows_where_it_ends() -> None:
    page = read(map_shown(window((ContentKind.USER, 2000)), LIMITS, frozenset({1})))
    assert page.count("line", **{"class": "limit", "x1": "500.00"}) == 1
    assert "200% used" in page.text("p")


def test_the_table_has_tokens_and_shares() -> None:
    page = read(
        map_shown(
            window((ContentKind.USER, 100), (ContentKind.CALLS, 300)), LIMITS, frozenset({1, 2})
        )
    )
    assert page.text("td") == "10025.0%30075.0%"
    assert page.values("scope") == ["col"] * 3 + ["row"] * 2


def test_a_message_that_is_not_in_the_page_is_no_link() -> None:
    weights = (
        WeighedMessage(1, None, ((ContentKind.USER, 10),)),
        WeighedMessage(2, 7, ((ContentKind.CALLS, 10),)),
    )
    page = read(map_shown(WeighedWindow(weights, (), {}), LIMITS, frozenset({7})))
    assert set(page.values("href")) == {"#m7"}


@pytest.mark.parametrize("found", [window(), window((ContentKind.USER, 0))])
def test_an_empty_window_has_a_map_too(found: WeighedWindow) -> None:
    assert "0% used" in read(map_shown(found, LIMITS, frozenset())).text("p")


@given(
    st.lists(
        st.tuples(st.sampled_from(ContentKind), st.integers(1, 5000)), min_size=1, max_size=900
    )
)
def test_long_windows_have_few_blocks_and_none_is_lost(
    pieces: list[tuple[ContentKind, int]],
) -> None:
    page = read(map_shown(window(*pieces), LIMITS, frozenset(range(1, 901))))
    kinds, ordered = bars(page)
    assert len(ordered) <= 241
    assert sum(width for _, width in ordered) == pytest.approx(1000, abs=2)
    assert {name for name, _ in kinds} == {f"kind-{kind.name.lower()}" for kind, _ in pieces}
