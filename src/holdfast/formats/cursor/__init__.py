"""Cursor: reads its transcripts, its printed streams and the database of a chat."""
