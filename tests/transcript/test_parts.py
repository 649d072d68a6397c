"""Parts and messages are frozen values that compare, hash, copy and pickle by what they hold."""

import copy
import gc
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.formats.events import MessageEvent, SourceMetadata
from holdfast.testing.strategies import Material, transcripts
from holdfast.transcript import NO_EXTRAS, Media, Message, Opaque, Role, Text, ToolCall, Transcript

MATERIAL = Material(turns=3, has_summaries=True, has_open_calls=True)


@given(transcripts(MATERIAL))
def test_values_are_copied_pickled_and_shown(transcript: Transcript) -> None:
    for made in (copy.deepcopy(transcript), pickle.loads(pickle.dumps(transcript))):
        assert made == transcript
        assert repr(made) == repr(transcript)


@given(st.text(st.characters(exclude_categories=())))
def test_a_text_may_hold_half_a_pair_of_surrogates(text: str) -> None:
    made = Text(text)
    assert made.text is text
    assert {made: 1}[Text(text)] == 1


def test_values_without_extras_share_one_empty_mapping() -> None:
    made = Message(Role.USER, (Text("a"), ToolCall("1", "run"), Media()))
    shared = [made.extras, *(part.extras for part in made.parts)]  # type: ignore[union-attr]
    assert all(extras is NO_EXTRAS for extras in shared)
    assert replace(made, pinned=True).extras is NO_EXTRAS


def test_a_value_of_another_class_is_not_equal() -> None:
    assert SourceMetadata(id="a") == SourceMetadata(id="a")
    assert Text("a") != Opaque("a", {})
    assert hash(Text("a")) != hash(Text("b"))


def test_a_value_is_frozen() -> None:
    made = Text("a")
    with pytest.raises(AttributeError, match="immutable"):
        made.text = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del made.text  # type: ignore[misc]
    with pytest.raises(TypeError, match="has no field 'words'"):
        replace(made, words="b")


def test_arguments_that_are_missing_or_unknown_are_refused() -> None:
    with pytest.raises(TypeError, match="text"):
        Text()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="other"):
        Text("a", other=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        SourceMetadata("a")  # type: ignore[misc]


def test_the_garbage_collector_does_not_look_at_values() -> None:
    message = Message(Role.USER, (Text("a"),), extras={"id": 1})
    event = MessageEvent(strand="", line=1, key="1", message=message)
    assert not any(map(gc.is_tracked, (message, *message.parts, event, event.native)))
