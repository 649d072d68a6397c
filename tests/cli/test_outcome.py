"""The lines after a compaction: no wider than 80 columns, and no word about what is not there."""

from dataclasses import replace

from holdfast.cli.compress import Compressed, compressed_drawn
from holdfast.cli.sample import sample_session
from holdfast.cli.screen import plain
from holdfast.compaction import Folded, Pruned
from holdfast.config import Settings
from holdfast.config.settings import ModelSettings
from holdfast.wiring import engine_of
from tests.cli.running import run


def test_a_folded_outcome_fits_80_columns_and_speaks_of_its_record() -> None:
    engine = engine_of(Settings(model=ModelSettings(context_length=40_000)))
    report = replace(engine.compact(sample_session()), notes=("a long warning " * 20,))
    words = plain(
        compressed_drawn("s.json", Compressed(report, "openai", None, ("line 1: " + "x " * 90,)))
    )
    assert max(map(len, words.splitlines())) <= 80
    assert report.figures.audit is not None
    told = " ".join(words.split())
    assert "record deterministic, " in told
    for kind, wanted, kept in report.figures.audit.kinds:
        assert f"{kind} {kept:,}/{wanted:,}" in told


def test_a_pruned_outcome_does_not_speak_of_a_record() -> None:
    engine = engine_of(Settings(model=ModelSettings(context_length=40_000)))
    report = engine.compact(sample_session())
    assert isinstance(report.result, Folded)
    figures = replace(report.figures, summary=None, folded=0)
    pruned = replace(report, result=Pruned(report.result.transcript, figures))
    words = plain(compressed_drawn("s.json", Compressed(pruned, "openai", None)))
    assert "statements are still in the window" in " ".join(words.split())
    assert "record" not in words


def test_one_message_is_not_messages() -> None:
    one = b'[{"role": "user", "content": "hi"}]'
    assert "  size      1 message, " in run("compress", "-", stdin=one).errors
    inspected = run("inspect", "-", stdin=one).text
    assert inspected.splitlines()[1].startswith("1 message, ")
    assert "from beginning to end (a column is under 1 token)" in inspected
    assert "(1 message)" in run("validate", "-", "--provider", "openai", stdin=one).text
