"""Training data at any size: finished trajectories of agents, shrunk to a training window.

Read in this order: `turns`, `summaries` and `compression` (which turns are replaced, and by what),
`metrics`; then what makes it run over files: `items`, `work`, `asking`, `output`, `running`.
"""

from holdfast.trajectories.api import acompress, acompress_many, compress
from holdfast.trajectories.compression import CompressedTrajectory, TrajectoryPolicy
from holdfast.trajectories.metrics import TrajectoryMetrics

__all__ = [
    "CompressedTrajectory",
    "TrajectoryMetrics",
    "TrajectoryPolicy",
    "acompress",
    "acompress_many",
    "compress",
]
