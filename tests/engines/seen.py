"""An algorithm that does what the usual one does, and keeps what it was given to work with."""

from holdfast.compaction import Flow, PassContext, Policy, compaction
from holdfast.transcript import Transcript


class SeenContext:
    """Notes the means of every pass."""

    def __init__(self) -> None:
        self.context: list[PassContext] = []

    def __call__(self, transcript: Transcript, policy: Policy, context: PassContext) -> Flow:
        self.context.append(context)
        return compaction(transcript, policy, context)

    @property
    def recall(self) -> list[tuple[str, ...]]:
        """Return which tools each pass may name to the model."""
        return [each.request.recall for each in self.context]
