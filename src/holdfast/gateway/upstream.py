"""Whom the gateway forwards to, with which credential, and the HTTP client that does it.

Addresses come from the settings alone. The client stands behind a small interface, so that
another library can take its place.
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from socket import gaierror
from ssl import SSLError
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from holdfast.config.settings import UPSTREAM
from holdfast.errors import ModelUnavailable, reason_of
from holdfast.providers.provider_errors import SERVER_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiohttp import ClientResponse, ClientSession

Headers = list[tuple[str, str]]

CREDENTIALS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key"})
"""Headers in which callers bring their own credential."""

_PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "responses": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
_OPENAI = frozenset({"openai", "responses"})
_CONNECT_S = 10.0
_LONGEST_HEADER = 64 << 10
_LARGE = 1 << 20
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Upstream:
    """One server to which requests of some dialect, for some models, are forwarded."""

    url: str
    dialect: str = ""
    """Whose requests it takes; empty for all."""
    pattern: str = "*"
    """For which models."""
    credential: str = field(default="", repr=False)
    """Sent where the caller brings none."""
    is_named: bool = True
    """Whether the settings name it; else it is the provider of a dialect."""

    def fits(self, dialect: str, model: str) -> bool:
        """Say whether a request goes here."""
        return self.dialect in ("", dialect) and fnmatchcase(model, self.pattern)

    def address(self, path: str, query: str, dialect: str) -> str:
        """Return where a request goes: what both have in common, such as `/v1`, stands once.

        The address of an OpenAI-compatible server stands for `/v1`, as it does in its SDK.
        """
        base, wanted = urlsplit(self.url).path.strip("/").split("/"), path.lstrip("/").split("/")
        if dialect in _OPENAI and base != [""] and wanted[0] == "v1":
            del wanted[0]
        else:
            most = min(len(base), len(wanted))
            shared = next((n for n in range(most, 0, -1) if base[-n:] == wanted[:n]), 0)
            del wanted[:shared]
        return f"{self.url}/{'/'.join(wanted)}{'?' if query else ''}{query}"

    def credential_header(self, dialect: str) -> tuple[str, str] | None:
        """Return the header with our credential, if there is one."""
        if not self.credential:
            return None
        match dialect:
            case "anthropic":
                return "x-api-key", self.credential
            case "gemini":
                return "x-goog-api-key", self.credential
            case _:
                return "authorization", f"Bearer {self.credential}"


def upstreams_of(texts: Sequence[str], environ: Mapping[str, str]) -> tuple[Upstream, ...]:
    """Return the upstreams that the settings name, then the providers themselves.

    A credential is that of the environment, or the one in the address. A provider's own key is
    sent to the provider alone; what any other server gets is in `HOLDFAST_API_KEY`.
    """
    found: list[Upstream] = []
    for text in texts:
        read = UPSTREAM.fullmatch(text)
        if read is None:
            continue
        parts = urlsplit(read["url"])
        host = parts.netloc.rpartition("@")[2]
        url = f"{parts.scheme}://{host}{parts.path.rstrip('/')}"
        dialect = read["dialect"] or ""
        is_own = dialect and host == urlsplit(_PROVIDERS[dialect]).netloc
        variables = _VARIABLES[dialect] if is_own else (SERVER_KEY,)
        configured = unquote(parts.password or parts.username or "")
        found.append(
            Upstream(url, dialect, read["pattern"] or "*", _known(variables, environ) or configured)
        )
    return (
        *found,
        *(
            Upstream(url, dialect, credential=_known(_VARIABLES[dialect], environ), is_named=False)
            for dialect, url in _PROVIDERS.items()
        ),
    )


def alternatives(
    upstreams: Sequence[Upstream], dialect: str, model: str, resting: Mapping[str, float]
) -> list[Upstream]:
    """Return the first upstream that fits, and those that are named for the same requests.

    Others that would fit are none: they may be strangers to what is said, and to the caller's key.

    Args:
        upstreams: All of them.
        dialect: Of the request.
        model: Which it asks for.
        resting: Addresses that failed, with when; the one that failed last is tried last.
    """
    first = next(each for each in upstreams if each.fits(dialect, model))
    same = (first.dialect, first.pattern, first.is_named)
    fits = [each for each in upstreams if (each.dialect, each.pattern, each.is_named) == same]
    return sorted(fits, key=lambda each: resting.get(each.url, 0.0))


def _known(variables: Sequence[str], environ: Mapping[str, str]) -> str:
    return next((environ[name] for name in variables if environ.get(name)), "")


class UpstreamFailed(ModelUnavailable):
    """An upstream gave no answer, or not all of it."""

    def __init__(self, message: str, *, status: int = 502) -> None:
        """Keep the HTTP status that says so to a client."""
        super().__init__(message)
        self.status = status


class UpstreamAnswer(Protocol):
    """An answer whose headers are here; its body comes as it is read."""

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        ...

    @property
    def headers(self) -> Headers:
        """Return the headers, their names in lower case."""
        ...

    async def read(self) -> bytes:
        """Return what has come in, at least one byte; nothing at the end.

        Raises:
            UpstreamFailed: when the answer ends in the middle.
        """
        ...

    def close(self) -> None:
        """Let go of the answer; one that was not read to its end is cancelled."""
        ...


class UpstreamClient(Protocol):
    """Sends requests; never follows a redirect, keeps no cookie, unpacks nothing."""

    async def send(self, method: str, url: str, headers: Headers, body: bytes) -> UpstreamAnswer:
        """Send a request.

        Raises:
            UpstreamFailed: when no answer begins.
        """
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


class AiohttpClient:
    """Sends requests with aiohttp."""

    def __init__(self, silence_seconds: float) -> None:
        """Take the seconds of silence after which an upstream is given up."""
        self._silence = silence_seconds
        self._session: ClientSession | None = None

    async def send(self, method: str, url: str, headers: Headers, body: bytes) -> UpstreamAnswer:
        """Send a request; once more if the server closed a kept connection meanwhile."""
        from aiohttp import ClientError, ServerDisconnectedError

        try:
            try:
                answer = await self._request(method, url, headers, body)
            except (ServerDisconnectedError, ConnectionResetError):
                answer = await self._request(method, url, headers, body)
        except (ClientError, OSError, ValueError) as error:
            raise self._failed(error, url) from error
        return _AiohttpAnswer(answer, url, (ClientError, OSError))

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _request(
        self, method: str, url: str, headers: Headers, body: bytes
    ) -> ClientResponse:
        from yarl import URL

        return await self._opened().request(
            method,
            URL(url, encoded=True),
            headers=headers,
            # Large bodies are written piece by piece, so that others have their turn between.
            data=(io.BytesIO(body) if len(body) > _LARGE else body) or None,
            allow_redirects=False,
        )

    def _opened(self) -> ClientSession:
        if self._session is not None:
            return self._session
        # Made in the event loop that it serves.
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

        self._session = ClientSession(
            connector=TCPConnector(limit=0, keepalive_timeout=30),
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=self._silence),
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )
        return self._session

    def _failed(self, error: Exception, url: str) -> UpstreamFailed:
        from aiohttp import (
            ClientConnectorCertificateError,
            ClientConnectorError,
            ConnectionTimeoutError,
            ServerDisconnectedError,
        )

        host = urlsplit(url).netloc
        if isinstance(error, ConnectionTimeoutError):
            return UpstreamFailed(f"{host} could not be connected to in time")
        if isinstance(error, TimeoutError):
            return UpstreamFailed(f"{host} did not answer in time", status=504)
        if isinstance(error, ClientConnectorCertificateError):
            return UpstreamFailed(f"cannot connect to {host}: its certificate is not trusted")
        if isinstance(error, ClientConnectorError):
            cause = error.os_error
            # What asyncio says of a refused connection is no reason.
            is_told = isinstance(cause, gaierror | SSLError)
            words = os.strerror(cause.errno) if cause.errno and not is_told else reason_of(cause)
            return UpstreamFailed(f"cannot connect to {host}: {words.lower()}")
        if isinstance(error, ServerDisconnectedError | ConnectionError):
            return UpstreamFailed(f"{host} closed the connection without an answer")
        # The library's words may quote what was sent, and what was sent has credentials.
        return UpstreamFailed(f"{host} gave no answer that can be read ({type(error).__name__})")


class _AiohttpAnswer:
    """An answer of aiohttp's, in the words of the interface."""

    __slots__ = ("_answer", "_errors", "_read", "_url", "headers", "status")

    def __init__(
        self, answer: ClientResponse, url: str, errors: tuple[type[Exception], ...]
    ) -> None:
        self._errors = errors
        self.status = answer.status
        self.headers = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in answer.raw_headers
            # No server may send such a value, and ours would end the connection over it.
            if not _CONTROL.search(value)
        ]
        self._answer = answer
        self._read = answer.content.readany
        self._url = url

    async def read(self) -> bytes:
        try:
            return await self._read()
        except self._errors as error:
            host = urlsplit(self._url).netloc
            raise UpstreamFailed(f"the answer of {host} ended in the middle") from error

    def close(self) -> None:
        # A connection whose answer was read to the end is kept, any other closed.
        if self._answer.content.at_eof():
            self._answer.release()
        else:
            self._answer.close()
