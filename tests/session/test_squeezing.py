"""Bytes made smaller: with and without the faster compressor, and readable without it."""

import json
import random
import sys
import zlib
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import StoreDamaged
from holdfast.session import squeeze, unsqueeze

CONTENT = json.dumps({"k": "call", "name": "read_file"}).encode() * 20


def plain_squeeze() -> Callable[[bytes], bytes]:
    """Return `squeeze` as it is where nothing but Python is installed."""
    found = find_spec("holdfast.session.squeezing")
    assert found is not None
    assert found.loader is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "isal", None)
        found.loader.exec_module(module := module_from_spec(found))
    return module.squeeze


both = pytest.mark.parametrize("make", [squeeze, plain_squeeze()], ids=["fast", "plain"])


def test_the_faster_compressor_is_used_where_it_is_installed() -> None:
    assert squeeze(CONTENT) != plain_squeeze()(CONTENT)


@both
@given(content=st.binary(max_size=2_000))
def test_what_is_squeezed_expands(make: Callable[[bytes], bytes], content: bytes) -> None:
    assert unsqueeze(make(content)) == content


@both
@given(text=st.text(max_size=300), times=st.integers(1, 200))
def test_what_recurs_expands(make: Callable[[bytes], bytes], text: str, times: int) -> None:
    content = text.encode() * times
    assert unsqueeze(make(content)) == content


@both
def test_content_is_squeezed_where_that_pays(make: Callable[[bytes], bytes]) -> None:
    assert make(b"x" * 5_000)[:1] == b"d"
    assert len(make(b"x" * 5_000)) < 100
    assert make(b"short") == b"rshort"
    noise = zlib.compress(bytes(range(256)) * 40)[:200] + bytes(range(255, 0, -1)) * 3
    assert unsqueeze(make(noise)) == noise


@both
def test_noise_is_stored_as_it_is(make: Callable[[bytes], bytes]) -> None:
    noise = random.Random(1).randbytes(4_000)
    assert make(noise) == b"r" + noise


@pytest.mark.parametrize(
    "stored",
    [
        "640387a302341215a051a6801467b5a32a46550cbc0a00",
        "640387a3023880957414a051a6801467b5a32a46550cbc0a00",
    ],
    ids=["zlib", "isal"],
)
def test_what_was_squeezed_once_is_read_for_ever(stored: str) -> None:
    """The dictionary is part of the layout: another one would make old stores unreadable."""
    assert unsqueeze(bytes.fromhex(stored)) == CONTENT


@pytest.mark.parametrize("stored", [b"", b"x", b"d\xff\xff"])
def test_what_no_version_wrote_is_damage(stored: bytes) -> None:
    with pytest.raises(StoreDamaged):
        unsqueeze(stored)
