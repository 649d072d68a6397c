"""`holdfast serve` and `holdfast run`: the gateway alone, and an agent with the gateway under it.

Each agent is told the address by its environment, by flags or by hand.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from holdfast.cli.flags import json_flag, profile_flag
from holdfast.cli.root import examples
from holdfast.cli.screen import (
    Styled,
    Unusable,
    flush_output,
    show_answer,
    show_json,
    silence_log,
    tell,
)
from holdfast.config import KEYS, Flag, Setting, checked, load
from holdfast.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from holdfast.config import Settings

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


def ask_gateway(host: str, port: int, path: str, timeout: float) -> tuple[int, dict[str, object]]:
    """Return with which status and fields of JSON whatever listens there answers."""
    with closing(HTTPConnection(host, port, timeout=timeout)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        found: object = json.loads(answer.read(10_000))
        return answer.status, cast("dict[str, object]", found) if isinstance(found, dict) else {}


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


_FLAGS = {
    "host": ("--host", "gateway.host"),
    "port": ("--port", "gateway.port"),
    "upstream": ("--upstream", "gateway.upstreams"),
    "context_length": ("--context-length", "gateway.context_length"),
    "strict": ("--strict", "gateway.strict"),
    "verbose": ("--verbose", "gateway.log_requests"),
}


@click.command(
    "serve",
    epilog=examples(
        "holdfast serve",
        "holdfast serve --port 9000 --upstream anthropic=https://api.anthropic.com",
        "holdfast serve --print-env claude",
        "holdfast serve --upstream 'openai/qwen*=http://127.0.0.1:8080/v1' --workers 2",
    ),
)
@click.option("--host", metavar="NAME", help="Where to listen; see the setting gateway.host.")
@click.option("--port", type=int, metavar="N", help="On which port; see gateway.port.")
@click.option(
    "--upstream",
    multiple=True,
    metavar="[DIALECT[/MODEL]=]URL",
    help="Where requests go, the first that fits; see gateway.upstreams. May be repeated.",
)
@click.option(
    "--context-length",
    type=int,
    metavar="N",
    help="What every model takes, in tokens; by default what is known of each.",
)
@click.option("--strict", is_flag=True, default=None, help="Refuse what cannot be recorded.")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="How many processes. Each counts for itself: the limits of tenants, and /metrics.",
)
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    default=None,
    help="Write a JSON line for each request to standard error; see gateway.log_requests.",
)
@click.option(
    "--print-env",
    "agent",
    type=click.Choice([*AGENTS]),
    help="Serve nothing; print what points this agent at the gateway.",
)
@profile_flag
@json_flag
def command(
    *,
    workers: int,
    agent: str | None,
    as_json: bool,
    profile: Setting | None,
    **options: object,
) -> None:
    """Keep every conversation of any agent, and let none outgrow its window.

    An agent is pointed at the gateway by its base URL. Requests go on to the provider unchanged,
    with the agent's own key, until a conversation nears its window; from then on a summary stands
    for its oldest messages. Everything is in the store. Only this machine is served by default.

    An interrupt ends it: answers that are on their way are finished first. SIGHUP replaces several
    workers one by one.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise MissingExtra("the gateway", "gateway")
    flags = [profile] if profile else []
    for name, (flag, path) in _FLAGS.items():
        value = options[name]
        if value not in (None, ()):
            origin = Flag(flag)
            try:
                flags.append(Setting(path, checked(KEYS[path], value, origin), origin))
            except ConfigError as error:
                raise click.UsageError(str(error), click.get_current_context()) from None
    settings = load(os.environ, flags).settings
    if agent is not None:
        way = pointing(agent, url_of(settings.gateway.host, settings.gateway.port))
        fields = {
            "agent": agent,
            "environment": dict(way.environ),
            "arguments": [*way.arguments] if not way.extension else [],
            "file": way.file,
            "content": way.content,
        }
        lines = way.by_hand.splitlines()
        show_answer(fields, lambda _: [(Styled(line),) for line in lines], as_json=as_json)
        return
    _serve(settings, flags, workers, as_json=as_json)


