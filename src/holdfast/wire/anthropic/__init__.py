"""Anthropic's messages API: how its messages are read and written, and what it refuses."""

from holdfast.wire.anthropic.codec import (
    NAME,
    decode,
    encode,
    read_said,
    write_block,
    write_media,
    write_result,
)
from holdfast.wire.anthropic.rules import validate

__all__ = [
    "NAME",
    "decode",
    "encode",
    "read_said",
    "validate",
    "write_block",
    "write_media",
    "write_result",
]
