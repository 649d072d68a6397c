"""The self-written session files of tests/fixtures/sessions, by the format they are in."""

from pathlib import Path

SESSIONS = Path(__file__).resolve().parent.parent / "fixtures" / "sessions"

FORMAT_OF: dict[str, str] = {
    "antigravity.jsonl": "antigravity",
    "claude_code.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "codex_bare.jsonl": "codex",
    "copilot.jsonl": "copilot",
    "cursor.jsonl": "cursor",
    "droid.jsonl": "droid",
    "droid_stream.jsonl": "droid",
    "gemini_cli.json": "gemini-cli",
    "gemini_cli.jsonl": "gemini-cli",
    "grok.jsonl": "grok",
    "hermes.json": "hermes",
    "kimi.jsonl": "kimi",
    "kimi_context.jsonl": "kimi",
    "mini_swe_agent.traj.json": "mini-swe-agent",
    "mini_swe_agent_log.jsonl": "mini-swe-agent-log",
    "openclaw.jsonl": "openclaw",
    "opencode.json": "opencode",
    "openhands.jsonl": "openhands",
    "openhands_events.jsonl": "openhands-events",
    "openhands_flat.jsonl": "openhands",
    "openhands_folder.json": "openhands-folder",
    "pi_v1.jsonl": "pi",
    "pi_v3.jsonl": "pi",
    "qwen.jsonl": "qwen",
    "swe_agent.traj": "swe-agent",
    "trajectories.jsonl": "sharegpt",
}


def sample(name: str) -> str:
    """Return the text of a sample."""
    return (SESSIONS / name).read_text("utf-8")
