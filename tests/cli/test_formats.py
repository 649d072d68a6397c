"""`holdfast formats`: everything that can be read is listed."""

from holdfast.formats import FORMATS
from tests.cli.running import run


def test_every_format_is_listed() -> None:
    assert run("formats", "--json").json == [
        {
            "name": each.name,
            "description": each.description,
            "dialect": each.dialect,
            "writable": each.writable,
        }
        for each in FORMATS.values()
    ]
    assert len(run("formats").text.splitlines()) == len(FORMATS) + 1
