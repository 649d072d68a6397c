"""`holdfast doctor`: is everything in place, and if not, what to do."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from holdfast.cli.doctor_checks import CheckState, basic_checks, checks
from holdfast.cli.flags import configuration, store_flags
from holdfast.cli.root import Exit, as_typed, examples
from holdfast.cli.screen import Line, Styled, screen, show_json, silence_log, tell
from holdfast.views.words import counted
from holdfast.wiring.stores import store_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.cli.doctor_checks import Check
    from holdfast.config import Setting
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
    found = [*_found([*filter(None, flags.values())], offline=offline, gateway=gateway)]
    healthy = not any(each.state is CheckState.FAIL for each in found)
    if as_json:
        show_json({"healthy": healthy, "checks": [asdict(each) for each in found]})
        return Exit.DONE if healthy else Exit.FAILED
    lines: list[Line] = []
    for each in found:
        lines.append(
            (
                Styled(f"{each.state:<5}", _STYLES[each.state]),
                Styled(f"{each.name}: {each.words}"),
            )
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


def _found(flags: Sequence[Setting], *, offline: bool, gateway: bool) -> Iterator[Check]:
    settings = yield from basic_checks(os.environ, flags)
    if gateway:
        # Imported only here: other checks need nothing of it.
        from holdfast.cli.gateway_checks import gateway_checks

        yield from gateway_checks(settings, os.environ, offline=offline)
    else:
        yield from checks(os.environ, settings, offline=offline)


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
