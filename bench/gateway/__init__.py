"""What the gateway costs: beside the same upstream direct and beside a bare pass-through.

Every server is a process of its own: a scripted upstream, the pass-through, `holdfast serve` as it
is installed, and the clients. Read in this order: `conversations`, `upstream`, `passthrough`,
`clients`, `processes`, `cells`, `measure`, `tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.report import Result

__all__ = ["run"]


def run() -> Result:
    """Measure everything and return the tables."""
    # The servers are modules of this package, and load none of the others.
    from bench.gateway.measure import measured

    return measured()
