"""Training data at any size: finished trajectories of agents, shrunk to a training window.

Read in this order: `turns`, `asking` and `compression` (which turns are replaced, and by what),
`metrics`; then what makes it run over files: `items`, `work`, `output`, `running`.
"""

from holdfast.trajectories.compression import CompressedTrajectory, TrajectoryPolicy
from holdfast.trajectories.metrics import TrajectoryMetrics
from holdfast.trajectories.running import acompress, acompress_many, compress

__all__ = [
    "CompressedTrajectory",
    "TrajectoryMetrics",
    "TrajectoryPolicy",
    "acompress",
    "acompress_many",
    "compress",
]
