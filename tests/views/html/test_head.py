"""The head says what is known, and nothing that is not."""

from holdfast.session import Fork, Session, Usage
from holdfast.views.html.page import SessionLineage, TimelineCounts, head_shown
from tests.views.html.pages import read

NOTHING = TimelineCounts(0, {}, (), frozenset())


def test_everything_that_is_known_stands_in_the_head() -> None:
    session = Session(
        id="s1",
        source="import:pi",
        started=0,
        title="<Title>",
        model="unused",
        goal="ship it",
        usage=Usage(2, 100, 20, 3000, 40, 1.5),
        metadata={"cwd": "/a/<b>", "git_branch": "main"},
    )
    parent = Session(id="s0", source="cli", started=0, title="Before")
    child = Session(id="s2", source="cli", started=0, title="Search", fork=Fork.DELEGATION)
    survey = TimelineCounts(1200, {"tool call": 1, "image": 2}, ("m-1", "m-2"), frozenset())
    page = read(head_shown(SessionLineage(session, (parent,), (child,)), survey))
    assert page.text("h1") == "<Title>"
    assert page.text("dt") == "sessionfrommodelgoalusedfolderbranchholdsusagecame fromled to"
    assert page.text("code") == "s1/a/<b>mains0s2"
    words = page.text("dd")
    for each in (
        "m-1, m-2",
        "1,200 messages, 1 tool call, 2 images",
        "2 calls, 100 tokens in, 20 out, 3,000 from caches, 40 into caches, $1.50",
    ):
        assert each in words
    assert page.text("li") == " Search (delegation)"
    assert page.text("p") == "What was said in them is not here."
    assert "$1.50 (this session alone, without those it came from)" in words


def test_a_branch_was_where_its_parent_was() -> None:
    parent = Session(
        id="s0",
        source="cli",
        started=0,
        metadata={"cwd": "/a", "git_branch": "main", "import": {"file": "/a.jsonl"}},
    )
    session = Session(id="s1", source="cli", started=0, metadata={"git_branch": "next"})
    page = read(head_shown(SessionLineage(session, (parent,), ()), NOTHING))
    assert page.text("dt") == "sessionfromusedfolderbranchfileholdscame from"
    assert page.text("code") == "s1/anext/a.jsonls0"


def test_what_is_unknown_is_left_out() -> None:
    session = Session(id="s1", source="cli", started=0, metadata={"cwd": 7})
    page = read(head_shown(SessionLineage(session, (), ()), NOTHING))
    assert page.text("h1") == "(no title)"
    assert page.text("dt") == "sessionfromusedholds"
