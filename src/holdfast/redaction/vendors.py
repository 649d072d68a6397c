"""Recognize a vendor's token at the start of a run of token characters.

Two letters choose the few rows to try, and a row is compared with a prefix, a length and an
alphabet: no pattern is run, so there is nothing that could backtrack.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from holdfast.redaction.survey import ALNUM
from holdfast.redaction.values import counts_up, is_placeholder, is_random, is_varied
from holdfast.redaction.vendor_tables import CLOUDS, FORGES, MESSAGES_AND_MONEY, MODELS

__all__ = ["Proof", "Vendor", "token_end", "vendors_by_opening"]


class Proof(Enum):
    """What the rest of a token must show beyond its shape."""

    ANY = "any"
    VARIED = "varied"
    RANDOM = "random"
    UNEVEN = "uneven"


@dataclass(frozen=True, slots=True)
class Vendor:
    """One shape of token."""

    prefix: bytes
    alphabet: bytes
    least: int
    most: int
    proof: Proof


_UNLIMITED = 1 << 30
_ALPHABETS = {
    "alnum": ALNUM,
    "word": ALNUM + b"_",
    "slug": ALNUM + b"_-",
    "hex": b"0123456789abcdefABCDEF",
    "hexdash": b"0123456789abcdefABCDEF-",
    "lower": b"abcdefghijklmnopqrstuvwxyz0123456789",
    "upper": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "digits": b"0123456789",
}


def vendors_by_opening() -> dict[bytes, dict[int, dict[bytes, list[Vendor]]]]:
    """Return the rows by the first two bytes of their prefix, its length, and the prefix itself.

    Longer prefixes come first.
    """
    lines = "".join((MODELS, FORGES, CLOUDS, MESSAGES_AND_MONEY)).split("\n")
    vendors = sorted(map(_row, filter(None, lines)), key=lambda vendor: -len(vendor.prefix))
    rows: dict[bytes, dict[int, dict[bytes, list[Vendor]]]] = {}
    for vendor in vendors:
        prefix = vendor.prefix
        lengths = rows.setdefault(prefix[:2], {})
        lengths.setdefault(len(prefix), {}).setdefault(prefix, []).append(vendor)
    return rows


def token_end(run: bytes, vendor: Vendor) -> int:
    """Return how much of a run that begins with the prefix is a token; zero when it is none."""
    rest = run[len(vendor.prefix) :]
    left = rest.lstrip(vendor.alphabet)
    length = len(rest) - len(left)
    if not vendor.least <= length <= vendor.most or left[:1].isalnum():
        return 0
    secret = rest[:length]
    return len(vendor.prefix) + length if _shows(secret, vendor.proof) else 0


def _shows(secret: bytes, proof: Proof) -> bool:
    match proof:
        case Proof.ANY:
            return b"EXAMPLE" not in secret
        case Proof.VARIED:
            return is_varied(secret) and not is_placeholder(secret)
        case Proof.RANDOM:
            return is_random(secret) and not is_placeholder(secret)
        case Proof.UNEVEN:
            return _shows(secret, Proof.RANDOM) and not counts_up(secret)
        case _:
            assert_never(proof)


def _row(line: str) -> Vendor:
    prefix, alphabet, least, most, proof = line.split()
    return Vendor(
        prefix.encode(),
        _ALPHABETS[alphabet],
        int(least),
        _UNLIMITED if most == "-" else int(most),
        Proof(proof),
    )
