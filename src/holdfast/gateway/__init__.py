"""A proxy between agents and providers: it keeps what is said and lets no window overflow.

Read in this order: `tree_file`, `turns`, then what serves them.
"""

__all__: list[str] = []
