"""Every reader keeps the rules of telling, on own samples and on real files."""

from pathlib import Path

import pytest

from holdfast.errors import DecodeError
from holdfast.formats.catalog import HEAD, SESSIONS, SessionReader, recognize
from tests.formats.conformance import broken_rules, counted_twice, records_of, spoken, tell
from tests.formats.samples import SESSIONS as SAMPLES

READERS = {reader.format.name: reader for reader in SESSIONS}
FILES = sorted(path for path in SAMPLES.rglob("*") if path.is_file())


def reader_of(content: bytes) -> SessionReader | None:
    found = recognize(records_of(content)[:HEAD])
    return None if found is None else found[0]


def real_files(shared: Path) -> list[tuple[Path, bytes, SessionReader]]:
    found: list[tuple[Path, bytes, SessionReader]] = []
    for path in sorted((shared / "data/sessions").rglob("*")):
        if not path.is_file() or path.suffix == ".db":
            continue
        content = path.read_bytes()
        try:
            reader = reader_of(content)
        except DecodeError:
            continue
        if reader is not None:
            found.append((path, content, reader))
    return found


def test_there_is_a_sample_of_every_format() -> None:
    read = {reader.format.name for path in FILES if (reader := reader_of(path.read_bytes()))}
    assert read == set(READERS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_sample_is_told_by_the_rules(path: Path) -> None:
    content = path.read_bytes()
    reader = reader_of(content)
    if reader is None:
        pytest.skip("a provider's document has no reader of its own")
    events = tell(reader, content)
    assert [*broken_rules(events), *counted_twice(events)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_was_told_stays_told_when_the_sample_grows(path: Path) -> None:
    content = path.read_bytes()
    reader = reader_of(content)
    if reader is None or path.suffix != ".jsonl":
        pytest.skip("only a file of lines grows")
    records = records_of(content)
    whole = spoken(reader.read(records))
    for count in range(len(records)):
        part = spoken(reader.read(records[:count]))
        assert part == whole[: len(part)], f"after {count} records"


def test_every_real_file_is_told_by_the_rules(shared: Path) -> None:
    files = real_files(shared)
    broken = {
        str(path): rules
        for path, content, reader in files
        if (events := tell(reader, content))
        if (rules := [*broken_rules(events), *counted_twice(events)])
    }
    assert broken == {}
    assert {reader.format.name for _, _, reader in files} >= {"claude-code", "codex", "pi"}


def test_what_was_told_stays_told_when_a_real_file_grows(shared: Path) -> None:
    for path, content, reader in real_files(shared):
        if path.suffix != ".jsonl":
            continue
        records = records_of(content)
        whole = spoken(reader.read(records))
        for share in (0.1, 0.37, 0.62, 0.9, 0.99):
            part = spoken(reader.read(records[: int(len(records) * share)]))
            assert part == whole[: len(part)], f"{path} cut at {share}"
