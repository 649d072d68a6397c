"""The page as a whole: complete, closed to the outside, readable for everybody."""

import base64
import hashlib
import re
from importlib.resources import files

import pytest

from holdfast.session import Entry, Kind, Session
from holdfast.tokens import Scale
from holdfast.transcript import Message, Role, Text
from holdfast.views.context_map import WindowLimits, weigh_window
from holdfast.views.html.page import SessionLineage, SessionPage, count_timeline, html_pieces
from holdfast.views.messages import Visibility
from holdfast.views.timeline import TimelineMessage
from tests.views.html.pages import read

HOSTILE = "</title></style></script><script>alert(1)</script>\" onload='x' \x00\u202e\ud800"
COLOR = re.compile(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)")
STYLE = files("holdfast.views.html").joinpath("page.css").read_text("utf-8")


def page_of(*texts: str, title: str = "A title", is_log: bool = True) -> str:
    said = [
        Entry(
            id=id_,
            session="s",
            position=id_,
            kind=Kind.SAID,
            message=Message(Role.USER, (Text(text),)),
            at=0,
            tokens=1,
        )
        for id_, text in enumerate(texts, 1)
    ]
    told = [TimelineMessage(entry, entry.message, Visibility.SEEN) for entry in said]
    session = Session(id="s", source="cli", started=0, title=title, goal=title)
    page = SessionPage(
        lineage=SessionLineage(session, (), ()),
        counts=count_timeline(told),
        window=weigh_window(said, Scale()),
        limits=WindowLimits(1000, 500),
        is_log=is_log,
    )
    return "".join(html_pieces(page, told))


def test_a_page_has_one_of_each_landmark_and_every_link_leads_somewhere() -> None:
    page = read(page_of("hello", "there"))
    for tag in ("main", "h1", "style", "script", "footer"):
        assert page.count(tag) == 1, tag
    assert page.count("html", lang="en") == 1
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    links = [each.removeprefix("#") for each in page.values("href")]
    labels = [*page.values("aria-labelledby"), *page.values("for")]
    assert {*links, *labels} <= set(ids)
    assert {"m1", "m2", "conversation"} <= set(links)


def test_every_message_of_the_user_is_a_jump_away() -> None:
    page = read(page_of("first", "second", "third"))
    assert page.text("summary").count("3 messages of the user") == 1
    assert page.text("a").count("second") == 1
    jumps = [attrs["href"] for _, attrs in page.tags if attrs.get("class") == "jump"]
    assert jumps == ["#m2", "#m1", "#m3", "#m2"]
    assert read(page_of("alone")).count("nav") == 0


def test_hostile_words_stay_words_wherever_they_stand() -> None:
    markup = page_of(HOSTILE, title=HOSTILE)
    page = read(markup)
    assert page.count("script") == 1
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert "alert(1)" in page.text("title")
    markup.encode("utf-8")


def test_only_our_own_style_and_script_may_be_used() -> None:
    page = read(page_of("hello"))
    (policy,) = (
        attrs["content"]
        for _, attrs in page.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "style-src": hashed(page.text("style")),
        "script-src": hashed(page.text("script")),
    }
    # A style in an attribute would be refused.
    assert page.values("style") == []


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_nothing_is_fetched() -> None:
    page = read(page_of("hello"))
    assert page.values("src") == []
    assert page.count("link") == 0
    assert not re.search(r"url\(|@import", STYLE)


def test_the_tools_are_hidden_until_the_script_runs() -> None:
    tools = [attrs for _, attrs in read(page_of("hello")).tags if attrs.get("class") == "tools"]
    assert ["hidden" in attrs for attrs in tools] == [True]


def test_the_page_says_what_it_shows() -> None:
    assert "Everything that was said." in page_of("hello")
    assert "What the model sees now." in page_of("hello", is_log=False)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_can_be_read_in_both_schemes(scheme: int) -> None:
    colors = {found[0]: found[1 + scheme] for found in COLOR.findall(STYLE)}
    shades = {"paper", "shade", "edge"}
    # Thinking has no words of its color, and the map asks for less.
    faint = {
        (name, ground): round(contrast(color, colors[ground]), 2)
        for name, color in colors.items()
        for ground in ("paper", "shade")
        if name not in shades
        and contrast(color, colors[ground]) < (3 if name == "thinking" else 4.5)
    }
    assert len(colors) == 18
    assert faint == {}


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colors as the accessibility guidelines define it."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: str) -> float:
    parts = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
