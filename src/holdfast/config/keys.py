"""Every key that can be configured: what it means, what is allowed, and how text becomes a value.

The file, the environment, the flags, `config init` and `config show` all go by this table.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.config.settings import Settings, flatten
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.config.origin import Origin

__all__ = ["KEYS", "LATER", "Key", "checked", "read_text", "unknown"]

_LONGEST_SHOWN = 80
PROVIDERS = ("auto", "openai", "anthropic")

Test: TypeAlias = Callable[[object], bool]


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


def checked(key: Key, value: object, origin: Origin) -> object:
    """Return the value in the key's own type.

    Raises:
        ConfigError: when the value is not allowed; the message says where it stands.
    """
    if value is None and key.optional:
        return None
    converted = _converted(key.kind, value)
    if converted is None or not key.holds(converted):
        raise ConfigError(f"{key.path} is {_shown(value)} ({origin}); allowed: {key.allowed}")
    return converted


def read_text(key: Key, text: str, origin: Origin) -> object:
    """Return the value that a flag or an environment variable spells out."""
    return checked(key, _parsed(key.kind, text), origin)


def unknown(path: str, origin: Origin, *, spelled: str = "") -> ConfigError:
    """Return the error for a key that this version does not have.

    Args:
        path: The key with its sections.
        origin: Where it stands.
        spelled: How the origin spells it, when that is not the path.
    """
    named = spelled or path
    for later, part in LATER.items():
        if path == later or path.startswith(f"{later}."):
            return ConfigError(
                f"{named} ({origin}) belongs to {part}, which this version does not have; remove it"
            )
    nearest = _nearest(path)
    hint = f"did you mean {nearest}?" if nearest else f"known keys: {', '.join(KEYS)}"
    return ConfigError(f"there is no setting {named} ({origin}); {hint}")


def _nearest(path: str) -> str:
    # A key in the wrong section shares its last name with the right one.
    leaves = {known.rpartition(".")[2]: known for known in KEYS}
    leaf = path.rpartition(".")[2]
    close = (
        *difflib.get_close_matches(path, KEYS, 1, 0.85),
        *(leaves[each] for each in difflib.get_close_matches(leaf, leaves, 1, 0.75)),
        *difflib.get_close_matches(path, KEYS, 1, 0.6),
    )
    return close[0] if close else ""


def _converted(kind: type, value: object) -> object | None:
    """Return the value as the kind, or None when it is of another kind."""
    if kind is tuple:
        items = cast("list[object]", value) if isinstance(value, list | tuple) else None
        texts = items is not None and all(isinstance(item, str) for item in items)
        return tuple(items or ()) if texts else None
    if isinstance(value, bool):
        return value if kind is bool else None
    if kind is float and isinstance(value, int | float):
        return float(value)
    return value if isinstance(value, kind) else None


def _parsed(kind: type, text: str) -> object:
    """Return what a text spells; a text that spells nothing of the kind stays a text."""
    stripped = text.strip()
    try:
        if kind is tuple:
            return cast("object", json.loads(stripped))
        if kind is int:
            return int(stripped)
        if kind is float:
            return float(stripped)
    except ValueError:
        return text
    if kind is bool:
        return {"true": True, "false": False}.get(stripped.lower(), text)
    return text


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:
        return "a number with too many digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def _within(least: float, most: float, *, open_below: bool = False) -> Test:
    def holds(value: object) -> bool:
        number = cast("float", value)
        return (least < number if open_below else least <= number) and number <= most

    return holds


def _is_url(value: object) -> bool:
    return str(value).startswith(("http://", "https://"))


def _table(keys: Iterable[Key]) -> Mapping[str, Key]:
    return MappingProxyType({key.path: key for key in keys})


_MANY = 1_000_000_000
_COUNT = f"a whole number from {{}} to {_MANY}"
_SHARE = "a number over 0 and up to 1"
_PROVIDER = f"one of {', '.join(PROVIDERS)}"
_URL = "an address that begins with http:// or https://, or null"
_DEFAULTS = flatten(Settings())

KEYS: Mapping[str, Key] = _table(
    [
        Key(
            "model.name",
            "The model of the conversation: its tokenizer family sizes the estimate, and it "
            "writes the summary when the summary model fails.",
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
            _is_url,
            optional=True,
        ),
        Key(
            "model.context_length",
            "What the model accepts, in tokens; null means 200000.",
            f"{_COUNT.format(1000)}, or null",
            _within(1_000, _MANY),
            int,
            optional=True,
        ),
        Key(
            "compression.threshold",
            "The share of the window at which compaction is due.",
            _SHARE,
            _within(0, 1, open_below=True),
            float,
        ),
        Key(
            "compression.target_ratio",
            "The share of the threshold that stays as the verbatim tail.",
            "a number from 0.10 to 0.80",
            _within(0.10, 0.80),
            float,
        ),
        Key(
            "compression.protect_first_n",
            "Messages kept after the system prompt, until the first summary exists.",
            _COUNT.format(0),
            _within(0, _MANY),
            int,
        ),
        Key(
            "compression.protect_last_n",
            "Messages at the end that pruning never touches.",
            _COUNT.format(1),
            _within(1, _MANY),
            int,
        ),
        Key(
            "compression.abort_on_summary_failure",
            "Change nothing when the summary model fails, rather than write the record "
            "that needs no model.",
            "true or false",
            lambda _: True,
            bool,
        ),
        Key(
            "compression.hygiene_threshold",
            "The share of the window at which a session that grew between turns is compacted "
            "before an agent sees it.",
            _SHARE,
            _within(0, 1, open_below=True),
            float,
        ),
        Key(
            "auxiliary.compression.model",
            "The model that writes summaries; null for the record that needs no model.",
            "a model's name, or null",
            bool,
            optional=True,
        ),
        Key(
            "auxiliary.compression.provider",
            "Who serves it; auto goes by its name.",
            _PROVIDER,
            PROVIDERS.__contains__,
        ),
        Key(
            "auxiliary.compression.base_url",
            "Where a compatible server listens, if it is not the provider's own.",
            _URL,
            _is_url,
            optional=True,
        ),
        Key(
            "auxiliary.compression.context_length",
            "What it accepts, in tokens; null sizes its requests for the conversation's window "
            "until it states its own.",
            f"{_COUNT.format(1000)}, or null",
            _within(1_000, _MANY),
            int,
            optional=True,
        ),
        Key(
            "auxiliary.compression.timeout",
            "Seconds to wait for a summary.",
            "a number over 0 and up to 86400",
            _within(0, 86_400, open_below=True),
            float,
        ),
        Key(
            "redaction.extra_patterns",
            "Regular expressions of secrets that only you know.",
            "a list of regular expressions",
            lambda _: True,
            tuple,
        ),
    ]
)

LATER: Mapping[str, str] = MappingProxyType(
    {
        "model.cache_ttl": "prompt caching",
        "compression.enabled": "the automatic compaction of live sessions",
        "compression.strategy": "stored sessions",
        "compression.ahead_of_time": "the automatic compaction of live sessions",
        "context": "the choice of engines",
        "memory": "memory",
        "store": "stored sessions",
        "gateway": "the gateway",
    }
)
"""Keys of parts that are not there yet, so that a message can say so."""
