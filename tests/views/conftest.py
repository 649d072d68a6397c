"""Keeps the settings of whoever runs the tests out of them."""

from tests.cli.conftest import home

__all__ = ["home"]
