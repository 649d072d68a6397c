"""Every rule that makes a run of characters a name, and the prose that must not become one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts import names_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open /srv/app/main.py now", ["/srv/app/main.py"]),
        ("in src/app/, ./run.sh", ["src/app", "./run.sh"]),
        ("see README.md.", ["README.md"]),
        ("ignored by .gitignore", [".gitignore"]),
        ("from @scope/pkg", ["@scope/pkg"]),
        ("at app.py:12:5", ["app.py"]),
        ("+++ b/src/app.py", ["src/app.py"]),
        ("parse_url and ParseURL", ["parse_url", "ParseURL"]),
        ("json.loads(x)", ["json.loads"]),
        ("std::vec_deque", ["vec_deque"]),
        ("MAX_SIZE, _private", ["MAX_SIZE", "_private"]),
        ("gpt-4o is well-known", ["gpt-4o", "well-known"]),
        ("call gather() or .collect()", ["gather", "collect"]),
        ("build().deploy", ["build", "deploy"]),
        ("TIMEOUT", ["TIMEOUT"]),
        ("commit 7b7c2be8", ["7b7c2be8"]),
        ("run --dry-run", ["--dry-run"]),
        ("version v2.1.3", []),
        ("python 3.12.1rc1", []),
        ("it took 500ms, 2.5MB", []),
        ("about 45% or 12345678", []),
        ("on localhost:8080.", ["localhost:8080"]),
        (
            "on api.example.com:443",
            [
                "api.example.com",
                "api.example.com:443",
            ],
        ),
        ("at https://a.example/x?q=1&r=2.", ["https://a.example/x?q=1&r=2"]),
        (r"at C:\work\app.py", ["app.py", r"C:\work\app.py"]),
        (
            r'"one\ntwo_three\tfour_five"',
            ["two_three", "four_five"],
        ),
        ("请修改src/应用/app.py文件", ["/app.py"]),
        ("измени config/app.toml", ["config/app.toml"]),
    ],
)
def test_a_name_is_found_letter_for_letter(text: str, found: list[str]) -> None:
    assert list(names_in(text)) == found


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
    assert names_in(text) == ()


@given(st.text())
def test_any_text_is_cut_and_every_name_stands_in_it(text: str) -> None:
    assert all(name in text for name in names_in(text))
