"""Kimi Code and Kimi CLI: reads the folders of their sessions."""
