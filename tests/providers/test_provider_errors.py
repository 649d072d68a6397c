"""What providers say when they refuse, and when they want to be asked again."""

import time
from email.utils import formatdate
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.providers.provider_errors import (
    FailureKind,
    RequestFailure,
    error_sentence,
    failure_of,
    retry_after,
)


def test_a_date_is_measured_against_the_date_of_the_same_answer() -> None:
    headers = {
        "date": "Sun, 01 Mar 2020 10:00:00 GMT",
        "retry-after": "Sun, 01 Mar 2020 10:02:30 GMT",
    }
    assert retry_after(headers) == 150.0


def test_a_date_alone_is_measured_against_the_clock() -> None:
    seconds = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert seconds is not None
    assert 90 < seconds <= 100


def test_a_date_that_has_passed_means_now() -> None:
    assert retry_after({"retry-after": "Sun, 01 Mar 2020 10:00:00 GMT"}) == 0.0


@pytest.mark.parametrize("wish", ["", "soon", "-5", "inf", "nan", "Sun, 99 Mar 2020"])
def test_a_wish_that_makes_no_sense_is_no_wish(wish: str) -> None:
    assert retry_after({"retry-after": wish}) is None


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "date"]),
        st.text() | st.floats().map(str) | st.integers().map(str),
    )
)
def test_whatever_the_headers_hold_a_wish_is_a_time_to_wait_or_none(
    headers: dict[str, str],
) -> None:
    seconds = retry_after(headers)
    assert seconds is None or (isfinite(seconds) and seconds >= 0)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"message": "flat"}, "flat"),
        ({"error": {"message": "wrapped"}}, "wrapped"),
        ({"error": "bare"}, "bare"),
        ({"error": {"code": 3}}, "otherwise"),
        ({"message": ""}, "otherwise"),
        ("a page", "a page"),
        (None, "otherwise"),
        ([1], "otherwise"),
    ],
)
def test_the_sentence_is_found_in_any_envelope(body: object, sentence: str) -> None:
    assert error_sentence(body, "otherwise") == sentence


def test_a_status_without_words_is_still_a_sentence() -> None:
    class APIStatusError(Exception):
        status_code = 500

    assert failure_of(APIStatusError(), 1.0) == RequestFailure(
        FailureKind.UNAVAILABLE, "HTTP 500", details="None"
    )


def test_a_connection_that_broke_is_told_from_one_that_was_never_made() -> None:
    class APIConnectionError(Exception):
        """Named like the SDKs' own."""

    class ReadError(Exception):
        """Named like the HTTP library's own."""

    broken = APIConnectionError("Connection error.")
    assert failure_of(broken, 1.0) == RequestFailure(FailureKind.NO_CONNECTION, "Connection error.")
    broken.__cause__ = ReadError("reset")
    assert failure_of(broken, 1.0) == RequestFailure(FailureKind.CUT_OFF, "reset")


def test_an_error_of_our_own_is_no_failure_of_the_request() -> None:
    assert failure_of(KeyError("x"), 1.0) is None
