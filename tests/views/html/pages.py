"""Reads a page as a strict browser would, for tests of what stands in it."""

from html.parser import HTMLParser

VOID = frozenset({"meta", "img", "input", "br", "line", "rect"})


class Reading(HTMLParser):
    """What was found in a page; `problems` has what is not well-formed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.problems: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"an attribute of {tag} stands twice")
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID or (tag == "rect" and not self.get_starttag_text().endswith("/>")):  # type: ignore[union-attr]
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append((self.open[-1] if self.open else "", data))

    def text(self, tag: str) -> str:
        return "".join(words for where, words in self.words if where == tag)

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] for _, attrs in self.tags if attribute in attrs]

    def count(self, tag: str, **wanted: str) -> int:
        return sum(
            name == tag and all(attrs.get(key) == value for key, value in wanted.items())
            for name, attrs in self.tags
        )


def read(markup: str) -> Reading:
    """Read a page or a piece of one, which has to be well-formed."""
    reading = Reading()
    reading.feed(markup)
    reading.close()
    assert reading.problems == []
    assert reading.open == []
    return reading
