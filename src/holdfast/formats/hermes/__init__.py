"""Hermes: reads its database and what it exports."""
