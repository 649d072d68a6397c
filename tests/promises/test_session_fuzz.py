"""Whatever happened to a session file, reading it ends, and never with a crash."""

import json
import os
import random
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.formats import detect, read_all
from holdfast.formats.catalog import HEAD, SESSIONS, SessionReader, recognize
from holdfast.formats.replay import replay
from holdfast.formats.source import SourceRecord
from tests.formats.conformance import broken_rules, records_of, tell
from tests.formats.samples import SESSIONS as SAMPLES

FILES = sorted(path for path in SAMPLES.rglob("*") if path.is_file())
READERS = {reader.format.name: reader for reader in SESSIONS}
SEEDS = 40 if os.environ.get("SOAK") else 3
LARGEST = 4_000_000 if os.environ.get("SOAK") else 150_000
"""Bytes of a real file that are mutated: enough to hold everything, small enough to repeat."""

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def cut(content: bytes, dice: random.Random) -> bytes:
    return content[: dice.randrange(len(content) + 1)]


def cut_off_head(content: bytes, dice: random.Random) -> bytes:
    return content[dice.randrange(len(content) + 1) :]


def shuffled(content: bytes, dice: random.Random) -> bytes:
    lines = content.split(b"\n")
    dice.shuffle(lines)
    return b"\n".join(lines)


def doubled(content: bytes, dice: random.Random) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join(line for line in lines for _ in range(dice.randrange(3)))


def flipped(content: bytes, dice: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(1 + len(changed) // 2000):
        changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def glued(content: bytes, dice: random.Random) -> bytes:
    return b"".join(line + (b"\n" if dice.random() < 0.7 else b"") for line in content.split(b"\n"))


def nested(content: bytes, dice: random.Random) -> bytes:
    lines = content.split(b"\n")
    lines.insert(dice.randrange(len(lines) + 1), b'{"message":' * 5_000)
    return b"\n".join(lines)


def swapped(content: bytes, dice: random.Random) -> bytes:
    """Put values of the wrong kind where the file had others."""
    lines = content.split(b"\n")
    for index, line in enumerate(lines):
        try:
            value: object = json.loads(line)
        except ValueError:
            continue
        lines[index] = json.dumps(_swapped(value, dice)).encode()
    return b"\n".join(lines)


def _swapped(value: object, dice: random.Random) -> object:
    if dice.random() < 0.03:
        return dice.choice([None, 7, -1, 1e300, "", "x", [], {}, [[]], {"type": 1}, True])
    if isinstance(value, dict):
        return {str(key): _swapped(inner, dice) for key, inner in value.items()}
    if isinstance(value, list):
        return [_swapped(inner, dice) for inner in value]
    return value


MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    cut,
    cut_off_head,
    shuffled,
    doubled,
    flipped,
    glued,
    nested,
    swapped,
)


def survives(content: bytes, reader: SessionReader) -> None:
    """Read what is left of a file in every way that commands do."""
    detect(content)
    try:
        events = tell(reader, content)
    except DecodeError:
        return
    assert broken_rules(events) == []
    with suppress(DecodeError):
        read_all(content)


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_mutated_sample_is_read_as_far_as_it_goes(
    path: Path, mutate: Callable[[bytes, random.Random], bytes]
) -> None:
    content = path.read_bytes()
    found = recognize(records_of(content)[:HEAD])
    for seed in range(SEEDS):
        changed = mutate(content, random.Random(seed))
        survives(changed, found[0] if found else READERS["claude-code"])


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda each: each.__name__)
def test_a_mutated_real_file_is_read_as_far_as_it_goes(
    shared: Path, mutate: Callable[[bytes, random.Random], bytes]
) -> None:
    for number, path in enumerate(sorted((shared / "data/sessions").rglob("*"))):
        if not path.is_file() or path.suffix == ".db":
            continue
        content = path.read_bytes()[:LARGEST]
        try:
            found = recognize(records_of(content)[:HEAD])
        except DecodeError:
            continue
        if found is not None:
            survives(mutate(content, random.Random(number)), found[0])


# Making a case takes longer than all readers take to read it, so that each of them gets every case.
@settings(max_examples=max(200, getattr(settings.default, "max_examples", 0)))
@given(st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=4), max_size=5))
def test_any_json_is_told_by_any_reader(values: list[dict[str, object]]) -> None:
    records = [SourceRecord(line, value) for line, value in enumerate(values, 1)]
    for name, reader in READERS.items():
        reader.recognize(records)
        assert (name, broken_rules(list(reader.read(records)))) == (name, [])


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_reader_meets_every_sample(name: str) -> None:
    for path in FILES:
        events = list(READERS[name].read(records_of(path.read_bytes())))
        assert broken_rules(events) == [], path.name
        replay(events)


def test_a_long_file_is_read_in_the_memory_of_its_ids() -> None:
    line = json.dumps(
        {
            "type": "user",
            "sessionId": "s",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": "x" * 4_000},
        }
    )
    reader = READERS["claude-code"]

    def records() -> Iterator[SourceRecord]:
        for number in range(5_000):
            entry = json.loads(line)
            entry |= {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
            yield SourceRecord(number + 1, entry)

    tracemalloc.start()
    try:
        told = sum(1 for _ in reader.read(records()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert told >= 5_000
    assert peak < 6 << 20, "20 MB were told"
