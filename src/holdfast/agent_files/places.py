"""Where each agent keeps its session files, unless its user moved them, and looks for one."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LINES = ("*.jsonl",)


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, or a file, in which an agent keeps sessions."""

    agent: str
    """The name of the agent, as people write it."""
    path: Path
    names: tuple[str, ...]
    """Patterns for the names that the agent gives to its sessions."""
    except_names: tuple[str, ...] = ()
    """Patterns for files there that are no sessions, or tell the same again."""
    any_name: bool = True
    """Whether files of other names may be sessions too, if they begin like one."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What the usual places depend on."""

    home: Path
    environ: Mapping[str, str]
    system: str = "linux"
    """As `sys.platform` has it."""


class _Means(Enum):
    """What a variable of the environment stands for."""

    ROOT = auto()
    """The agent's own folder."""
    HOME = auto()
    """What the agent takes for the home directory."""
    ABOVE = auto()
    """The folder that the agent's own folder is in."""
    SESSIONS = auto()
    """The folder of the sessions themselves."""


@dataclass(frozen=True, slots=True)
class _Agent:
    name: str
    roots: tuple[str, ...]
    """Below the home directory; all of them are looked at."""
    folders: tuple[str, ...]
    """Below a root."""
    names: tuple[str, ...] = _LINES
    except_names: tuple[str, ...] = ()
    any_name: bool = True
    variables: tuple[tuple[str, _Means], ...] = ()
    on_windows: str = ""
    """Another root there, below the folder for what programs keep."""


_AGENTS = (
    _Agent(
        "Claude Code",
        (".claude",),
        ("projects",),
        except_names=("sessions-index.json",),
        variables=(("CLAUDE_CONFIG_DIR", _Means.ROOT),),
    ),
    _Agent(
        "Codex",
        (".codex",),
        ("sessions", "archived_sessions"),
        ("rollout-*.json", "rollout-*.jsonl", "rollout-*.jsonl.zst"),
        variables=(("CODEX_HOME", _Means.ROOT),),
    ),
    _Agent(
        "Pi",
        (".pi/agent",),
        ("sessions",),
        variables=(
            ("PI_CODING_AGENT_SESSION_DIR", _Means.SESSIONS),
            ("PI_CODING_AGENT_DIR", _Means.ROOT),
        ),
    ),
    _Agent(
        "OpenClaw",
        (".openclaw", ".clawdbot", ".moldbot", ".moltbot"),
        ("agents",),
        ("*.jsonl", "*.jsonl.reset.*", "*.jsonl.deleted.*", "openclaw-agent.sqlite"),
        ("*.trajectory.jsonl", "sessions.json"),
        variables=(
            ("OPENCLAW_STATE_DIR", _Means.ROOT),
            ("CLAWDBOT_STATE_DIR", _Means.ROOT),
            ("OPENCLAW_HOME", _Means.HOME),
        ),
    ),
    _Agent(
        "Hermes",
        (".hermes",),
        ("state.db", "sessions"),
        ("state.db", "session_*.json", "*.jsonl"),
        ("sessions.json", "request_dump_*"),
        variables=(("HERMES_HOME", _Means.ROOT),),
        on_windows="hermes",
    ),
    _Agent(
        "Hermes",
        (".hermes",),
        ("profiles",),
        ("state.db", "session_*.json", "*.jsonl"),
        any_name=False,
        variables=(("HERMES_HOME", _Means.ROOT),),
        on_windows="hermes",
    ),
    _Agent(
        "Gemini CLI",
        (".gemini",),
        ("tmp",),
        ("session-*.json", "session-*.jsonl"),
        ("logs.json",),
        variables=(("GEMINI_CLI_HOME", _Means.HOME),),
    ),
    _Agent(
        "Copilot CLI",
        (".copilot",),
        ("session-state", "history-session-state"),
        ("*.jsonl", "*.json"),
        variables=(("COPILOT_HOME", _Means.ROOT),),
    ),
    _Agent(
        "opencode",
        (".local/share/opencode",),
        ("opencode.db", "storage"),
        ("opencode.db", "ses_*.json", "msg_*.json", "prt_*.json"),
        variables=(("XDG_DATA_HOME", _Means.ABOVE),),
    ),
    _Agent("Cursor", (".cursor",), ("projects", "chats"), (*_LINES, "store.db")),
    _Agent(
        "Droid",
        (".factory",),
        ("sessions", "projects"),
        variables=(("FACTORY_HOME_OVERRIDE", _Means.HOME),),
    ),
    _Agent(
        "Grok CLI",
        (".grok",),
        ("sessions",),
        ("chat_history.jsonl", "updates.jsonl", "summary.json", "meta.json", "*-*-*-*-*.json"),
        any_name=False,
        variables=(("GROK_HOME", _Means.ROOT),),
    ),
    _Agent(
        "Kimi Code",
        (".kimi-code",),
        ("sessions",),
        ("wire.jsonl", "state.json"),
        any_name=False,
        variables=(("KIMI_CODE_HOME", _Means.ROOT),),
    ),
    _Agent(
        "Kimi CLI",
        (".kimi",),
        ("sessions", "imported_sessions"),
        ("context.jsonl", "context_*.jsonl", "wire.jsonl", "state.json", "metadata.json"),
        any_name=False,
        variables=(("KIMI_SHARE_DIR", _Means.ROOT),),
    ),
    _Agent(
        "Qwen Code",
        (".qwen",),
        ("projects", "tmp"),
        ("*.jsonl", "session-*.json"),
        variables=(("QWEN_RUNTIME_DIR", _Means.ROOT), ("QWEN_HOME", _Means.ROOT)),
    ),
    _Agent(
        "Antigravity",
        (".gemini/antigravity-cli", ".gemini/antigravity", ".gemini/antigravity-ide"),
        ("brain",),
        ("transcript.jsonl", "transcript_full.jsonl"),
        any_name=False,
    ),
    _Agent(
        "OpenHands",
        (".openhands", ".openhands-state"),
        ("conversations", "sessions"),
        ("*.json",),
        variables=(
            ("OPENHANDS_CONVERSATIONS_DIR", _Means.SESSIONS),
            ("OPENHANDS_PERSISTENCE_DIR", _Means.ROOT),
        ),
    ),
    _Agent(
        "SWE-agent", (), (), ("*.traj",), variables=(("SWE_AGENT_TRAJECTORY_DIR", _Means.SESSIONS),)
    ),
)
"""What the programs' own sources and documentation say; docs/import.md has it as a table.

Only the names of an agent count where its other files tell the same again, or where its folder
holds more than sessions.
"""


