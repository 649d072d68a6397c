"""Layer one: what text costs."""

from holdfast.tokens.scale import (
    BOUNDARY_IMAGE_TOKENS,
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    SUMMARY_TOKENS,
    Budget,
    Calibration,
    Counter,
    Estimator,
    Load,
    Scale,
    family_of,
    load_of,
    weight_of,
    window_from_error,
)

__all__ = [
    "BOUNDARY_IMAGE_TOKENS",
    "IMAGE_TOKENS",
    "MESSAGE_TOKENS",
    "SUMMARY_TOKENS",
    "Budget",
    "Calibration",
    "Counter",
    "Estimator",
    "Load",
    "Scale",
    "family_of",
    "load_of",
    "weight_of",
    "window_from_error",
]
