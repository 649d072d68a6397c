"""What drives the pure core against the ports: the only place with effects.

Read in this order: `cooldown`, `patience`, `chain`, `result`, `meter`, `engine`.
"""

from holdfast.engines.chain import Chain
from holdfast.engines.engine import Engine, Gauges, Request, Setup
from holdfast.engines.result import Compaction, CompactionReport

__all__ = ["Chain", "Compaction", "CompactionReport", "Engine", "Gauges", "Request", "Setup"]