def _serve(settings: Settings, flags: list[Setting], workers: int, *, as_json: bool) -> None:
    from holdfast.gateway.app import check_reach, gateway_app
    from holdfast.gateway.request_log import log_to_stderr
    from holdfast.gateway.server import WORKER, bound, serve
    from holdfast.gateway.tokens import token_file

    log_to_stderr(requests=settings.gateway.log_requests)
    check_reach(settings.gateway, has_tokens=bool(token_file(os.environ).tokens()))
    with bound(settings.gateway) as listening:
        # Workers are processes of their own, which read their settings themselves.
        for flag in flags if workers > 1 else ():
            value = flag.value
            os.environ[KEYS[flag.path].variable] = (
                value if isinstance(value, str) else json.dumps(value)
            )
        app = gateway_app(settings) if workers == 1 else WORKER
        url = url_of(*listening.getsockname()[:2])
        environment = {
            "ANTHROPIC_BASE_URL": url,
            "OPENAI_BASE_URL": f"{url}/v1",
            "GOOGLE_GEMINI_BASE_URL": url,
        }
        if as_json:
            show_json({"url": url, "environment": environment})
            flush_output()
        else:
            ways = ", ".join(f"{name}={value}" for name, value in environment.items())
            tell(f"holdfast listens on {url}; an agent finds it by one of {ways}")
        serve(app, listening, workers)


_NAMES = tuple(name for name in AGENTS if pointing(name, "").runs)
_LOOK_S = 2.0
_START_S = 30.0
_BY_SIGNAL = 128


@click.command(
    "run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=examples(
        "holdfast run claude",
        'holdfast run codex exec "look at the tests"',
        "holdfast run pi --continue",
    ),
)
@click.argument("agent", type=click.Choice(_NAMES))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENTS]...")
def run_command(*, agent: str, arguments: tuple[str, ...]) -> int:
    """Start an agent with the gateway under it.

    The gateway that runs on the configured port is used; where there is none, one is started for
    as long as the agent runs. The agent is told the address by its environment or its flags: none
    of its files are touched. Its exit code is returned. What follows the agent's name is its own.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise MissingExtra("the gateway", "gateway")
    program = shutil.which(pointing(agent, "").program)
    if program is None:
        raise Unusable(f"{agent} is not on the path; install it, or start it yourself and see "
                       f"holdfast serve --print-env {agent}")  # fmt: skip
    # The screen is the agent's.
    silence_log("holdfast")
    settings = load(os.environ).settings
    with ExitStack() as held:
        host, port = settings.gateway.host, settings.gateway.port
        url = url_of(host, port)
        try:
            is_ours = ask_gateway(host, port, "/healthz", _LOOK_S)[1].get("service") == "holdfast"
        except (HTTPException, OSError, ValueError):
            is_ours = False
        if is_ours:
            words = f"uses the gateway on {url}"
        else:
            settings = _with_own_upstream(settings, pointing(agent, ""))
            url = held.enter_context(_gateway(settings))
            words = f"started a gateway on {url}, which ends with {agent}"
        way = pointing(agent, url)
        given = [*way.arguments]
        if way.extension:
            folder = held.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-"))
            place = Path(folder) / "holdfast.js"
            place.write_text(way.extension, "utf-8")
            given.append(str(place))
        by = ", ".join(way.environ) or f"{given[0]} flags"
        tell(f"holdfast {words}; {agent} is told of it by {by}, for this process only")
        return _ended([program, *given, *arguments], {**os.environ, **way.environ})


def _with_own_upstream(settings: Settings, way: Pointing) -> Settings:
    """Let requests go on to the server that the agent's variable names so far."""
    now = next((os.environ[name] for name in way.environ if os.environ.get(name)), "")
    if not (now and way.dialect):
        return settings
    upstreams = (*settings.gateway.upstreams, f"{way.dialect}={now}")
    return replace(settings, gateway=replace(settings.gateway, upstreams=upstreams))


@contextmanager
def _gateway(settings: Settings) -> Generator[str]:
    """Serve in a thread of this process; on any port that is free where the usual one is taken."""
    from uvicorn import Server

    from holdfast.gateway.app import gateway_app
    from holdfast.gateway.server import bound, server_config

    app = gateway_app(settings)
    try:
        listening = bound(settings.gateway)
    except ConfigError:
        listening = bound(replace(settings.gateway, port=0))
    server = Server(server_config(app))
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
    with listening:
        thread.start()
        end = time.monotonic() + _START_S
        while not server.started and thread.is_alive() and time.monotonic() < end:
            time.sleep(0.01)
        try:
            yield url_of(*listening.getsockname()[:2])
        finally:
            server.should_exit = True
            thread.join()


def _ended(words: Sequence[str], environ: dict[str, str]) -> int:
    """Run a program in the foreground, and return its exit code."""
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _: object) -> None:
        # A terminal sends an interrupt to both; it is the agent's to understand.
        if child is not None and number == signal.SIGTERM:
            child.terminate()

    before = {each: signal.signal(each, pass_on) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        child = subprocess.Popen(words, env=environ)
        code = child.wait()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    return code if code >= 0 else _BY_SIGNAL - code
