"""LangGraph: reads the checkpoints of its SQLite saver."""
