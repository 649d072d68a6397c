"""What lies in the usual places fits on the screen, and a path keeps what says most."""

from pathlib import Path

import pytest

from holdfast.agent_files.finding import File
from holdfast.agent_files.places import Place
from holdfast.cli.import_report import offer_drawn, places_drawn
from holdfast.cli.screen import plain
from holdfast.views.words import cells

LONG = Path("/home/ada") / ("folder" * 12) / "sessions"
WIDE = Path("/home/ada") / ("資料" * 30) / "sessions"


def offer(path: Path, width: int) -> list[str]:
    file = File(path / "a.jsonl", path, 1_500, 60_000 * 1_000_000)
    return plain(offer_drawn([(Place("Pi", path, ()), [file])], width, 120_000)).splitlines()


def test_a_path_that_fits_is_whole() -> None:
    assert offer(Path("/home/ada/.pi"), 80)[1].split() == [
        *("Pi", "1", "1.5", "kB", "1", "minute", "ago"),
        "/home/ada/.pi",
    ]
    assert offer(LONG, 10_000)[1].endswith(str(LONG))


@pytest.mark.parametrize("path", [LONG, WIDE])
@pytest.mark.parametrize("width", [60, 80])
def test_a_long_path_loses_its_middle_and_no_line_breaks(path: Path, width: int) -> None:
    lines = offer(path, width)
    assert max(map(cells, lines)) <= width
    assert "/home/" in lines[1]
    assert "…" in lines[1]
    assert lines[1].endswith("sessions")
    places = plain(places_drawn([Place("Pi", path, ())], width)).splitlines()
    assert max(map(cells, places)) <= width
