"""How each agent is told the address of the gateway: by its environment, by flags or by hand."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PI_PROVIDERS = {"anthropic": "", "openai": "/v1", "google": "/v1beta"}
"""The providers of Pi and of opencode, and what they add to the address."""
_OPENCODE_PROVIDERS = {"anthropic": "/v1", "openai": "/v1", "google": "/v1beta"}


@dataclass(frozen=True, slots=True)
class Pointing:
    """What an agent has to be given so that it finds the gateway."""

    program: str
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    arguments: tuple[str, ...] = ()
    """Stand before those of the user."""
    extension: str = ""
    """A program of Pi's own kind; a file with it is named after `arguments`."""
    file: str = ""
    """The settings file that a person edits, where neither environment nor flags will do."""
    content: str = ""
    """What is written there."""
    dialect: str = ""
    """Whose requests go to the address that the variable has at present, if it has one."""

    @property
    def runs(self) -> bool:
        """Say whether the agent can be pointed at the gateway for one process alone."""
        return bool(self.environ or self.arguments)

    @property
    def by_hand(self) -> str:
        """Return what a person types or writes."""
        lines = [f"export {name}={shlex.quote(value)}" for name, value in self.environ.items()]
        if self.file:
            lines += [f"# in {self.file}:", self.content]
        elif self.arguments:
            lines.append(shlex.join([self.program, *self.arguments]))
        return "\n".join(lines)


def url_of(host: str, port: int) -> str:
    """Return the address of the gateway that listens there."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def pointing(agent: str, url: str) -> Pointing:
    """Return how an agent is pointed at the gateway at an address."""
    return AGENTS[agent](url)


def _codex(url: str) -> Pointing:
    fields = {"name": "holdfast", "base_url": f"{url}/v1", "env_key": "OPENAI_API_KEY"}
    written = ", ".join(
        f"{name} = {json.dumps(value)}"
        for name, value in {**fields, "wire_api": "responses"}.items()
    )
    provider = f"model_providers.holdfast={{ {written} }}"
    return Pointing("codex", arguments=("-c", 'model_provider="holdfast"', "-c", provider))


def _pi(url: str) -> Pointing:
    calls = "\n".join(
        f"  pi.registerProvider({json.dumps(name)}, {{ baseUrl: {json.dumps(url + end)} }});"
        for name, end in _PI_PROVIDERS.items()
    )
    providers = {name: {"baseUrl": url + end} for name, end in _PI_PROVIDERS.items()}
    return Pointing(
        "pi",
        arguments=("--extension",),
        extension=f"export default function (pi) {{\n{calls}\n}}\n",
        file="~/.pi/agent/models.json",
        content=json.dumps({"providers": providers}, indent=2),
    )


def _opencode(url: str) -> Pointing:
    providers = {
        name: {"options": {"baseURL": url + end}} for name, end in _OPENCODE_PROVIDERS.items()
    }
    return Pointing("opencode", {"OPENCODE_CONFIG_CONTENT": json.dumps({"provider": providers})})


def _openclaw(url: str) -> Pointing:
    model = {"id": "MODEL", "name": "MODEL", "contextWindow": 200_000, "maxTokens": 8000}
    provider = {"baseUrl": f"{url}/v1", "apiKey": "KEY", "api": "openai-completions"}
    return Pointing(
        "openclaw",
        file="~/.openclaw/openclaw.json, with holdfast/MODEL as the model of its agents",
        content=json.dumps(
            {"models": {"providers": {"holdfast": {**provider, "models": [model]}}}}, indent=2
        ),
    )


AGENTS: Mapping[str, Callable[[str], Pointing]] = {
    "claude": lambda url: Pointing("claude", {"ANTHROPIC_BASE_URL": url}, dialect="anthropic"),
    "codex": _codex,
    "pi": _pi,
    "hermes": lambda url: Pointing(
        "hermes",
        file="~/.hermes/config.yaml",
        content=(
            f"model:\n  provider: custom\n  base_url: {url}/v1\n  api_key: KEY\n"
            "  default: MODEL\n  context_length: 200000"
        ),
    ),
    "openclaw": _openclaw,
    "opencode": _opencode,
    "gemini": lambda url: Pointing("gemini", {"GOOGLE_GEMINI_BASE_URL": url}, dialect="gemini"),
    "qwen": lambda url: Pointing("qwen", {"OPENAI_BASE_URL": f"{url}/v1"}, dialect="openai"),
    "copilot": lambda url: Pointing(
        "copilot",
        file="your environment, with a key and a model of that provider",
        content=(
            f"export COPILOT_PROVIDER_BASE_URL={url}/v1\n"
            "export COPILOT_PROVIDER_API_KEY=KEY\nexport COPILOT_MODEL=MODEL\n"
            "export COPILOT_PROVIDER_MAX_PROMPT_TOKENS=200000"
        ),
    ),
    "kimi": lambda url: Pointing(
        "kimi",
        file="~/.kimi-code/config.toml",
        content=(
            f'[providers.holdfast]\ntype = "openai"\nbase_url = "{url}/v1"\napi_key = "KEY"\n\n'
            '[models.MODEL]\nprovider = "holdfast"\nmodel = "MODEL"\nmax_context_size = 200000'
        ),
    ),
}
