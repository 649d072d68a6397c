"""The machine: its clock, its processes, its files."""

__all__: list[str] = []
