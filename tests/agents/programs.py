"""The agents themselves: how each is set up and asked, and where it keeps its sessions."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.answers import Call

_OPENAI_KEY = "sk-loopback"
_PI_MODELS = """{"providers": {"loop": {"baseUrl": "<url>/v1", "api": "openai-completions",
"apiKey": "k", "models": [{"id": "m1", "name": "m1", "reasoning": false, "input": ["text"],
"contextWindow": <window>, "maxTokens": 8000,
"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}"""
_OPENCODE = """{"provider": {"loop": {"npm": "@ai-sdk/openai-compatible", "name": "loop",
"options": {"baseURL": "<url>/v1", "apiKey": "k"},
"models": {"m1": {"name": "m1", "limit": {"context": <window>, "output": 8000}}}}},
"model": "loop/m1", "permission": "allow"}"""
_CODEX = """model = "m1"
model_provider = "loop"
model_context_window = <window>
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.loop]
name = "loop"
base_url = "<url>/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
_KIMI = """default_model = "m1"
[providers.loop]
type = "openai"
base_url = "<url>/v1"
api_key = "k"
[models.m1]
provider = "loop"
model = "m1"
max_context_size = <window>
"""
_HERMES = """model:
  provider: custom
  base_url: <url>/v1
  api_key: k
  default: m1
  context_length: <window>
"""
_OPENCLAW = """{"models": {"mode": "replace", "providers": {"loop": {"baseUrl": "<url>/v1",
"apiKey": "k", "api": "openai-completions", "models": [{"id": "m1", "name": "m1",
"contextWindow": <window>, "maxTokens": 8000}]}}},
"agents": {"defaults": {"model": "loop/m1", "skipBootstrap": true}},
"session": {"maintenance": {"mode": "warn", "maxDiskBytes": false}},
"plugins": {"enabled": false}}"""
"""Without maintenance and plugins, which take most of the time of a turn."""


@dataclass(frozen=True)
class Program:
    """An agent that runs without a screen.

    In its settings, <url> stands for the provider's, and <window> for what its model takes.
    """

    name: str
    """What holdfast calls its format."""
    command: tuple[str, ...]
    """Asks something in a new session, with the words at the end."""
    goes_on: tuple[str, ...]
    """What is added to go on with the newest session."""
    dialect: str
    """The format in which its requests are written."""
    shell: tuple[str, str]
    """Its tool that runs a command, and what that calls the command."""
    place: str
    """Where it keeps its sessions, below the home directory."""
    flag: tuple[str, ...] = ()
    """What stands before the words."""
    files: dict[str, str] = field(default_factory=dict[str, str])
    environ: dict[str, str] = field(default_factory=dict[str, str])
    lingers: str = ""
    """What ends a command whose last words it would lose otherwise."""
    own_faults: tuple[str, ...] = ()
    """What it sends that a strict provider would refuse, with or without us."""
    compact: str = ""
    """What a user types to have the session compacted, where that works without a screen."""

    def runs(self, command: str) -> Call:
        """Return the call that runs a command."""
        tool, argument = self.shell
        return Call(tool, {argument: command + self.lingers, "description": "look"})


@dataclass(frozen=True)
class Desk:
    """A home and a project of its own, in which a program runs."""

    program: Program
    home: Path
    project: Path
    url: str
    bin: Path
    window: int = 200_000

    def prepare(self) -> None:
        """Write the settings."""
        self.project.mkdir(parents=True)
        self.home.mkdir()
        for name, content in self.program.files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._filled(content))

    def ask(self, words: str) -> None:
        """Begin a session."""
        self.run(*self.program.command, *self.program.flag, words)

    def ask_again(self, words: str) -> None:
        """Go on with the newest session."""
        self.go_on(self.program.goes_on, words)

    def go_on(self, how: Sequence[str], words: str) -> None:
        """Go on with a session.

        Args:
            how: Names the session.
            words: What is said.
        """
        self.run(*self.program.command, *how, *self.program.flag, words)

    def run(self, *command: str) -> None:
        """Run the program to its end."""
        environ = {name: self._filled(value) for name, value in self.environ.items()}
        done = subprocess.run(
            command,
            cwd=self.project,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])

    def _filled(self, text: str) -> str:
        return text.replace("<url>", self.url).replace("<window>", str(self.window))

    @property
    def environ(self) -> dict[str, str]:
        """Return what the program finds in its environment: nothing of the machine's user."""
        path = os.pathsep.join([str(self.bin), os.environ["PATH"]])
        return {"HOME": str(self.home), "PATH": path, "TERM": "dumb", **self.program.environ}


CLAUDE_CODE = Program(
    name="claude-code",
    command=("claude", "-p", "--allowedTools", "Bash", "--output-format", "json"),
    goes_on=("--continue",),
    dialect="anthropic",
    shell=("Bash", "command"),
    place=".claude/projects",
    environ={
        "ANTHROPIC_BASE_URL": "<url>",
        "ANTHROPIC_API_KEY": "sk-ant-loopback",
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "<window>",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    },
    compact="/compact",
)
CODEX = Program(
    name="codex",
    command=("codex", "exec", "--skip-git-repo-check", "--json"),
    goes_on=("resume", "--last"),
    dialect="responses",
    shell=("exec_command", "cmd"),
    place=".codex/sessions",
    files={".codex/config.toml": _CODEX},
    environ={"OPENAI_API_KEY": _OPENAI_KEY},
)
PI = Program(
    name="pi",
    command=("pi", "-p", "--provider", "loop", "--model", "m1"),
    goes_on=("--continue",),
    dialect="openai",
    shell=("bash", "command"),
    place=".pi/agent/sessions",
    files={".pi/agent/models.json": _PI_MODELS},
    environ={"PI_OFFLINE": "1"},
)
PROGRAMS = (
    CLAUDE_CODE,
    CODEX,
    PI,
    Program(
        name="gemini-cli",
        command=("gemini", "-y", "--skip-trust"),
        goes_on=("--resume", "latest"),
        dialect="gemini",
        shell=("run_shell_command", "command"),
        place=".gemini/tmp",
        flag=("-p",),
        files={
            ".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
        },
        environ={"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "<url>"},
    ),
    Program(
        name="qwen",
        command=("qwen", "-y"),
        goes_on=("--continue",),
        dialect="openai",
        shell=("run_shell_command", "command"),
        place=".qwen/projects",
        flag=("-p",),
        lingers="; code=$?; sleep 0.1; exit $code",
        environ={
            "OPENAI_API_KEY": _OPENAI_KEY,
            "OPENAI_BASE_URL": "<url>/v1",
            "OPENAI_MODEL": "m1",
        },
    ),
    Program(
        name="opencode-database",
        command=("opencode", "run", "-m", "loop/m1"),
        goes_on=("--continue",),
        dialect="openai",
        shell=("bash", "command"),
        place=".local/share/opencode",
        files={".config/opencode/opencode.json": _OPENCODE},
    ),
    Program(
        name="kimi",
        command=("kimi",),
        goes_on=("--continue",),
        dialect="openai",
        shell=("Bash", "command"),
        place=".kimi-code/sessions",
        flag=("-p",),
        files={".kimi-code/config.toml": _KIMI},
    ),
    Program(
        name="copilot",
        command=("copilot", "--allow-all"),
        goes_on=("--continue",),
        dialect="openai",
        shell=("bash", "command"),
        place=".copilot/session-state",
        flag=("-p",),
        # Its own note on a message, after a resume.
        own_faults=("__copilotMessageSource",),
        environ={
            "COPILOT_PROVIDER_BASE_URL": "<url>/v1",
            "COPILOT_PROVIDER_API_KEY": "k",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "<window>",
            "COPILOT_MODEL": "m1",
        },
        compact="/compact",
    ),
    Program(
        name="hermes-database",
        command=("hermes", "chat", "--yolo", "-Q"),
        goes_on=("--continue",),
        dialect="openai",
        shell=("terminal", "command"),
        place=".hermes",
        flag=("-q",),
        files={".hermes/config.yaml": _HERMES},
    ),
    Program(
        # Its commands, such as the one that compacts, work through its gateway alone.
        name="openclaw-database",
        command=("openclaw", "agent", "--local", "--agent", "main"),
        goes_on=(),
        dialect="openai",
        shell=("exec", "command"),
        place=".openclaw/agents",
        flag=("--message",),
        files={".openclaw/openclaw.json": _OPENCLAW},
        environ={"OPENCLAW_NO_AUTO_UPDATE": "1"},
    ),
)
