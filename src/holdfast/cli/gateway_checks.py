"""The checks of `doctor --gateway`: why does the gateway not run, not answer or not record?"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from holdfast import __version__
from holdfast.cli.doctor_checks import Check, CheckState, reach_check, sized, store_checks
from holdfast.cli.flags import now_ms
from holdfast.cli.pointing import url_of
from holdfast.config import home
from holdfast.errors import ConfigError, HoldfastError, reason_of
from holdfast.ports import Listing
from holdfast.views.words import counted
from holdfast.wiring.models import known_window
from holdfast.wiring.stores import file_behind, store_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from holdfast.config import Settings
    from holdfast.config.settings import GatewaySettings
    from holdfast.gateway.upstream import Upstream
    from holdfast.ports import Store

_LOOK_S = 3.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
_INSTALL = "pip install 'holdfast[gateway]'"
_ASSUMED = 200_000
_LATEST = 200
"""Sessions whose models are looked at."""
_AHEAD_MS = 60_000
"""How far in the future something may have been said."""
_DIALECTS = ("openai", "responses", "anthropic", "gemini")


def gateway_checks(
    settings: Settings, environ: Mapping[str, str], *, offline: bool
) -> Iterator[Check]:
    """Look at what the gateway of this installation needs; nothing is changed.

    The gateway is asked for /healthz and /readyz. Upstreams are connected to: nothing is said
    there, and no credential is shown.
    """
    missing = [each for each in ("starlette", "uvicorn", "aiohttp") if find_spec(each) is None]
    if missing:
        words = f"not installed: {', '.join(missing)}"
        yield Check("extra gateway", CheckState.FAIL, words, _INSTALL)
        return
    yield Check("extra gateway", CheckState.OK, "installed: a proxy under agents: holdfast serve")
    from holdfast.gateway.upstream import upstreams_of

    yield from _running(settings.gateway)
    yield from _access(settings.gateway, environ)
    upstreams = upstreams_of(settings.gateway.upstreams, environ)
    used = {name: next(each for each in upstreams if each.fits(name, "*")) for name in _DIALECTS}
    for dialect, upstream in used.items():
        yield _key(dialect, upstream)
    if not offline:
        named = {each.url for each in upstreams if each.is_named}
        for url in dict.fromkeys([*named, *(each.url for each in used.values())]):
            found = reach_check(f"upstream {urlsplit(url).netloc}", url)
            if found.state is CheckState.FAIL and url not in named:
                # Nobody may want the providers that the settings do not name.
                found = replace(found, state=CheckState.WARN)
            yield found
    yield from _tenants(settings, environ)


def _running(settings: GatewaySettings) -> Iterator[Check]:
    """Say who listens at the configured address."""
    host, port = _EVERYWHERE.get(settings.host, settings.host), settings.port
    url = url_of(host, port)
    if not port:
        words = "gateway.port is 0: it takes any port that is free, and cannot be looked for"
        yield Check("gateway", CheckState.OK, words)
        return
    try:
        status, found = _asked(host, port, "/healthz")
    except ConnectionRefusedError:
        advice = (
            "holdfast serve starts it; holdfast run AGENT starts it with an agent; where it was "
            "given --port, HOLDFAST_GATEWAY_PORT finds it"
        )
        yield Check("gateway", CheckState.WARN, f"nothing listens on {url}", advice)
        return
    except (HTTPException, OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError | ValueError) else str(error)
        status, found = 0, {"reason": reason}
    if found.get("service") != "holdfast":
        words = f"what listens on {url} is no gateway of holdfast"
        advice = "end that program, or set gateway.port to another port"
        yield Check("gateway", CheckState.FAIL, words, advice)
        return
    version = found.get("version")
    if version == __version__:
        yield Check("gateway", CheckState.OK, f"holdfast {version} answers on {url}")
    else:
        words = f"holdfast {version} answers on {url}, and {__version__} is installed"
        yield Check("gateway", CheckState.WARN, words, "restart it")
    status, found = _asked(host, port, "/readyz")
    if status == 200:
        yield Check("readiness", CheckState.OK, "it can record what is said")
    else:
        advice = "its log says why; requests are forwarded, and nothing of them is recorded"
        yield Check("readiness", CheckState.FAIL, str(found.get("reason")), advice)


def _asked(host: str, port: int, path: str) -> tuple[int, dict[str, object]]:
    with closing(HTTPConnection(host, port, timeout=_LOOK_S)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        found: object = json.loads(answer.read(10_000))
        fields = cast("dict[str, object]", found) if isinstance(found, dict) else {}
        return answer.status, fields


def _access(settings: GatewaySettings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Say who may ask."""
    from holdfast.gateway.app import check_reach, is_loopback
    from holdfast.gateway.tokens import token_file

    try:
        tokens = token_file(environ).tokens()
        check_reach(settings, has_tokens=bool(tokens))
    except ConfigError as error:
        yield Check("access", CheckState.FAIL, str(error), "holdfast token add NAME adds a token")
        return
    valid = [each for each in tokens if each.revoked is None]
    local = is_loopback(settings.host)
    where = "this machine alone" if local else f"whoever reaches {settings.host}"
    if not tokens:
        yield Check("access", CheckState.OK, f"it serves {where}, and asks for no token")
    elif not valid:
        words = "every token was revoked, so that nobody is let in"
        yield Check("access", CheckState.WARN, words, "holdfast token add NAME adds a token")
    else:
        words = f"it serves {where}, with {counted(len(valid), 'token')}"
        yield Check("access", CheckState.OK, words)
    if not local:
        words = "other machines reach it, and it speaks HTTP without TLS"
        advice = "put a proxy with TLS before it, or let only a private network reach it"
        yield Check("transport", CheckState.WARN, words, advice)


