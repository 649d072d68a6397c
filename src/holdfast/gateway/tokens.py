"""Tokens that say who may use the gateway: kept as hashes, in a file that only its owner reads."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from holdfast.config import home
from holdfast.config.settings import is_profile
from holdfast.errors import ConfigError, reason_of
from holdfast.system.file_edits import locked, make_folder, put_in_place

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

PREFIX = "holdfast_"
"""How every token begins: one in a header for a provider's key is told from such a key by it."""
_BYTES = 32
_PATIENCE_S = 5.0
_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What is known of a token; the token itself is known to whoever it was given to."""

    name: str
    tenant: str
    sha256: str
    created: int
    """In milliseconds since the epoch, as below."""
    revoked: int | None = None


class TokenFile:
    """The tokens of one installation; what another process changes is seen at once."""

    def __init__(self, path: Path) -> None:
        """Take the place of the file; it need not be there."""
        self.path = path
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._tokens: tuple[AccessToken, ...] = ()

    def tokens(self) -> tuple[AccessToken, ...]:
        """Return every token that was ever added, the revoked ones included.

        Raises:
            ConfigError: when the file cannot be trusted or read; nobody is let in then.
        """
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {reason_of(error)}") from None
        seen = (found.st_ino, found.st_mtime_ns, found.st_size)
        with self._lock:
            if seen != self._seen:
                self._tokens, self._seen = self._read(found.st_mode), seen
            return self._tokens

    def add(self, name: str, tenant: str, now: int) -> str:
        """Make a token and return it; it is shown this once, and kept as a hash.

        Raises:
            ConfigError: when the names cannot be used, or the token's is taken.
        """
        for what, value in (("token", name), ("tenant", tenant)):
            if not is_profile(value):
                raise ConfigError(
                    f"{value[:60]!r} cannot name a {what}; use letters, digits, dots and dashes"
                )
        with self._edited() as known:
            if any(each.name == name and each.revoked is None for each in known):
                raise ConfigError(f"there is a token {name} already; revoke it or choose a name")
            secret = PREFIX + secrets.token_urlsafe(_BYTES)
            digest = hashlib.sha256(secret.encode()).hexdigest()
            known.append(AccessToken(name, tenant, digest, now))
        return secret

    def revoke(self, name: str, now: int) -> bool:
        """Let a token open nothing any more; says whether there was one.

        It stays in the file: a gateway without its last token still asks for one.
        """
        with self._edited() as known:
            found = [index for index, each in enumerate(known) if each.name == name]
            found = [index for index in found if known[index].revoked is None]
            for index in found:
                known[index] = replace(known[index], revoked=now)
        return bool(found)

    def match(self, secret: str) -> AccessToken | None:
        """Return the token that a text is.

        Each is compared, in a time that does not depend on how much of it is right.
        """
        digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
        found: AccessToken | None = None
        for each in self.tokens():
            if hmac.compare_digest(each.sha256, digest) and each.revoked is None:
                found = each
        return found

    @contextmanager
    def _edited(self) -> Generator[list[AccessToken]]:
        """Lend the tokens to be changed; they are written when that ends well."""
        make_folder(self.path.parent)
        with locked(self.path.with_name(f".{self.path.name}.lock"), _PATIENCE_S):
            known = [*self.tokens()]
            yield known
            value = {"tokens": [asdict(each) for each in known]}
            put_in_place(self.path, json.dumps(value, indent=2).encode())

    def _read(self, mode: int) -> tuple[AccessToken, ...]:
        if os.name == "posix" and stat.S_IMODE(mode) & _OTHERS:
            raise ConfigError(f"{self.path} is open to other users; run chmod 600 on it")
        try:
            found = json.loads(self.path.read_bytes())
            return tuple(
                AccessToken(
                    name=str(each["name"]),
                    tenant=str(each["tenant"]),
                    sha256=str(each["sha256"]),
                    created=int(each["created"]),
                    revoked=None if each["revoked"] is None else int(each["revoked"]),
                )
                for each in cast("list[Mapping[str, Any]]", found["tokens"])
            )
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {reason_of(error)}") from None
        except (ValueError, KeyError, TypeError):
            raise ConfigError(
                f"{self.path} does not hold tokens as `holdfast token` writes them; move it away "
                "and add tokens anew"
            ) from None


def token_file(environ: Mapping[str, str]) -> TokenFile:
    """Return the tokens of this installation."""
    return TokenFile(home(environ) / "tokens.json")
