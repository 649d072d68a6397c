"""Content in any spelling becomes words and pictures."""

import pytest

from holdfast.formats.content import contents, summarized, words
from holdfast.transcript import Media, Message, Role, Summary, Synthetic, Text


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (None, ()),
        ("hello", (Text("hello"),)),
        (["hello", 5, {"text": "you"}], (Text("hello"), Text("you"))),
        (
            [{"type": "image", "data": "QQ==", "mimeType": "image/png"}],
            (Media("image", "image/png", "QQ=="),),
        ),
        (
            [{"inlineData": {"data": "QQ==", "mimeType": "image/png"}}],
            (Media("image", "image/png", "QQ=="),),
        ),
        ([{"image_url": {"url": "https://x.test/a.png"}}], (Media(url="https://x.test/a.png"),)),
        ([{"image_url": "data:image/gif;base64,QQ=="}], (Media("image", "image/gif", "QQ=="),)),
        ([{"image_urls": ["https://x.test/b.png"]}], (Media(url="https://x.test/b.png"),)),
    ],
)
def test_content_in_any_spelling(value: object, parts: tuple[object, ...]) -> None:
    assert contents(value) == parts


def test_words_leave_pictures_out() -> None:
    assert words(["a", {"data": "QQ=="}, {"text": "b"}]) == "a\nb"


def test_a_summary_keeps_its_words_and_loses_the_sentences_around_them() -> None:
    assert summarized("We built it.", "pi") == Message(
        Role.USER, (Summary("We built it.", "pi"),), synthetic=Synthetic.SUMMARY
    )
    legacy = "[CONTEXT SUMMARY]: We built it."
    assert summarized(legacy, "hermes") == summarized("We built it.", "hermes")
