"""Small session files of agents, written the way they write them."""

import json
from collections.abc import Iterable
from pathlib import Path

from holdfast.agent_files.finding import File, find_files

STARTED = "2026-11-16T09:30:00.000Z"


def pi_lines(id_: str, texts: Iterable[str], parent: str = "") -> list[str]:
    """Return the lines of a Pi session in which a user says these things."""
    header = {"type": "session", "version": 3, "id": id_, "timestamp": STARTED, "cwd": "/srv"}
    entries: list[object] = [header | ({"parentSession": f"/x/1_{parent}.jsonl"} if parent else {})]
    above: str | None = None
    for number, text in enumerate(texts, 1):
        name = f"{id_}{number}"
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        fields = {"id": name, "parentId": above, "timestamp": STARTED, "message": message}
        entries.append({"type": "message", **fields})
        above = name
    return [json.dumps(entry) for entry in entries]


def write_pi(path: Path, id_: str, *texts: str, parent: str = "") -> Path:
    """Write a Pi session."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in pi_lines(id_, texts, parent)), "utf-8")
    return path


def write_opencode(storage: Path, session: str, *texts: str) -> None:
    """Write an opencode session: a file for the session, for each message, for each part."""
    entries: dict[str, object] = {
        f"session/project/{session}.json": {
            "id": session,
            "projectID": "project",
            "directory": "/srv",
            "title": session,
            "version": "1.0.0",
            "time": {"created": 1_790_000_000_000, "updated": 1_790_000_000_000},
        }
    }
    for number, text in enumerate(texts, 1):
        message, part = f"msg_{session}_{number}", f"prt_{session}_{number}"
        at = 1_790_000_000_000 + number
        entries[f"message/{session}/{message}.json"] = {
            "id": message,
            "sessionID": session,
            "role": "user",
            "time": {"created": at},
        }
        entries[f"part/{message}/{part}.json"] = {
            "id": part,
            "messageID": message,
            "sessionID": session,
            "type": "text",
            "text": text,
        }
    for name, entry in entries.items():
        path = storage / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(entry), "utf-8")


def file_at(path: Path) -> File:
    """Return a file as it is found when it is named."""
    (file,) = find_files([str(path)]).files
    return file


def write_droid(folder: Path, name: str, *texts: str) -> Path:
    """Write a session of Droid's that says these texts."""
    lines: list[object] = [{"type": "session_start", "id": name, "title": name, "cwd": "/srv"}]
    for place, text in enumerate(texts):
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        lines.append({"type": "message", "id": f"{name}{place}", "message": message})
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def write_droid_settings(folder: Path, name: str) -> Path:
    """Write what Droid knows of a session beside it."""
    tokens = {"inputTokens": 5, "outputTokens": 2, "cacheReadTokens": 0, "cacheCreationTokens": 0}
    path = folder / f"{name}.settings.json"
    path.write_text(json.dumps({"model": "m", "autonomyMode": "normal", "tokenUsage": tokens}))
    return path
