"""Names of what several files tell in one stream."""

from holdfast.formats.document import Problem
from holdfast.formats.events import MAIN, About, Begun, Folded, Native, Noted, Rewound, Told, named
from holdfast.session import Fork
from holdfast.transcript import Message, Role, Text


def test_every_name_of_a_file_begins_as_the_others_of_it() -> None:
    message = Message(Role.USER, (Text("hi"),))
    native = Native(id="u1")
    about = About(title="Sky")
    given = [
        Begun(strand="/b", line=1, about=about, of=MAIN, fork=Fork.BRANCH, after="#1"),
        Told(strand=MAIN, line=2, key="#2", message=message, native=native),
        Folded(strand=MAIN, line=3, id="f", shows=("#1", "#2"), at=4, trigger="auto"),
        Rewound(strand=MAIN, line=4, shows=("#1",), at=5),
        Noted(strand=MAIN, about=about),
    ]
    assert [named(each, "s") for each in given] == [
        Begun(strand="s/b", line=1, about=about, of="s", fork=Fork.BRANCH, after="s#1"),
        Told(strand="s", line=2, key="s#2", message=message, native=native),
        Folded(strand="s", line=3, id="sf", shows=("s#1", "s#2"), at=4, trigger="auto"),
        Rewound(strand="s", line=4, shows=("s#1",), at=5),
        Noted(strand="s", about=about),
    ]
    assert [named(each, "") for each in given] == given


def test_what_has_no_parent_gets_none_and_a_problem_has_no_name() -> None:
    begun = named(Begun(strand=MAIN, line=1, about=About()), "s")
    assert begun == Begun(strand="s", line=1, about=About())
    problem = Problem(1, "torn", "x.jsonl")
    assert named(problem, "s") == problem
