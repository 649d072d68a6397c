"""Whatever is wrong with a file, it is told as far as it goes, and nothing raises."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.agent_files.detection import (
    FoundFile,
    ReadOptions,
    SkippedFile,
    UnreadableFile,
    examine,
)
from holdfast.formats.events import MessageEvent, Problem, StrandStarted
from tests.agent_files.agent_files import file_at
from tests.formats.samples import FORMAT_OF, SESSIONS

SAMPLES = [name for name in FORMAT_OF if (SESSIONS / name).exists()]
DEEP = b'{"a":' * 3_000 + b"1" + b"}" * 3_000


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def flip(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(10):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def shuffle(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines()
    chance.shuffle(lines)
    return b"\n".join(lines)


def repeat(content: bytes, chance: random.Random) -> bytes:
    return b"\n".join(chance.choices(content.splitlines(), k=60))


def stuff(content: bytes, chance: random.Random) -> bytes:
    """Put what no agent writes between the lines: depth, other values, an endless line."""
    lines = content.splitlines()
    strange = [DEEP, b"[[]]", b"null", b'"text"', b"{}{}", b'{"x": "' + b"y" * 300_000 + b'"}']
    for each in strange:
        lines.insert(chance.randrange(1, len(lines) + 1), each)
    return b"\n".join(lines)


@pytest.mark.parametrize("damage", [cut, flip, shuffle, repeat, stuff])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_file_is_told_as_far_as_it_goes(
    name: str, damage: Callable[[bytes, random.Random], bytes], tmp_path: Path
) -> None:
    chance = random.Random(name)
    path = tmp_path / "session"
    for _ in range(4):
        path.write_bytes(damage((SESSIONS / name).read_bytes(), chance))
        match examine(file_at(path), ReadOptions()):
            case FoundFile() as found:
                strands: set[str] = set()
                keys: set[str] = set()
                for event in found.tell():
                    match event:
                        case StrandStarted(strand=strand):
                            assert strand not in strands
                            strands.add(strand)
                        case MessageEvent(strand=strand, key=key):
                            assert strand in strands
                            assert key not in keys
                            keys.add(key)
                        case Problem(reason=reason):
                            assert reason
                        case _:
                            pass
            case SkippedFile(reason=reason) | UnreadableFile(reason=reason):
                assert reason
