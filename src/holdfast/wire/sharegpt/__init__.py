"""ShareGPT conversations: how their turns are read and written, and what makes them useless."""

from holdfast.wire.sharegpt.codec import NAME, ROLES, decode, encode, validate

__all__ = ["NAME", "ROLES", "decode", "encode", "validate"]
