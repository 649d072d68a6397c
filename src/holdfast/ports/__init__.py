"""What the engines need from the world, as protocols small enough to implement in a minute.

The counter is a port too; it lives with the arithmetic that uses it, in `holdfast.tokens`.
"""

from holdfast.ports.clock import Clock
from holdfast.ports.summarizer import Summarizer

__all__ = ["Clock", "Summarizer"]
