"""Limits, calibration and what errors teach."""

import pytest

from holdfast.tokens import Budget, Calibration, Load, window_from_error


def test_each_limit_is_named_when_it_is_passed() -> None:
    budget = Budget(tokens=100, bytes=1_000, images=2)
    assert budget.exceeded(Load(100, 1_000, 2)) == ()
    assert budget.exceeded(Load(101, 1_001, 3)) == (
        "101 of 100 tokens",
        "1,001 of 1,000 bytes",
        "3 of 2 images",
    )


def test_the_first_report_sets_the_ratio_and_later_ones_move_it() -> None:
    once = Calibration().observe(real=150, rough=100)
    assert once == Calibration(1.5, 1)
    assert once.observe(real=100, rough=100) == Calibration(1.25, 2)


def test_a_server_that_reports_zero_teaches_nothing() -> None:
    assert Calibration().observe(real=0, rough=100) == Calibration()


def test_a_wild_report_is_bounded() -> None:
    assert Calibration().observe(real=1_000_000, rough=1).ratio == 4.0


@pytest.mark.parametrize(
    ("error", "window"),
    [
        ('{"type":"exceed_context_size_error","n_prompt_tokens":15306,"n_ctx":8192}', 8192),
        ("This model's maximum context length is 128,000 tokens. However, ...", 128_000),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("input exceeds the context window of 32768 tokens", 32_768),
        ("max_model_len=4096", 4096),
        ("maximum context length of 32,768 tokens", 32_768),
        ("the context window of this model is 4096", 4_096),
        ("context length exceeded", None),
        ("n_ctx: 12", None),
        ("n_ctx: 100", None),
        ("overloaded", None),
    ],
)
def test_an_error_that_states_the_window_teaches_it(error: str, window: int | None) -> None:
    assert window_from_error(error) == window
