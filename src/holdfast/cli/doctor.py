"""`holdfast doctor`: is everything in place, and if not, what to do.

With `--gateway`: why does the gateway not run, not answer or not record?
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import asdict, replace
from http.client import HTTPException
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from holdfast import __version__
from holdfast.cli.doctor_checks import (
    Check,
    CheckState,
    basic_checks,
    checks,
    reach_check,
    sized,
    store_checks,
)
from holdfast.cli.flags import configuration, json_flag, now_ms, store_flags
from holdfast.cli.root import Exit, as_typed, examples
from holdfast.cli.screen import Line, Styled, screen, show_json, silence_log, tell
from holdfast.cli.serve import ask_gateway, url_of
from holdfast.config import home
from holdfast.errors import ConfigError, HoldfastError, reason_of
from holdfast.ports import Listing
from holdfast.views.words import counted
from holdfast.wiring.models import known_window
from holdfast.wiring.stores import file_behind, store_file, store_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from holdfast.config import Setting, Settings
    from holdfast.config.settings import GatewaySettings
    from holdfast.gateway.upstream import Upstream
    from holdfast.ports import Store
    from holdfast.wiring.upkeep import Repaired

_ADVICE = (
    "a backup can take the place of the file; holdfast import brings back what agents still have"
)
_STYLES = {CheckState.OK: "bold green", CheckState.WARN: "bold yellow", CheckState.FAIL: "bold red"}


@click.command(
    "doctor",
    epilog=examples("holdfast doctor", "holdfast doctor --gateway", "holdfast doctor --repair"),
)
@click.option("--repair", is_flag=True, help="Check all that is stored, and mend what is damaged.")
@click.option("--gateway", is_flag=True, help="Check what the gateway needs instead.")
@click.option("--offline", is_flag=True, help="Connect to nothing.")
@store_flags
@json_flag
def command(
    *, repair: bool, gateway: bool, offline: bool, as_json: bool, **flags: Setting | None
) -> Exit:
    """Check that everything is in place.

    Addresses of models that are configured are connected to; nothing is said there, and no
    credential is shown. The exit code is 1 when a check fails.

    --gateway looks for the gateway at the configured address, and at who may ask it, where its
    requests go, and whether they can be recorded. Upstreams are connected to as models are. What a
    gateway was given as flags is not known here: say it again as settings, such as
    HOLDFAST_GATEWAY_PORT=9000 and HOLDFAST_GATEWAY_UPSTREAMS='["http://127.0.0.1:8080/v1"]'.

    --repair reads everything in the store instead. Where something is wrong, indexes are built
    again from the messages and what can be read is saved; a file that is damaged itself is kept
    beside the mended one, also when nothing of it can be read. Nothing is thrown away. The exit
    code is 1 when messages are lost.
    """
    silence_log("holdfast.wiring")  # what the checks find they tell themselves
    if repair:
        return _repaired(flags, as_json=as_json)
    found, settings = basic_checks(os.environ, [*filter(None, flags.values())])
    look = gateway_checks if gateway else checks
    found += look(settings, os.environ, offline=offline)
    healthy = not any(each.state is CheckState.FAIL for each in found)
    if as_json:
        show_json({"healthy": healthy, "checks": [asdict(each) for each in found]})
        return Exit.DONE if healthy else Exit.FAILED
    lines: list[Line] = []
    for each in found:
        lines.append(
            (Styled(f"{each.state:<5}", _STYLES[each.state]), Styled(f"{each.name}: {each.words}"))
        )
        if each.advice:
            lines.append((Styled(f"     {as_typed(each.advice)}", "dim"),))
    screen().show(lines)
    return Exit.DONE if healthy else Exit.FAILED


def _repaired(flags: Mapping[str, Setting | None], *, as_json: bool) -> Exit:
    """Check and mend the store, and tell what was found and what is left."""
    settings = configuration(flags).settings
    file = store_file(settings.store.url, settings.store.profile, os.environ)
    if not file.exists():
        tell(f"there is nothing to repair: {file} does not exist")
        return Exit.NOTHING_TO_DO
    # Imported only here: checks that touch no store need no SQLite.
    from holdfast.wiring.upkeep import repair_file

    found = repair_file(file)
    health, lost = found.health, _lost(found)
    code = Exit.FAILED if health.problems or lost else Exit.DONE
    if as_json:
        show_json(
            {
                "file": str(file),
                "healthy": code is Exit.DONE,
                "problems": list(found.problems),
                "done": list(found.done),
                "left": list(health.problems),
                "sessions": health.sessions,
                "messages": health.messages,
                "missing": found.lost.messages,
                "missing_at_most": found.lost.most_messages,
                "sessions_missing": found.lost.numbered_sessions,
                "bytes": health.bytes,
            }
        )
        return code
    size = f"{counted(health.sessions, 'session')}, {counted(health.messages, 'message')}"
    lines: list[Line] = [(Styled("found ", "yellow"), Styled(each)) for each in found.problems]
    lines += [(Styled("done  ", "green"), Styled(each)) for each in found.done]
    lines += [(Styled("left  ", "bold red"), Styled(each)) for each in health.problems]
    if not found.problems:
        lines.append((Styled("ok    ", "bold green"), Styled(f"{file}: nothing is wrong; {size}")))
    elif lost:
        lines.append((Styled("lost  ", "bold red"), Styled(f"{file}: {lost}; {size} are left")))
        lines.append((Styled(f"      {as_typed(_ADVICE)}", "dim"),))
    elif not health.problems:
        lines.append((Styled("ok    ", "bold green"), Styled(f"{file}: all is readable; {size}")))
    screen().show(lines)
    return code


def _lost(found: Repaired) -> str:
    """Return what is gone, in words; empty where nothing is, as far as anybody knows."""
    lost = found.lost
    if lost.is_least and (lost.most_messages or lost.numbered_sessions):
        least = f"at least {counted(lost.messages, 'message')} could not be read"
        if lost.most_messages == lost.messages and not lost.numbered_sessions:
            return least
        gone = counted(lost.most_messages, "message")
        if lost.numbered_sessions:
            gone += f" and at least {counted(lost.numbered_sessions, 'session')}"
        return f"{least}; by its numbers {gone} are gone, with those that were deleted before"
    if lost.messages:
        return f"{counted(lost.messages, 'message')} could not be read"
    is_empty = found.problems and not (found.health.sessions or found.health.messages)
    return "nothing could be read" if is_empty else ""


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
        status, found = ask_gateway(host, port, "/healthz", _LOOK_S)
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
    status, found = ask_gateway(host, port, "/readyz", _LOOK_S)
    if status == 200:
        yield Check("readiness", CheckState.OK, "it can record what is said")
    else:
        advice = "its log says why; requests are forwarded, and nothing of them is recorded"
        yield Check("readiness", CheckState.FAIL, str(found.get("reason")), advice)


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