def _key(dialect: str, chosen: Upstream) -> Check:
    """Say whose key goes where a request of a dialect goes by default."""
    place = urlsplit(chosen.url).netloc
    name = f"key {dialect}"
    if not chosen.credential:
        return Check(name, CheckState.OK, f"callers bring their own for {place}")
    words = f"callers without one use the gateway's for {place}"
    host = urlsplit(chosen.url).hostname or ""
    if chosen.url.startswith("http://") and host not in ("localhost", "127.0.0.1", "::1"):
        advice = "use https:// in gateway.upstreams, unless the network is yours alone"
        return Check(name, CheckState.WARN, f"{words}, without TLS", advice)
    return Check(name, CheckState.OK, words)


def _tenants(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Look at the store and the tree of each tenant, and at the models it uses."""
    from holdfast.gateway.tenants import TREE_FILE, tenant_settings
    from holdfast.gateway.tokens import token_file

    try:
        tokens = token_file(environ).tokens()
    except ConfigError:
        return
    names = dict.fromkeys(each.tenant for each in tokens if each.revoked is None)
    for name in names or (settings.store.profile,):
        prefix = f"tenant {name}: " if names else ""
        try:
            own = tenant_settings(settings, name, environ)
            found = [*store_checks(own, environ)]
            file = file_behind(own.store.url, own.store.profile, environ)
            if file is not None and file.exists():
                found += [_writable("store writes", file)]
                tree = file.with_name(TREE_FILE)
                found += [_writable("tree file", tree)] if tree.exists() else []
                with closing(store_of(own, environ)) as store:
                    found += _use(own, store)
        except (HoldfastError, OSError) as error:
            found = [Check("store", CheckState.FAIL, str(error))]
        for each in found:
            yield replace(each, name=f"{prefix}{each.name}")
    audit = home(environ) / "gateway-audit.jsonl"
    if audit.exists():
        yield Check("audit log", CheckState.OK, f"{audit}, {sized(audit.stat().st_size)}")


def _writable(name: str, file: Path) -> Check:
    """Begin to write to a file of SQLite, and leave it at that."""
    try:
        address = f"{file.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, _LOOK_S, uri=True, isolation_level=None)) as opened:
            opened.execute("BEGIN IMMEDIATE")
            opened.execute("ROLLBACK")
    except sqlite3.Error as error:
        if "locked" in str(error):
            words = f"{file} is locked by another process"
            advice = "find out who holds it: requests wait ten seconds and go on unrecorded"
            return Check(name, CheckState.FAIL, words, advice)
        words = f"{file} cannot be written: {error}"
        advice = "look at the permissions and the disk; until then nothing is recorded"
        return Check(name, CheckState.FAIL, words, advice)
    return Check(name, CheckState.OK, f"{file} can be written, {sized(file.stat().st_size)}")


def _use(settings: Settings, store: Store) -> Iterator[Check]:
    """Look at the windows of the models that were asked, and at the clock."""
    sessions = [*store.sessions(Listing(sources=("gateway",), limit=_LATEST))]
    stated = settings.gateway.context_length or settings.model.context_length
    for model, count in Counter(each.model for each in sessions if each.model).items():
        window = stated or known_window(model)
        used = f"in {counted(count, 'session')}"
        if window:
            yield Check(f"window of {model}", CheckState.OK, f"{window:,} tokens, {used}")
            continue
        words = f"unknown, {used}: {_ASSUMED:,} tokens are assumed"
        advice = "set gateway.context_length to what your models take"
        yield Check(f"window of {model}", CheckState.WARN, words, advice)
    ahead = max((each.touched for each in sessions), default=0) - now_ms()
    if ahead > _AHEAD_MS:
        words = f"the newest message is from {ahead // 1000:,} seconds in the future"
        yield Check("clock", CheckState.WARN, words, "set the clock of this machine")
    else:
        yield Check("clock", CheckState.OK, "nothing was said in the future")
