"""Claude Code: reads, checks and writes its session files."""
