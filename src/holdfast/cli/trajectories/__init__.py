"""`holdfast trajectories`: training data in bulk, shrunk to a training window."""

from holdfast.cli.trajectories.compress import command

__all__ = ["command"]
