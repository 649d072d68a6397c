"""A stream cut into blocks is the same stream, and no cut parts a secret."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.redact import blocks
from holdfast.redaction import redact

KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(f"MIIEpAIBAAKCAQEA{'x7kQ' * 12}" for _ in range(20))
    + "\n-----END RSA PRIVATE KEY-----\n"
)
LINES = [
    "INFO all is well\n",
    "password:\n  Xk92mQp7Lw3z\n",
    KEY,
    "\n",
    "DEBUG {'a': 1,\n 'b': 2}\n",
]


def pieces(content: bytes, size: int) -> list[bytes]:
    return [content[start : start + size] for start in range(0, len(content), size)]


@given(st.binary(max_size=400), st.integers(1, 50), st.integers(1, 100))
def test_blocks_joined_are_the_stream(content: bytes, step: int, size: int) -> None:
    found = list(blocks(pieces(content, step), size))
    assert b"".join(found) == content
    assert all(found)


@given(st.lists(st.sampled_from(LINES), max_size=60), st.integers(20, 900), st.integers(200, 4000))
def test_redacting_blocks_is_redacting_the_whole(lines: list[str], step: int, size: int) -> None:
    text = "".join(lines)
    found = blocks(pieces(text.encode(), step), size)
    assert "".join(redact(block.decode()) for block in found) == redact(text)


def test_a_long_stream_comes_in_several_blocks() -> None:
    content = b"one line\n" * 1_000
    assert len(list(blocks(pieces(content, 100), 1_000))) > 5


def test_a_line_longer_than_a_block_stays_whole() -> None:
    content = b"x" * 5_000 + b"\n" + b"y\n" * 10
    assert next(iter(blocks(pieces(content, 100), 1_000))).startswith(b"x" * 5_000 + b"\n")


def test_a_key_that_never_ends_does_not_hold_the_stream_back() -> None:
    content = KEY.partition("\n-----END")[0].encode() + b"\nplain words\n" * 40_000
    assert len(list(blocks(pieces(content, 10_000), 50_000))) > 2
