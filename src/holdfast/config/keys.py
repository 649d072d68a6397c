"""Every key that can be configured: what it means, what is allowed, and how text becomes a value.

The file, the environment, the flags, `config init` and `config show` all go by this table.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.config.kinds import Test, converted, is_profile, is_url, parsed, shown, within
from holdfast.config.settings import Settings, flatten
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.config.origin import Origin

__all__ = ["KEYS", "LATER", "Key", "checked", "read_text", "unknown"]

PROVIDERS = ("auto", "openai", "anthropic")
STRATEGIES = ("in_place", "rotation")


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
    found = converted(key.kind, value)
    if found is None or not key.holds(found):
        raise ConfigError(f"{key.path} is {shown(value)} ({origin}); allowed: {key.allowed}")
    return found


def read_text(key: Key, text: str, origin: Origin) -> object:
    """Return the value that a flag or an environment variable spells out."""
    return checked(key, parsed(key.kind, text), origin)


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


def _table(keys: Iterable[Key]) -> Mapping[str, Key]:
    return MappingProxyType({key.path: key for key in keys})


_MANY = 1_000_000_000
_COUNT = f"a whole number from {{}} to {_MANY}"
_SHARE = "a number over 0 and up to 1"
_SWITCH = "true or false"
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
            is_url,
            optional=True,
        ),
        Key(
            "model.context_length",
            "What the model accepts, in tokens; null means 200000.",
            f"{_COUNT.format(1000)}, or null",
            within(1_000, _MANY),
            int,
            optional=True,
        ),
        Key(
            "compression.enabled",
            "Whether conversations are compacted when it is due, and not only when asked.",
            _SWITCH,
            lambda _: True,
            bool,
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
            "Messages at the end that pruning never touches.",
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
            _SWITCH,
            lambda _: True,
            bool,
        ),
        Key(
            "compression.abort_on_summary_failure",
            "Change nothing when the summary model fails, rather than write the record "
            "that needs no model.",
            _SWITCH,
            lambda _: True,
            bool,
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
        Key(
            "auxiliary.compression.timeout",
            "Seconds to wait for a summary.",
            "a number over 0 and up to 86400",
            within(0, 86_400, open_below=True),
            float,
        ),
        Key(
            "store.url",
            "Where sessions are kept: sqlite for a file in the profile's folder, or a path.",
            "sqlite, sqlite:///PATH or a path",
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
    ]
)

LATER: Mapping[str, str] = MappingProxyType(
    {
        "model.cache_ttl": "prompt caching",
        "context": "the choice of engines",
        "memory": "memory",
        "gateway": "the gateway",
    }
)
"""Keys of parts that are not there yet, so that a message can say so."""
