"""Every key that can be configured: what it means, what is allowed, and its default.

The file, the environment, the flags, `config init` and `config show` all go by this table.
"""

from __future__ import annotations

import difflib
import json
import os
import textwrap
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from holdfast.config.settings import (
    Settings,
    Test,
    are_upstreams,
    converted,
    flatten,
    is_profile,
    is_url,
    parsed,
    shown,
    within,
)
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from holdfast.config.settings import Origin

PROVIDERS = ("auto", "openai", "anthropic")
WRITERS = (*PROVIDERS, "main", "none")
STRATEGIES = ("in_place", "rotation")
LIFETIMES = ("5m", "1h", "off")


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that can be set."""

    path: str
    about: str
    """A sentence for the commented file."""
    allowed: str
    holds: Test
    """Says whether a value of the right kind is allowed."""
    kind: type = str
    optional: bool = False
    """Whether null is allowed."""

    @property
    def default(self) -> object:
        """Return the value when nobody sets one."""
        return _DEFAULTS[self.path]

    @property
    def variable(self) -> str:
        """Return the environment variable that sets it."""
        return "HOLDFAST_" + self.path.upper().replace(".", "_")


def _table(keys: Iterable[Key]) -> Mapping[str, Key]:
    return MappingProxyType({key.path: key for key in keys})


_MANY = 1_000_000_000
_COUNT = f"a whole number from {{}} to {_MANY}"
_SHARE = "a number over 0 and up to 1"
_SECONDS = ("a number over 0 and up to 86400", within(0, 86_400, open_below=True), float)
_SWITCH: tuple[str, Test, type] = ("true or false", lambda _: True, bool)
_PROVIDER = f"one of {', '.join(PROVIDERS)}"
_URL = "an address that begins with http:// or https://, or null"
_DEFAULTS = flatten(Settings())

KEYS: Mapping[str, Key] = _table(
    [
        Key(
            "model.name",
            "The model of the conversation: its name sets the window and the tokenizer family, "
            "and it writes the summary when there is no summary model or that one fails; see "
            "auxiliary.compression.provider.",
            "a model's name, or null",
            bool,
            optional=True,
        ),
        Key(
            "model.provider",
            "Who serves it; auto goes by its name.",
            _PROVIDER,
            PROVIDERS.__contains__,
        ),
        Key(
            "model.base_url",
            "Where a compatible server listens, if it is not the provider's own.",
            _URL,
            is_url,
            optional=True,
        ),
        Key(
            "model.context_length",
            "What the model accepts, in tokens; null goes by its name, and means 200000 where "
            "that is not known.",
            f"{_COUNT.format(1000)}, or null",
            within(1_000, _MANY),
            int,
            optional=True,
        ),
        Key(
            "model.cache_ttl",
            "How long a provider that is told what to cache keeps it; off marks nothing.",
            f"one of {', '.join(LIFETIMES)}",
            LIFETIMES.__contains__,
        ),
        Key(
            "model.merge_roles",
            "Whether messages of one role that follow each other are sent as one, as some "
            "OpenAI-compatible servers demand.",
            *_SWITCH,
        ),
        Key(
            "compression.enabled",
            "Whether conversations are compacted when it is due, and not only when asked.",
            *_SWITCH,
        ),
        Key(
            "compression.threshold",
            "The share of the window at which compaction is due.",
            _SHARE,
            within(0, 1, open_below=True),
            float,
        ),
        Key(
            "compression.target_ratio",
            "The share of the threshold that stays as the verbatim tail.",
            "a number from 0.10 to 0.80",
            within(0.10, 0.80),
            float,
        ),
        Key(
            "compression.protect_first_n",
            "Messages kept after the system prompt, until the first summary exists.",
            _COUNT.format(0),
            within(0, _MANY),
            int,
        ),
        Key(
            "compression.protect_last_n",
            "Messages at the end that stay word for word, where half as much again as the tail's "
            "budget holds them; pruning never touches them.",
            _COUNT.format(1),
            within(1, _MANY),
            int,
        ),
        Key(
            "compression.strategy",
            "Whether a compaction keeps the session, or ends it and goes on in a child.",
            f"one of {', '.join(STRATEGIES)}",
            STRATEGIES.__contains__,
        ),
        Key(
            "compression.ahead_of_time",
            "Whether conversations are compacted in the background between turns.",
            *_SWITCH,
        ),
        Key(
            "compression.abort_on_summary_failure",
            "Change nothing when the summary model fails, rather than write the record "
            "that needs no model.",
            *_SWITCH,
        ),
        Key(
            "compression.hygiene_threshold",
            "The share of the window at which a session that grew between turns is compacted "
            "before an agent sees it.",
            _SHARE,
            within(0, 1, open_below=True),
            float,
        ),
        Key(
            "auxiliary.compression.model",
            "A separate model that writes summaries; null leaves them to the conversation's own.",
            "a model's name, or null",
            bool,
            optional=True,
        ),
        Key(
            "auxiliary.compression.provider",
            "Who writes summaries: auto is the separate model, served by whom its name says, then "
            "the conversation's own where it can be asked (the chat's, one with a client, or one "
            "with model.base_url), then no model; openai and anthropic name who serves the "
            "separate one; main is the conversation's own alone, by its name if need be; none "
            "asks no model.",
            f"one of {', '.join(WRITERS)}",
            WRITERS.__contains__,
        ),
        Key(
            "auxiliary.compression.base_url",
            "Where a compatible server listens, if it is not the provider's own.",
            _URL,
            is_url,
            optional=True,
        ),
        Key(
            "auxiliary.compression.context_length",
            "What it accepts, in tokens; null sizes its requests for the conversation's window "
            "until it states its own.",
            f"{_COUNT.format(1000)}, or null",
            within(1_000, _MANY),
            int,
            optional=True,
        ),
        Key("auxiliary.compression.timeout", "Seconds to wait for a summary.", *_SECONDS),
        Key(
            "context.engine",
            "Who compacts: compressor, truncate, or the name of a plug-in.",
            "an engine's name",
            bool,
        ),
        Key(
            "context.tool_limits",
            "Tokens that a tool's output may take in the window, by the tool's name, and under "
            '"*" (in quotes) for all others, which is 10000 if nobody says so. The store keeps '
            "the whole output.",
            f"tools' names, each with {_COUNT.format(100)}",
            lambda limits: all(map(within(100, _MANY), cast("dict[str, int]", limits).values())),
            dict,
        ),
        Key(
            "memory.provider",
            "The external memory: mem0, hindsight, vector, the name of a plug-in, or null.",
            "a provider's name, or null",
            bool,
            optional=True,
        ),
        Key(
            "memory.base_url",
            "Where the external memory is served, if it is not the service's own address.",
            _URL,
            is_url,
            optional=True,
        ),
        Key(
            "memory.user",
            "For whom the external memory remembers; null goes by the profile.",
            "a name, or null",
            bool,
            optional=True,
        ),
        Key(
            "memory.deadline",
            "Seconds that a turn waits for the external memory.",
            "a number over 0 and up to 60",
            within(0, 60, open_below=True),
            float,
        ),
        Key(
            "store.url",
            "Where sessions are kept: sqlite for a file in the profile's folder, or a path.",
            "sqlite, sqlite:///PATH, a path, memory: or an installed store's address",
            bool,
        ),
        Key(
            "store.profile",
            "Whose sessions: each profile has a folder and a file of its own.",
            "letters, digits, dots, dashes and underscores, beginning with a letter or digit",
            is_profile,
        ),
        Key(
            "redaction.extra_patterns",
            "Regular expressions of secrets that only you know.",
            "a list of regular expressions",
            lambda _: True,
            tuple,
        ),
        Key(
            "gateway.host",
            "The address on which `holdfast serve` listens; one that other machines reach needs "
            "tokens.",
            "a name or an address of this machine",
            bool,
        ),
        Key(
            "gateway.port",
            "The port on which it listens; 0 for any that is free.",
            "a whole number from 0 to 65535",
            within(0, 65_535),
            int,
        ),
        Key(
            "gateway.upstreams",
            "Where requests go, the first that fits: DIALECT=URL, DIALECT/MODEL-PATTERN=URL, or "
            "URL for all. Several for the same requests stand in for each other. What fits none "
            "goes to the provider of its dialect.",
            "a list of http or https URLs, each with DIALECT= before it or not; the dialects are "
            "openai, responses, anthropic and gemini",
            are_upstreams,
            tuple,
        ),
        Key(
            "gateway.allowed_hosts",
            "Names under which clients may reach the gateway beside those of the loopback.",
            "a list of names",
            lambda _: True,
            tuple,
        ),
        Key(
            "gateway.context_length",
            "What every model behind the gateway takes, in tokens; null goes by each model's name.",
            f"{_COUNT.format(1000)}, or null",
            within(1_000, _MANY),
            int,
            optional=True,
        ),
        Key(
            "gateway.max_body_bytes",
            "What a request may weigh in bytes, unpacked.",
            _COUNT.format(1000),
            within(1_000, _MANY),
            int,
        ),
        Key(
            "gateway.requests_per_minute",
            "How many requests a tenant may send in a minute, at each worker; 0 for any number.",
            _COUNT.format(0),
            within(0, _MANY),
            int,
        ),
        Key(
            "gateway.concurrent_requests",
            "How many requests of a tenant may be under way at once, streams among them, at each "
            "worker; 0 for any number.",
            _COUNT.format(0),
            within(0, _MANY),
            int,
        ),
        Key(
            "gateway.first_byte_seconds",
            "Seconds of waiting after which a stream is begun with a sign of life.",
            *_SECONDS,
        ),
        Key(
            "gateway.silence_seconds",
            "Seconds of silence after which an upstream is given up.",
            *_SECONDS,
        ),
        Key(
            "gateway.strict",
            "Whether what cannot be recorded is refused, rather than forwarded unchanged.",
            *_SWITCH,
        ),
        Key(
            "gateway.log_requests",
            "Whether a JSON line is written to standard error for each request, without contents.",
            *_SWITCH,
        ),
    ]
)

FORMER: Mapping[str, str] = MappingProxyType(
    {
        f"compression.summary_{name}": f"auxiliary.compression.{name}"
        for name in ("model", "provider", "base_url", "context_length", "timeout")
    }
)
"""Keys as the first design had them, with their names of today."""


def checked(key: Key, value: object, origin: Origin) -> object:
    """Return the value in the key's own type.

    Raises:
        ConfigError: when the value is not allowed; the message says where it stands.
    """
    if value is None and key.optional:
        return None
    found = converted(key.kind, value)
    if found is None or not key.holds(found):
        raise ConfigError(f"{key.path} is {shown(value)} ({origin}); allowed: {key.allowed}")
    return found


def read_text(key: Key, text: str, origin: Origin) -> object:
    """Return the value that a flag or an environment variable spells out."""
    return checked(key, parsed(key.kind, text), origin)


def unknown(path: str, origin: Origin) -> ConfigError:
    """Return the error for a key that this version does not have."""
    if path in FORMER:
        return ConfigError(f"{path} ({origin}) is now called {FORMER[path]}; rename it")
    # A key in the wrong section shares its last name with the right one.
    leaves = {known.rpartition(".")[2]: known for known in KEYS}
    leaf = path.rpartition(".")[2]
    close = (
        *difflib.get_close_matches(path, KEYS, 1, 0.85),
        *(leaves[each] for each in difflib.get_close_matches(leaf, leaves, 1, 0.75)),
        *difflib.get_close_matches(path, KEYS, 1, 0.6),
    )
    hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(KEYS)}"
    return ConfigError(f"there is no setting {path} ({origin}); {hint}")


_OPENING = """\
# The configuration of holdfast.
# Each value below is the default: remove the "# " before a key to change it.
# An environment variable wins over this file, and a flag over both; the variable of
# compression.threshold is HOLDFAST_COMPRESSION_THRESHOLD, and so on.
"""
_WIDTH = 92
_OWNER_ONLY = 0o600


def template() -> str:
    """Return the commented file."""
    lines = [_OPENING.rstrip()]
    section: tuple[str, ...] = ()
    for path, key in KEYS.items():
        *names, leaf = path.split(".")
        for depth, name in enumerate(names, 1):
            if section[:depth] != tuple(names[:depth]):
                if depth == 1:
                    lines.append("")
                lines.append(f"{'  ' * (depth - 1)}{name}:")
        section = tuple(names)
        indent = "  " * len(names)
        about = textwrap.wrap(
            f"{key.about} Allowed: {key.allowed}.",
            _WIDTH - len(indent) - 2,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += (f"{indent}# {line}" for line in about)
        lines.append(f"{indent}# {leaf}: {json.dumps(key.default)}")
    return "\n".join(lines) + "\n"


def write_template(path: Path, *, force: bool = False) -> None:
    """Write the commented file, readable by its owner only: addresses may hold credentials.

    Raises:
        ConfigError: when the file exists and `force` is not set, or its folder is a file.
        OSError: when it cannot be written; an existing file is then as it was.
    """
    if path.exists() and not force:
        raise ConfigError(f"{path} exists; --force replaces it")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ConfigError(f"the home directory {path.parent} is not a folder") from None
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "w"
        ) as file:
            file.write(template())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
