"""How long a failed summarizer is left alone."""

import pytest

from holdfast.engines.summarizer_fallback import READY, Cooldown, cooldown_after
from holdfast.summary import Declined, Failure


@pytest.mark.parametrize(
    ("failure", "seconds"),
    [
        (Failure.MISREAD, 30.0),
        (Failure.TRANSIENT, 60.0),
        (Failure.MISSING, 60.0),
        (Failure.EMPTY, 60.0),
        (Failure.MALFORMED, 60.0),
        (Failure.UNCONFIGURED, 600.0),
    ],
)
def test_each_failure_has_its_pause(failure: Failure, seconds: float) -> None:
    assert cooldown_after(Declined(failure, "why"), now=100.0) == Cooldown(
        100.0 + seconds, "why", seconds
    )


def test_a_longer_wish_of_the_provider_extends_the_pause() -> None:
    declined = Declined(Failure.TRANSIENT, "why", retry_after=90.0)
    assert cooldown_after(declined, now=0.0) == Cooldown(90.0, "why", 90.0)


def test_a_shorter_wish_of_the_provider_does_not_shorten_the_pause() -> None:
    declined = Declined(Failure.TRANSIENT, "why", retry_after=10.0)
    assert cooldown_after(declined, now=0.0) == Cooldown(60.0, "why", 60.0)


def test_a_refused_credential_has_no_pause() -> None:
    assert cooldown_after(Declined(Failure.AUTH, "why"), now=0.0) == READY


@pytest.mark.parametrize(("now", "left"), [(18.0, 42.0), (50.0, 10.0)])
def test_a_pause_says_what_happened_in_words_that_stay_true(now: float, left: float) -> None:
    assert Cooldown(60.0, "HTTP 502", 60.0).refusal(now) == Declined(
        Failure.COOLDOWN,
        "the summarizer failed recently (HTTP 502); it is asked again 60 s after that, or at once "
        "by a manual compress",
        retry_after=left,
    )


def test_a_pause_ends() -> None:
    pause = Cooldown(60.0, "HTTP 502")
    assert (pause.left(59.0), pause.left(60.0), pause.left(61.0)) == (1.0, 0.0, 0.0)
    assert pause.refusal(60.0) is None
    assert READY.refusal(0.0) is None
