"""The external memory provider that is configured, and whether it can be used."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.config import Settings

__all__ = ["ProviderState", "provider_state"]


@dataclass(frozen=True, slots=True)
class ProviderState:
    """What is known of a provider without asking it anything."""

    name: str
    """Empty when none is configured."""
    words: str
    is_usable: bool


def provider_state(settings: Settings) -> ProviderState:
    """Return the state of the provider that the settings name; nothing is sent anywhere."""
    name = settings.memory.provider
    if name is None:
        return ProviderState("", "none; the setting memory.provider names one", is_usable=False)
    # Imported only here: without a provider none of it is needed.
    from holdfast.wiring.memories import memory_of

    try:
        memory_of(settings, os.environ)
    except HoldfastError as error:
        return ProviderState(name, str(error), is_usable=False)
    waits = f"a turn waits up to {settings.memory.deadline:g} s for it"
    return ProviderState(name, f"in place; {waits}", is_usable=True)