def usual_places(machine: Machine) -> tuple[Place, ...]:
    """Return every place in which sessions may be, whether it is there or not.

    Where a variable has moved an agent, its usual place is looked at too: what it wrote before
    stayed there.
    """
    found = [
        Place(agent.name, path, agent.names, agent.except_names, agent.any_name)
        for agent in _AGENTS
        for path in _paths(agent, machine)
    ]
    found.append(Place("mini-swe-agent", _mini_folder(machine), ("*.traj.json",), any_name=False))
    return tuple(dict.fromkeys(found))


RESUMING: Final = {"claude-code": "Claude Code", "codex": "Codex", "pi": "Pi"}
"""The agents that go on with a file that is put where they look, by the names of their formats."""


@dataclass(frozen=True, slots=True)
class ResumableFile:
    """Where an agent looks for a session, and how it goes on with it."""

    path: Path
    command: tuple[str, ...]
    """What resumes it, in the working directory of the session."""
    sessions: Path
    """The folder in which the agent has all its sessions."""


def resumable_file(
    agent: str, id_: str, folder: Path, now_ms: int, machine: Machine
) -> ResumableFile:
    """Return where an agent looks for a session of this id and working directory.

    Args:
        agent: One of `RESUMING`.
        id_: The session's id in the file.
        folder: The working directory; agents list the sessions of the one that they are in.
        now_ms: The time, which is in the names of some files.
        machine: What the places depend on; a variable that moves an agent is followed.
    """
    known = next(each for each in _AGENTS if each.name == RESUMING[agent])
    sessions = next(iter(_paths(known, machine)))
    match agent:
        case "claude-code":
            path = sessions / re.sub(r"[^A-Za-z0-9]", "-", str(folder)) / f"{id_}.jsonl"
            return ResumableFile(path, ("claude", "--resume", id_), sessions)
        case "codex":
            now = time.localtime(now_ms / 1000)
            name = time.strftime(f"%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S-{id_}.jsonl", now)
            return ResumableFile(sessions / name, ("codex", "resume", id_), sessions)
        case _:
            is_moved = bool(machine.environ.get("PI_CODING_AGENT_SESSION_DIR"))
            project = re.sub(r"[/\\:]", "-", re.sub(r"^[/\\]", "", str(folder)))
            moment = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime(now_ms / 1000))
            name = f"{moment}-{now_ms % 1000:03}Z_{id_}.jsonl"
            path = sessions / name if is_moved else sessions / f"--{project}--" / name
            return ResumableFile(path, ("pi", "--session", str(path)), sessions)


def _paths(agent: _Agent, machine: Machine) -> Iterator[Path]:
    roots: list[Path] = []
    for variable, means in agent.variables:
        value = machine.environ.get(variable, "")
        if not value:
            continue
        moved = _expanded(value, machine.home)
        match means:
            case _Means.SESSIONS:
                yield moved
            case _Means.ROOT:
                roots.append(moved)
            case _Means.HOME:
                roots += (moved / root for root in agent.roots)
            case _Means.ABOVE:
                roots += (moved / Path(root).name for root in agent.roots)
    roots += (machine.home / root for root in agent.roots)
    if agent.on_windows and machine.system == "win32":
        roots.append(_kept_on_windows(machine) / agent.on_windows)
    for root in dict.fromkeys(roots):
        yield from (root / folder for folder in agent.folders)


def _expanded(value: str, home: Path) -> Path:
    first, *rest = Path(value).parts
    return home.joinpath(*rest) if first == "~" else Path(value)


def _mini_folder(machine: Machine) -> Path:
    """Return where mini-swe-agent keeps its last run: the system's folder for settings."""
    name, environ = "mini-swe-agent", machine.environ
    if moved := environ.get("MSWEA_GLOBAL_CONFIG_DIR"):
        return _expanded(moved, machine.home)
    match machine.system:
        case "darwin":
            return machine.home / "Library" / "Application Support" / name
        case "win32":
            return _kept_on_windows(machine) / name / name
        case _:
            above = environ.get("XDG_CONFIG_HOME")
            return (_expanded(above, machine.home) if above else machine.home / ".config") / name


def _kept_on_windows(machine: Machine) -> Path:
    local = machine.environ.get("LOCALAPPDATA")
    return Path(local) if local else machine.home / "AppData" / "Local"
