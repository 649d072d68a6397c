"""Every rule that makes a run of characters a name, and the prose that must not become one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts.rules import read_run, runs


def names(text: str) -> list[tuple[str, str]]:
    found = dict.fromkeys(fact for run in runs(text) for fact in read_run(run))
    return [(fact.kind.value, fact.text) for fact in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open /srv/app/main.py now", [("path", "/srv/app/main.py")]),
        ("in src/app/, ./run.sh", [("path", "src/app"), ("path", "./run.sh")]),
        ("see README.md.", [("path", "README.md")]),
        ("ignored by .gitignore", [("path", ".gitignore")]),
        ("from @scope/pkg", [("path", "@scope/pkg")]),
        ("at app.py:12:5", [("path", "app.py")]),
        ("+++ b/src/app.py", [("path", "src/app.py")]),
        ("parse_url and ParseURL", [("identifier", "parse_url"), ("identifier", "ParseURL")]),
        ("json.loads(x)", [("identifier", "json.loads")]),
        ("std::vec_deque", [("identifier", "vec_deque")]),
        ("MAX_SIZE, _private", [("identifier", "MAX_SIZE"), ("identifier", "_private")]),
        ("gpt-4o is well-known", [("identifier", "gpt-4o"), ("identifier", "well-known")]),
        ("call gather() or .collect()", [("identifier", "gather"), ("identifier", "collect")]),
        ("build().deploy", [("identifier", "build"), ("identifier", "deploy")]),
        ("TIMEOUT", [("identifier", "TIMEOUT")]),
        ("commit 7b7c2be8", [("commit", "7b7c2be8")]),
        ("run --dry-run", [("flag", "--dry-run")]),
        ("version v2.1.3", [("version", "v2.1.3")]),
        ("python 3.12.1rc1", [("version", "3.12.1rc1")]),
        ("it took 500ms, 2.5MB", [("number", "500ms"), ("number", "2.5MB")]),
        ("about 45% or 12345678", [("number", "45%"), ("number", "12345678")]),
        ("on localhost:8080.", [("number", "8080"), ("port", "localhost:8080")]),
        (
            "on api.example.com:443",
            [
                ("identifier", "api.example.com"),
                ("number", "443"),
                ("port", "api.example.com:443"),
            ],
        ),
        ("at https://a.example/x?q=1&r=2.", [("url", "https://a.example/x?q=1&r=2")]),
        (r"at C:\work\app.py", [("path", "app.py"), ("path", r"C:\work\app.py")]),
        (
            r'"one\ntwo_three\tfour_five"',
            [("identifier", "two_three"), ("identifier", "four_five")],
        ),
        ("请修改src/应用/app.py文件", [("path", "/app.py")]),
        ("измени config/app.toml", [("path", "config/app.toml")]),
    ],
)
def test_a_name_is_found_letter_for_letter(text: str, found: list[tuple[str, str]]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "an ordinary sentence, with words and Words",
        "JSON over HTTP, see README",
        "1, 22 and 7",
        "-- / // ... ::",
        "defaced",
        "https://",
        "://nowhere.at_all",
        "x" * 300 + "_y",
        "1/2",
        "a.b",
        "((()))",
        "/dev/null",
        r"a:\b",
    ],
)
def test_prose_holds_no_name(text: str) -> None:
    assert names(text) == []


@given(st.text())
def test_any_text_is_cut_and_every_name_stands_in_it(text: str) -> None:
    assert all(name in text for _, name in names(text))


@given(st.binary(min_size=3, max_size=60))
def test_any_run_can_be_read(run: bytes) -> None:
    assert all(fact.text for fact in read_run(run))
