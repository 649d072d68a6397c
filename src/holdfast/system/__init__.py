"""The machine: its clock, its processes, its files."""
