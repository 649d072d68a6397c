"""Copilot CLI: reads its event logs."""
