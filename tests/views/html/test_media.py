"""Images are shown from their bytes; everything else is named."""

import base64

import pytest

from holdfast.transcript import Media
from holdfast.views.html.parts import media_shown
from tests.views.html.pages import read

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and more").decode()
GIF = base64.b64encode(b"GIF89a and more").decode()


@pytest.mark.parametrize(
    ("media", "source"),
    [
        (Media("image", "image/png", PNG), f"data:image/png;base64,{PNG}"),
        (Media("image", "", PNG[:8] + "\n" + PNG[8:]), f"data:image/png;base64,{PNG}"),
        (Media("image", "text/html", GIF), f"data:image/gif;base64,{GIF}"),
        (Media(url=f"data:image/png;base64,{PNG}"), f"data:image/png;base64,{PNG}"),
    ],
)
def test_an_image_is_what_its_bytes_say(media: Media, source: str) -> None:
    assert read(media_shown(media)).values("src") == [source]


@pytest.mark.parametrize(
    "media",
    [
        Media("image", "image/svg+xml", base64.b64encode(b"<svg onload=x>").decode()),
        Media("image", "image/png", PNG + '"><script>'),
        Media("image", "image/png", "not base64 at all"),
        Media("audio", "audio/wav", PNG),
        Media(url="data:text/html;base64,PHNjcmlwdD4="),
    ],
)
def test_what_is_no_image_is_named_with_its_size(media: Media) -> None:
    page = read(media_shown(media))
    assert [tag for tag, _ in page.tags] == ["p"]
    assert page.text("p").startswith(media.kind)
    assert page.text("p").endswith("bytes, not shown")


def test_an_image_elsewhere_is_a_link_and_is_not_fetched() -> None:
    page = read(media_shown(Media(url="https://a.example/x.png")))
    assert [tag for tag, _ in page.tags] == ["p", "a"]
    assert page.values("href") == ["https://a.example/x.png"]


@pytest.mark.parametrize("url", ["file-123", "javascript:alert(1)"])
def test_an_address_that_is_not_of_the_web_is_words(url: str) -> None:
    page = read(media_shown(Media(url=url)))
    assert page.values("href") == []
    assert page.text("p") == f"image at {url}"
