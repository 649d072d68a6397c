"""OpenAI's chat API: how its messages are read and written, and what it refuses."""

from holdfast.wire.openai_chat.codec import NAME, decode, encode, merged_roles
from holdfast.wire.openai_chat.rules import validate

__all__ = ["NAME", "decode", "encode", "merged_roles", "validate"]
