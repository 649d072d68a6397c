"""The self-written session files of tests/fixtures/sessions, by the format they are in."""

from pathlib import Path

SESSIONS = Path(__file__).resolve().parent.parent / "fixtures" / "sessions"

FORMAT_OF: dict[str, str] = {
    "claude_code.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "codex_bare.jsonl": "codex",
    "copilot.jsonl": "copilot",
    "gemini_cli.json": "gemini-cli",
    "gemini_cli.jsonl": "gemini-cli",
    "hermes.json": "hermes",
    "mini_swe_agent.traj.json": "mini-swe-agent",
    "openclaw.jsonl": "openclaw",
    "openhands.jsonl": "openhands",
    "openhands_events.jsonl": "openhands-events",
    "openhands_flat.jsonl": "openhands",
    "pi_v1.jsonl": "pi",
    "pi_v3.jsonl": "pi",
    "swe_agent.traj": "swe-agent",
    "trajectories.jsonl": "sharegpt",
}


def sample(name: str) -> str:
    """Return the text of a sample."""
    return (SESSIONS / name).read_text("utf-8")
