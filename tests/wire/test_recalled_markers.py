import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript import Message, Recalled, Role, Text, is_user_word
from holdfast.wire import DIALECTS, Body
from holdfast.wire.markers import ANY_TAG, CLOSE, NOTE, OPEN, parted, spelled_out

_PIECES = st.lists(
    st.sampled_from(
        (
            OPEN,
            CLOSE,
            "</ memory-context>",
            "< /memory-context x>",
            "<\t/\nmemory-context>",
            "<\\/memory-context>",
            "<\\ / memory-context>",
            "<MEMORY-context",
            "\n\n",
            "a",
            "\\",
            NOTE,
        )
    )
    | st.text(max_size=5)
).map("".join)


def _message() -> Message:
    return Message(Role.USER, (Recalled("Ada prefers port 5433"), Text("Start the server")))


def test_memory_stands_before_the_words_in_a_block_that_says_what_it_is() -> None:
    body = DIALECTS["openai"].encode((_message(),))
    text = f"{OPEN}\n{NOTE}\n\nAda prefers port 5433\n{CLOSE}\n\nStart the server"
    assert body == Body([{"role": "user", "content": text}])


@pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic", "gemini"])
def test_every_dialect_reads_it_back_as_memory(dialect: str) -> None:
    codec = DIALECTS[dialect]
    (read,) = codec.decode(codec.encode((_message(),)))
    assert read.parts == _message().parts
    assert read.text == "Start the server"


@given(_PIECES, _PIECES)
def test_whatever_is_recalled_cannot_end_its_block(recalled: str, words: str) -> None:
    parts = (Recalled(recalled), Text(words))
    (written,) = spelled_out(parts)
    assert isinstance(written, Text)
    block = written.text.removesuffix(words)
    assert [tag[0] for tag in ANY_TAG.finditer(block)] == [OPEN, CLOSE]
    assert parted((written,)) == parts


def test_memory_alone_is_no_word_of_a_user() -> None:
    alone = Message(Role.USER, (Recalled("Ada"),))
    assert not is_user_word(alone)
    codec = DIALECTS["openai"]
    assert codec.decode(codec.encode((alone,))) == (alone,)


@pytest.mark.parametrize(
    "text", [f"{OPEN}\nsomething else\n{CLOSE}", f"{OPEN}\n{NOTE}\n\nnever closed", f"{OPEN}"]
)
def test_a_block_of_another_make_stays_the_text_that_it_is(text: str) -> None:
    assert parted((Text(text),)) == (Text(text),)


def test_a_block_with_words_run_on_stays_the_text_that_it_is() -> None:
    (written,) = spelled_out((Recalled("Ada"),))
    assert isinstance(written, Text)
    run_on = (Text(f"{written.text}words"),)
    assert parted(run_on) == run_on
