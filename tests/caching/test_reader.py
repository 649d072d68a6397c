"""Reading request after request: the same as reading each anew, at the cost of what is new."""

import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.caching import Accountant, BlockReader, Marker, Sent, Terms, mark
from holdfast.caching.cache_model import Automatic, Marked, Support
from holdfast.session import Usage
from holdfast.wire import Body, SharedPrefix
from tests.caching.requests import BASH, MODEL, READ, Letters, talk
from tests.caching.test_accountant import scripts


class Counting(Letters):
    """Counts how often it was asked."""

    asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return super().count(text)


@given(scripts())
def test_a_request_after_others_is_read_as_if_it_were_the_first(
    script: list[tuple[Sent, int]],
) -> None:
    reader = BlockReader(Letters())
    chains = [reader.chain(request) for request, _ in script]
    for (request, _), chain in zip(script, chains, strict=True):
        anew = BlockReader(Letters()).chain(request)
        assert (chain.size, chain.scope) == (anew.size, anew.scope)
        assert (chain.markers, chain.fixed) == (anew.markers, anew.fixed)
        # Later requests have left each chain as it was.
        for one, other in (
            (chain.block_prefix.blocks, anew.block_prefix.blocks),
            (chain.block_prefix.links, anew.block_prefix.links),
            (chain.block_prefix.totals, anew.block_prefix.totals),
        ):
            assert one[: chain.size] == other
    assert reader.read(script[-1][0]) == BlockReader(Letters()).read(script[-1][0])


def message(number: int, kind: str) -> dict[str, object]:
    match kind:
        case "tool":
            return {"role": "tool", "tool_call_id": f"{number}", "content": f"{number} passed"}
        case "call":
            return {"role": "assistant", "content": None, "tool_calls": [{"id": f"{number}"}]}
        case "thinking":
            return {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}
        case "imported":
            part = {"type": "text", "text": f"{number}", "cache_control": {"type": "ephemeral"}}
            return {"role": "user", "content": [part]}
        case _:
            return {"role": kind, "content": f"number {number}"}


KINDS = st.sampled_from(["user", "assistant", "tool", "call", "thinking", "imported", "system"])


@given(
    st.lists(KINDS, min_size=1, max_size=14),
    st.lists(st.integers(0, 3), max_size=6),
    st.sampled_from([None, "Be brief."]),
    st.sampled_from(["marked", "native", "bare"]),
)
def test_what_a_shared_prefix_leaves_unread_is_what_reading_it_would_find(
    kinds: list[str], steps: list[int], system: str | None, rules: str
) -> None:
    talk = [message(number, kind) for number, kind in enumerate(kinds)]
    prefix, marker, reader = SharedPrefix(), Marker(), BlockReader(Letters())
    size = 1
    for step in [0, *steps, len(talk)]:
        size = min(size + step, len(talk))
        # Copies, as a conversation hands them out.
        body = Body([dict(each) for each in talk[:size]], system, prefix)
        native = rules == "native"
        sent = marker.mark(body, native=native) if rules != "bare" else body
        assert rules == "bare" or sent == mark(body, native=native)
        fields: dict[str, Any] = {"model": MODEL, "dialect": "openai", "body": sent}
        read = reader.read(Sent(**fields, prefix=prefix))
        assert read == BlockReader(Letters()).read(Sent(**fields))


def test_another_prefix_is_read_from_the_start() -> None:
    reader = BlockReader(Letters())
    texts: list[str] = []
    for body in (talk(9, 9, 9), talk(9, 8, 9, 9)):
        sent = Sent(model=MODEL, dialect="anthropic", body=body, prefix=SharedPrefix())
        texts.append(reader.read(sent)[2].digest)
    assert texts[0] != texts[1]


def test_of_one_prefix_only_what_is_new_is_looked_at() -> None:
    reader, prefix = BlockReader(Letters()), SharedPrefix()
    old, new = talk(9, 9, 9), talk(9, 8, 9, 9)
    sent = [Sent(model=MODEL, dialect="anthropic", body=each, prefix=prefix) for each in (old, new)]
    first, second = (reader.read(each) for each in sent)
    # The caller has said that nothing was changed, and is believed.
    assert second[: len(first)] == first


def test_where_only_a_marker_moves_nothing_is_weighed_again() -> None:
    counter = Counting()
    reader = BlockReader(counter)
    reader.read(Sent(model=MODEL, dialect="anthropic", body=mark(talk(9, 9, 9, 9))))
    counter.asked = 0
    reader.read(Sent(model=MODEL, dialect="anthropic", body=mark(talk(9, 9, 9, 9, 9))))
    assert counter.asked == 1


def test_other_tools_or_another_model_weigh_no_message_again() -> None:
    counter = Counting()
    reader = BlockReader(counter)
    body = talk(9, 9, 9, 9)
    reader.read(Sent(model=MODEL, dialect="anthropic", body=body, tools=(READ,)))
    counter.asked = 0
    reader.read(Sent(model="other", dialect="anthropic", body=body, tools=(READ,)))
    assert counter.asked == 0
    reader.read(Sent(model="other", dialect="anthropic", body=body, tools=(BASH,)))
    assert counter.asked == 1


def calls_of_a_turn(size: int, support: Support) -> int:
    """Return how many functions are called for one more request of so many messages."""
    prefix, marker = SharedPrefix(), Marker()
    accountant = Accountant(Terms(support=lambda _: support, counter=Letters()))
    counted = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    def request(messages: int) -> None:
        body = Body(talk(*[40] * messages).messages, "Be brief.", prefix)
        sys.setprofile(count)
        marked = marker.mark(body) if isinstance(support, Marked) else body
        sent = Sent(model=MODEL, dialect="anthropic", body=marked, prefix=prefix)
        whole = accountant.expect(sent, 0).prompt_tokens
        accountant.report(Usage(1, whole))
        sys.setprofile(None)

    request(size)
    request(size + 2)
    counted = 0
    request(size + 4)
    return counted


def test_marks_and_books_cost_the_same_however_long_the_talk_is() -> None:
    for support in (Marked(), Automatic()):
        short, long = calls_of_a_turn(200, support), calls_of_a_turn(3_000, support)
        assert 0 < long <= short + 5
