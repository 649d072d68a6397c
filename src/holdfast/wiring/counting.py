"""What counts tokens, by the settings: apart from engines, which an import would load in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.tokens import Estimator, family_of

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.tokens import Counter

__all__ = ["counter_of"]


def counter_of(settings: Settings) -> Counter:
    """Return the estimator for the conversation's model."""
    return Estimator(family_of(settings.model.name or ""))
