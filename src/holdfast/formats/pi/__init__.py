"""Pi: reads, checks and writes its session files, whose format OpenClaw shares."""
