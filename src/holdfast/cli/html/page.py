"""The page as a whole: the frame, the styles, the little script, and what may run in it."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.cli.html.context_map import map_shown
from holdfast.cli.html.escape import attribute
from holdfast.cli.html.happenings import happening_shown
from holdfast.cli.html.head import head_shown
from holdfast.cli.session_fields import title_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.cli.html.context_map import Limits
    from holdfast.cli.html.head import Family
    from holdfast.cli.html.survey import Survey, Weighed
    from holdfast.cli.story import Happening

__all__ = ["Page", "html_pieces"]

_TOOLS = """\
<div class="tools" role="group" aria-label="tools" hidden>
<label>Only messages with <input type="search" id="filter"></label>
<output id="matches" for="filter"></output>
<button type="button" id="open">Unfold all</button>
<button type="button" id="close">Fold all</button>
<button type="button" id="theme">Light or dark</button>
</div>
"""


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on the page above the conversation."""

    family: Family
    survey: Survey
    window: Weighed
    limits: Limits
    is_log: bool
    """Whether everything that was said follows, or what the model sees now."""


def html_pieces(page: Page, happenings: Iterable[Happening]) -> Iterator[str]:
    """Return the page piece by piece, so that no more than a message of it is held at a time."""
    style, script = _asset("page.css"), _asset("page.js")
    title = attribute(title_of(page.family.session))
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#conversation">To the conversation</a>\n'
    )
    yield head_shown(page.family, page.survey) + "\n<main>\n"
    yield map_shown(page.window, page.limits, page.survey.places) + "\n"
    yield _opening(page)
    for happening in happenings:
        yield happening_shown(happening) + "\n"
    yield (
        f"</section>\n</main>\n<footer>Written by holdfast {__version__}.</footer>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _opening(page: Page) -> str:
    if page.is_log:
        words = "Everything that was said. A bar at the side marks what the model still sees."
    else:
        words = "What the model sees now."
    return (
        '<section id="conversation" aria-labelledby="said" tabindex="-1">'
        f'<h2 id="said">The conversation</h2><p>{words}</p>\n{_TOOLS}'
    )


def _policy(style: str, script: str) -> str:
    """Return what a browser may do with the page: show it, and run our script and no other."""
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src {_hash(script)}"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _asset(name: str) -> str:
    return files("holdfast.cli.html").joinpath(name).read_text("utf-8")
