"""The page of a run is complete, closed to the outside, and says what strangers wrote as words."""

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.trajectories.report import report_html
from holdfast.trajectories.metrics import Aggregate
from tests.cli.trajectories import TARGET, add, aggregates, fail, of_a_million, small
from tests.views.html.pages import Reading, read

ABOUT = {"target tokens": "10,000", "tokenizer": "o200k_base", "inputs": "runs/"}
HOSTILE = (
    "</title></style></table><script>alert(1)</script><img src=x onerror='y'>\" \x00\u202e\ud800"
)
COORDINATES = ("x", "x1", "x2", "y", "y1", "y2", "width", "height")


def page_of(aggregate: Aggregate, **options: bool) -> Reading:
    return read(report_html(aggregate, ABOUT, target=TARGET, seconds=2.0, **options))


def cells_of(page: Reading) -> list[str]:
    return [words for tag, words in page.words if tag in {"th", "td"} and words.strip()]


def test_the_page_has_the_figures_of_the_run() -> None:
    assert cells_of(page_of(small())) == [
        *("trajectories", "number", "share"),
        *("all", "6"),
        *("compressed", "3", "50%"),
        *("under the target", "2", "33%"),
        *("still over limit", "1", "17%"),
        *("failed", "1", "17%"),
        *("tokens", "turns"),
        *("before", "115,000", "230"),
        *("after", "44,500", "89"),
        *("fewer", "70,500", "141"),
        *("ratio", "0.39", "0.39"),
        *("tokens before", "tokens after", "ratio", "turns removed"),
        *("p5", "4,000", "4,000", "0.26", "29"),
        *("p25", "8,979", "8,979", "0.26", "29"),
        *("p50", "24,168", "9,529", "0.30", "56"),
        *("p75", "38,111", "9,914", "0.40", "56"),
        *("p95", "39,651", "12,000", "0.40", "56"),
        *("source", "trajectories", "tokens before", "tokens after", "ratio"),
        *("b.jsonl", "3", "78,000", "22,000", "0.28"),
        *("a.jsonl", "3", "37,000", "22,500", "0.61"),
    ]


def test_the_page_says_what_happened_and_what_the_run_was_told() -> None:
    page = page_of(small())
    assert page.text("p").startswith("Compressed 3 of 6 trajectories, 61% fewer tokens.")
    told = [words for tag, words in page.words if tag in {"dt", "dd"}]
    assert told == [
        *("summaries", "3 calls, no errors", "secrets", "none masked"),
        *("time", "2.0 s, 3.0 trajectories/s, 57,500 tokens/s"),
        *("target tokens", "10,000", "tokenizer", "o200k_base", "inputs", "runs/"),
    ]
    assert "estimates" not in page.text("p")


def test_a_dry_run_says_that_figures_are_estimates() -> None:
    words = page_of(small(), rehearsed=True).text("p")
    assert words.startswith("Would compress 3 of 6 trajectories")
    assert "Figures of what would be left are estimates" in words


def test_every_picture_has_a_title_and_every_bar_tells_its_figures() -> None:
    page = page_of(small())
    titles = [words for tag, words in page.words if tag == "title"]
    assert [title for title in titles if "spread" in title] == [
        "Tokens before: how 5 trajectories are spread",
        "Tokens after: how 5 trajectories are spread",
        "Ratio: how 3 trajectories are spread",
        "Turns removed: how 3 trajectories are spread",
    ]
    assert "38,000 to 40,000 tokens: 2 trajectories" in titles
    assert page.count("rect") == len(titles) - 5
    labels = set(page.values("aria-labelledby"))
    assert labels <= set(page.values("id"))


def test_tokens_before_and_after_are_drawn_to_the_same_scale_with_the_target() -> None:
    aggregate = Aggregate()
    for number in range(100):
        add(aggregate, 400 * number, min(400 * number, 9_000))
    add(aggregate, 10**9, 9_000)
    markup = report_html(aggregate, {}, target=TARGET)
    before, after = re.findall(r"<svg.*?</svg>", markup, re.DOTALL)[:2]
    scales = [re.findall(r"<(?:line|text).*?>[^<]*", picture) for picture in (before, after)]
    assert scales[0] == scales[1]
    assert any("target 10,000" in each for each in scales[0])
    assert any("20,000" in each for each in scales[0])
    assert "over 40,000 tokens: 1 trajectory" in before
    assert "over" not in after


def test_hostile_names_stay_words_wherever_they_stand() -> None:
    aggregate = small()
    add(aggregate, 20_000, 9_000, HOSTILE)
    markup = report_html(aggregate, {HOSTILE: HOSTILE}, target=TARGET)
    page = read(markup)
    assert page.count("script") == page.count("img") == 0
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert [tag for tag, words in page.words if "alert(1)" in words] == ["th", "dt", "dd"]
    markup.encode("utf-8")


def test_nothing_is_fetched_and_nothing_but_our_style_may_be_used() -> None:
    page = page_of(small())
    assert [*page.values("src"), *page.values("href"), *page.values("style")] == []
    assert page.count("link") == page.count("script") == 0
    style = page.text("style")
    assert not re.search(r"url\(|@import", style)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert [
        attrs["content"]
        for _, attrs in page.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ] == [f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"]


def test_nothing_and_failures_alone_make_a_page() -> None:
    failures = Aggregate()
    fail(failures)
    for aggregate, words in (
        (Aggregate(), "Nothing to compress: no trajectory was found."),
        (failures, "Nothing to compress: 1 trajectory failed."),
    ):
        page = page_of(aggregate)
        assert page.text("p") == words
        assert page.count("svg") == 0


def test_only_the_largest_sources_are_named() -> None:
    page = page_of(of_a_million())
    assert sum(words.startswith("part-") for words in cells_of(page)) == 10
    assert page.text("p").endswith("And 3 more sources, with fewer tokens.")


@given(aggregates(), st.dictionaries(st.text(), st.text(), max_size=3), st.integers(1, 10**7))
def test_any_figures_and_any_words_make_a_whole_page(
    aggregate: Aggregate, about: dict[str, str], target: int
) -> None:
    page = read(report_html(aggregate, about, target=target, seconds=1.0))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for tag, attrs in page.tags:
        if tag in {"rect", "line", "text"}:
            places = [float(attrs[name]) for name in COORDINATES if name in attrs]
            assert all(0 <= place <= 460 for place in places)


@pytest.mark.parametrize("aggregate", [small(), of_a_million()], ids=["few", "many"])
def test_no_words_leave_a_picture(aggregate: Aggregate) -> None:
    markup = report_html(aggregate, {}, target=TARGET)
    found = re.findall(r'<text class="\w+" x="([\d.]+)" .*? text-anchor="(\w+)">(.*?)<', markup)
    assert found
    for x, anchor, words in found:
        width = 7 * len(words)
        start = float(x) - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        assert 0 <= start <= start + width <= 460
