"""A program that imports a long session file, to be killed or to run beside another."""

import sys
from contextlib import closing
from pathlib import Path
from random import Random

from holdfast.formats.content import summarized
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.session import Fork
from holdfast.stores.sqlite import SqliteStore
from holdfast.transcript import Message, Role, Text
from tests.transfer.taking import START, begun, take

TURNS = 1_200
WORDS = "the keeper of harbor light wrote down each ship that passed in fog or rain".split()


def story(seed: int) -> list[Event]:
    """Return the events of a file with compactions, rewinds, sub-agents and a branch."""
    random = Random(seed)
    events: list[Event] = [begun(f"story-{seed}")]
    window: list[str] = []
    for number in range(TURNS):
        events.append(_told(random, f"m{number}"))
        window.append(f"m{number}")
        if number % 400 == 250:
            side = f"side-{number}"
            fork = Fork.DELEGATION
            events.append(
                StrandStarted(strand=side, line=number, about=About(), of=MAIN, fork=fork)
            )
            events += [_told(random, f"{side}-{place}", side) for place in range(20)]
        if number % 300 == 299:
            window = [f"s{number}", *window[-10:]]
            message = summarized(_prose(random), "claude-code")
            events.append(_told(random, window[0], message=message))
            shows = tuple(window)
            events.append(CompactionEvent(strand=MAIN, line=number, id=f"f{number}", shows=shows))
        if number % 500 == 460:
            window = window[:-4]
            at = START + number
            events.append(RewindEvent(strand=MAIN, line=number, shows=tuple(window), at=at))
    leaves = StrandStarted(
        strand="branch", line=TURNS, about=About(), of=MAIN, fork=Fork.BRANCH, after=window[-7]
    )
    return [*events, leaves, *(_told(random, f"b{place}", "branch") for place in range(600))]


def _told(
    random: Random, key: str, strand: str = MAIN, *, message: Message | None = None
) -> MessageEvent:
    said = message or Message(random.choice((Role.USER, Role.ASSISTANT)), (Text(_prose(random)),))
    return MessageEvent(
        strand=strand, line=1, key=key, message=said, native=SourceMetadata(id=key, at=START)
    )


def _prose(random: Random) -> str:
    return " ".join(random.choices(WORDS, k=60))


def main() -> None:
    events = story(int(sys.argv[2]))
    with closing(SqliteStore(Path(sys.argv[1]))) as store:
        print("ready", flush=True)
        take(store, events)


if __name__ == "__main__":
    main()
