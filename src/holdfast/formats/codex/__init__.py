"""Codex: reads and writes its rollouts, and reads what `codex exec --json` prints."""
