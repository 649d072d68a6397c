"""What drives the pure core against the ports: the only place with effects.

Read in this order: `summarizer_fallback`, `engine`, `chat`. Then what plug-ins implement,
and our engines behind it (`contract`), where they are found (`registry`), and how one is hosted:
 `plugin_thread`, `plugin_messages`, `plugin_engine`.
"""

import warnings

from holdfast.engines.chat import ChatEngine, Compaction
from holdfast.engines.engine import Engine, EngineDeps, EngineState
from holdfast.engines.summarizer_fallback import SummarizerFallback

__all__ = ["ChatEngine", "Compaction", "Engine", "EngineDeps", "EngineState", "SummarizerFallback"]

_RENAMED = {"Chain": SummarizerFallback, "Gauges": EngineState, "Setup": EngineDeps}


def __getattr__(name: str) -> object:
    """Return a class by the name that the documentation used before, with a warning."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    renamed = _RENAMED[name]
    warnings.warn(
        f"holdfast.engines.{name} is now {renamed.__name__}", DeprecationWarning, stacklevel=2
    )
    return renamed
