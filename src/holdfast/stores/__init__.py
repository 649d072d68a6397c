"""Stores: where sessions are kept."""

__all__: list[str] = []
