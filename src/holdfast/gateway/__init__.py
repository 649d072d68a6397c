"""A proxy between agents and providers that keeps every conversation and lets none outgrow a window.

Read in this order: `tree_file`, ...
"""

__all__: list[str] = []
