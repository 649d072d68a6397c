"""What drives the pure core against the ports: the only place with effects.

Read in this order: `cooldown`, `patience`, `chain`, `result`, `meter`, `state`, `engine`.
"""

from holdfast.engines.chain import Chain
from holdfast.engines.engine import Engine
from holdfast.engines.result import Compaction, CompactionReport
from holdfast.engines.state import Gauges, Request, Setup

__all__ = ["Chain", "Compaction", "CompactionReport", "Engine", "Gauges", "Request", "Setup"]
