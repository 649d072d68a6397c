"""An algorithm that does what the usual one does, and keeps what it was given to work with."""

from holdfast.compaction import Flow, PassContext, Policy, compaction
from holdfast.transcript import Transcript


class SeenMeans:
    """Notes the means of every pass."""

    def __init__(self) -> None:
        self.means: list[PassContext] = []

    def __call__(
        self, transcript: Transcript, policy: Policy, means: PassContext, *, force: bool = False
    ) -> Flow:
        self.means.append(means)
        return compaction(transcript, policy, means, force=force)

    @property
    def recall(self) -> list[tuple[str, ...]]:
        """Return which tools each pass may name to the model."""
        return [each.recall for each in self.means]
