"""What an agent wrote about a message travels with it and comes back out."""

from holdfast.formats.events import SourceMetadata, native_of, with_native, without_native
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text
from holdfast.wire import DIALECTS

HELLO = Message(Role.USER, (Text("Hello"),))
FULL = SourceMetadata(
    id="u1",
    parent="u0",
    reply="m1",
    model="some-model",
    usage=Usage(1, 2, 3, 4, 5, 0.25),
    at=1_700_000_000_000,
    more={"stop": "end_turn"},
    mark="abc",
)


def test_what_was_put_in_comes_out() -> None:
    assert native_of(with_native(HELLO, FULL)) == FULL
    assert without_native(with_native(HELLO, FULL)) == HELLO


def test_nothing_known_leaves_a_message_as_it_is() -> None:
    assert with_native(HELLO, SourceMetadata()) is HELLO
    assert without_native(HELLO) is HELLO
    assert native_of(HELLO) == SourceMetadata()


def test_other_extras_stay() -> None:
    named = Message(Role.USER, (Text("Hello"),), extras={"openai": {"name": "Ann"}})
    assert without_native(with_native(named, FULL)) == named


def test_the_beginning_of_time_is_a_time() -> None:
    assert native_of(with_native(HELLO, SourceMetadata(at=0))) == SourceMetadata(at=0)


def test_no_provider_sees_it() -> None:
    for name, dialect in DIALECTS.items():
        assert dialect.encode((with_native(HELLO, FULL),)) == dialect.encode((HELLO,)), name
