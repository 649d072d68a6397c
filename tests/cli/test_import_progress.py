"""A meter counts each file once, and says how far it is where somebody looks."""

import io
import re

import pytest

from holdfast.cli.screen import ProgressMeter, megabytes, meter_for


class Shown:
    """Keeps what a display was told."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, str]] = []
        self.totals: list[int] = []

    def begin(self, total: int) -> None:
        self.totals.append(total)

    def show(self, done: int, name: str) -> None:
        self.seen.append((done, name))

    def end(self) -> None:
        self.totals.append(-1)


def test_a_file_that_is_read_twice_counts_once() -> None:
    shown = Shown()
    with ProgressMeter(shown) as meter:
        meter.begin(30)
        meter.next("a", 10)
        meter.advance(8)
        meter.advance(8)
        meter.next("b", 20)
        meter.advance(5)
    assert shown.seen == [(0, "a"), (8, "a"), (10, "a"), (10, "b"), (15, "b")]
    assert shown.totals == [30, -1]


def test_a_pipe_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 0.0, 1.0, 6.0, 7.0, 20.0])
    with meter_for(silent=False, clock=lambda: next(times)) as meter:
        meter.begin(40_000_000)
        meter.next("a", 20_000_000)
        meter.advance(12_000_000)
        meter.advance(8_000_000)
        meter.next("b", 20_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "read 12.0 MB of 40.0 MB, 2.0 MB/s, 14 s left: a",
        "read 20.0 MB of 40.0 MB, 1.0 MB/s, 20 s left: b",
    ]


def test_nothing_is_shown_where_silence_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    with meter_for(silent=True) as meter:
        meter.begin(10)
        meter.next("a", 10)
        meter.advance(10)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0.0 kB"), (1_500, "1.5 kB"), (2_500_000_000, "2,500.0 MB")]
)
def test_bytes_are_said_in_a_unit_that_fits(count: int, words: str) -> None:
    assert megabytes(count) == words


class Terminal(io.StringIO):
    """Keeps what a terminal would show."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_a_bar_stays_on_one_line(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    for name, value in {"COLUMNS": str(width), "TERM": "xterm", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    with meter_for(silent=False) as meter:
        meter.begin(22_400_000)
        meter.next("rollout-" + "x" * 100 + ".jsonl", 22_400_000)
        meter.advance(12_000_000)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue())
    lines = [line.rstrip() for line in re.split(r"[\r\n]+", text)]
    assert any("12.0/22.4 MB" in line for line in lines)
    assert max(map(len, lines)) <= width
