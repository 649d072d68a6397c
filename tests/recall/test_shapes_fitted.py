"""Results fit their budget, cut what matters least first, and say what was cut."""

from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall.shapes import (
    BUDGET,
    Beginning,
    Excerpt,
    Excerpts,
    Neighborhood,
    OneMessage,
    QuotedPassages,
    Result,
    fitted,
    written,
)
from holdfast.recall.values import MatchTier, Told
from holdfast.session import Session
from holdfast.tokens import Estimator
from holdfast.transcript import Role

SESSION = Session(id="20261116_090000_abcdef", source="cli", started=0, title="Billing")
COUNTER = Estimator()
BAREST = 400
"""Tokens in which even the barest form of any shape fits."""


def said(id_: int, text: str, role: Role = Role.USER) -> Told:
    return Told(id=id_, role=role, text=text, at=0, is_output=role is Role.TOOL)


texts = st.text(max_size=200) | st.builds(
    lambda piece, times: piece * times, st.text(min_size=1, max_size=40), st.integers(1, 800)
)
messages = st.builds(said, st.integers(1, 10**6), texts, st.sampled_from(Role))
several = st.lists(messages, max_size=12).map(tuple)
excerpts = st.builds(
    Excerpt,
    session=st.just(SESSION),
    title=st.text(max_size=300),
    last_active=st.integers(0, 10**12),
    snippet=st.text(max_size=160),
    tier=st.sampled_from(MatchTier),
    focus=messages,
    before=several,
    after=several,
    opening=several,
    closing=several,
)
results: st.SearchStrategy[Result] = st.one_of(
    st.builds(Excerpts, st.text(), st.lists(excerpts, max_size=4).map(tuple)),
    st.builds(
        Neighborhood, session=st.just(SESSION), focus=messages, before=several, after=several
    ),
    st.builds(
        Beginning,
        session=st.just(SESSION),
        title=st.text(max_size=20),
        first=several,
        last=several,
        total=st.integers(30, 999),
    ),
    st.builds(OneMessage, st.just(SESSION), messages),
)


@given(results, st.integers(BAREST, 6_000))
def test_every_result_fits_its_budget(result: Result, budget: int) -> None:
    assert COUNTER.count(written(fitted(result, budget, COUNTER))) <= budget


@given(results, st.integers(BAREST, 6_000))
def test_what_is_shown_and_what_was_cut_add_up(result: Result, budget: int) -> None:
    if isinstance(result, OneMessage | QuotedPassages):
        return
    document = fitted(result, budget, COUNTER)
    cut = cast("dict[str, int]", document.get("cut", {}))
    shown = written(document).count('"role":') - written(document).count('"matched":')
    assert shown + cut.get("messages_left_out", 0) == result.size
    assert written(document).count('"characters_cut":') - ("characters_cut" in cut) == cut.get(
        "messages_shortened", 0
    )


@given(st.text(max_size=300), st.integers(1, 60), st.integers(BAREST, 1_000))
def test_pages_of_one_message_put_together_are_the_message(
    piece: str, times: int, budget: int
) -> None:
    text = piece * times
    pages: list[str] = []
    offset: object = 0
    while offset is not None:
        document = fitted(OneMessage(SESSION, said(1, text), cast("int", offset)), budget, COUNTER)
        (page,) = cast("list[dict[str, str]]", document["messages"])
        pages.append(page["text"])
        assert document["next_offset"] is None or document["next_offset"] > offset  # type: ignore[operator]
        offset = document["next_offset"]
    assert "".join(pages) == text


def test_a_result_that_fits_is_not_cut() -> None:
    document = fitted(Neighborhood(session=SESSION, focus=said(1, "short")), BUDGET, COUNTER)
    assert "cut" not in document


def test_outputs_of_tools_give_way_before_what_people_said() -> None:
    words, output = "What the user wants. " * 40, "line of output\n" * 2_000
    around = Neighborhood(
        session=SESSION, focus=said(2, "go"), before=(said(1, words), said(3, output, Role.TOOL))
    )
    document = fitted(around, 1_000, COUNTER)
    first, tool, _ = cast("list[dict[str, object]]", document["messages"])
    assert first["text"] == words
    left_out = tool["characters_cut"]
    assert isinstance(left_out, int)
    assert document["cut"] == {
        "messages_shortened": 1,
        "characters_cut": left_out,
        "how": "around_message_id shows a message with its neighbors, with window=0 one message "
        "in full",
    }
    assert left_out > 25_000


def test_a_long_message_gives_as_much_as_the_budget_allows() -> None:
    one = OneMessage(SESSION, said(1, "word and word " * 20_000))
    document = fitted(one, 4_000, COUNTER)
    assert 3_900 < COUNTER.count(written(document)) <= 4_000


def test_results_are_left_out_from_the_end_when_nothing_else_helps() -> None:
    each = Excerpt(
        session=SESSION,
        title="Billing",
        last_active=0,
        snippet="words " * 30,
        tier=MatchTier.WORDS,
        focus=said(1, "x"),
    )
    document = fitted(Excerpts("words", (each,) * 20), 700, COUNTER)
    kept = cast("list[object]", document["results"])
    assert 0 < len(kept) < 20
    assert cast("dict[str, int]", document["cut"])["results_left_out"] == 20 - len(kept)


def test_a_budget_too_small_for_anything_gets_the_barest_form() -> None:
    around = Neighborhood(session=SESSION, focus=said(1, "word " * 100))
    document = fitted(around, 1, COUNTER)
    (message,) = cast("list[dict[str, object]]", document["messages"])
    assert message["text"] == f"{('word ' * 100)[:20]}…"
