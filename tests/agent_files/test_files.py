"""Files come as bytes, packed or not, and what is wrong with the packing is said."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent_files.files import (
    BLOCK,
    Blocks,
    Unreadable,
    head_of,
    is_binary,
    place_of,
    unpacked,
)
from holdfast.errors import MissingExtra

LINES = b"".join(b'{"line": %d}\n' % number for number in range(20_000))
CUT = "the file ends in the middle of its packed content; what came before was read"


def written(folder: Path, content: bytes) -> Path:
    path = folder / "session"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "packed",
    [
        LINES,
        gzip.compress(LINES),
        gzip.compress(LINES[:7]) + gzip.compress(LINES[7:]),
        gzip.compress(LINES) + b"\0" * 512,
        zstandard.compress(LINES),
        zstandard.compress(LINES[:9]) + zstandard.compress(LINES[9:]),
    ],
    ids=["plain", "gzip", "members", "padded", "zstd", "frames"],
)
def test_content_is_the_same_however_it_is_packed(packed: bytes, tmp_path: Path) -> None:
    blocks = Blocks(written(tmp_path, packed))
    assert b"".join(blocks) == LINES
    assert b"".join(blocks) == LINES, "each iteration opens the file anew"
    assert blocks.damage == ""
    assert unpacked(packed) == LINES


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_members_of_any_size_are_joined(members: list[bytes]) -> None:
    packed = b"".join(map(gzip.compress, members))
    assert unpacked(packed) == b"".join(members)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_what_comes_before_a_cut_is_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    whole = pack(LINES)
    blocks = Blocks(written(tmp_path, whole + whole[: len(whole) // 2]))
    read = b"".join(blocks)
    assert read.startswith(LINES)
    assert (LINES * 2).startswith(read)
    assert blocks.damage == CUT


def test_damage_inside_ends_the_file_and_is_said(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(LINES) + gzip.compress(LINES))
    packed[-6] ^= 0xFF  # the checksum of the second member
    blocks = Blocks(written(tmp_path, bytes(packed)))
    assert b"".join(blocks).startswith(LINES)
    assert blocks.damage.startswith("the packed content is damaged: ")
    with pytest.raises(Unreadable, match="the packed content is damaged"):
        unpacked(bytes(packed))


def test_few_packed_bytes_that_stand_for_many_come_in_pieces(tmp_path: Path) -> None:
    size = 32 << 20
    pieces = [len(piece) for piece in Blocks(written(tmp_path, gzip.compress(bytes(size), 9)))]
    assert sum(pieces) == size
    assert max(pieces) < size / 4


def test_bytes_are_counted_as_they_lie_on_the_disk(tmp_path: Path) -> None:
    packed = gzip.compress(LINES)
    seen: list[int] = []
    assert b"".join(Blocks(written(tmp_path, packed), seen.append)) == LINES
    assert seen == [len(packed)]


def test_the_head_is_short_and_unpacked(tmp_path: Path) -> None:
    head = head_of(written(tmp_path, gzip.compress(LINES * 10)))
    assert LINES.startswith(head[: len(LINES)])
    assert 0 < len(head) < BLOCK


def test_text_in_utf_8_is_not_binary() -> None:
    assert not is_binary("\ufeff{}".encode())
    assert is_binary(b"\x89PNG\0\0")


@pytest.mark.parametrize(
    ("name", "reason"), [("missing", "there is no such file or folder"), ("", "it is a folder")]
)
def test_a_file_that_cannot_be_read_is_a_sentence(name: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(Unreadable) as raised:
        list(Blocks(path))
    assert str(raised.value) == f"cannot read {path}: {reason}"


def test_zstd_without_its_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, zstandard.compress(LINES))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[zstd\]'"):
        list(Blocks(path))
    path.write_bytes(gzip.compress(LINES) + b"junk")
    assert b"".join(Blocks(path)) == LINES


def test_a_place_is_the_same_however_it_was_named(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    assert place_of(tmp_path / "inside" / ".." / "file") == str(tmp_path / "file")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_what_unpacks_to_a_thousand_times_its_size_is_refused(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    packed = pack(b"\n" * (100 << 20))
    blocks = Blocks(written(tmp_path, packed))
    assert 32 << 20 < sum(map(len, blocks)) <= 100 << 20
    assert "times its size, which no session does" in blocks.damage
    with pytest.raises(Unreadable, match="unpack it yourself if it is one"):
        unpacked(packed)
    assert unpacked(pack(b"\n" * (8 << 20))) == b"\n" * (8 << 20)
