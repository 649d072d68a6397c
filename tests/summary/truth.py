"""Sessions with known truth, drawn by a seed: storylines of several turns, woven together.

Whoever writes a script knows what is true after each of its steps. So a record that was made of
the steps can be held against the truth, and nobody has to judge it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from random import Random
from typing import Any, TypeAlias

from tests.summary.truth_phrases import PHRASES, Phrases
from tests.summary.truth_script import Script, Step
from tests.summary.truth_state import Blocker, Bound, Commit, Fact, Truth

Messages: TypeAlias = list[dict[str, Any]]
Storyline: TypeAlias = Callable[[Script], Iterator[None]]

PROMPT = "You are a careful engineer in a harbor office. Work in small steps."
FOLDS = 10
_OPENING, _BETWEEN = (18_000, 26_000), (5_000, 9_000)
"""Characters before the first fold, and between one fold and the next."""
_MOST_AT_ONCE = 7
_MOST_CHANGED = 5


@dataclass(frozen=True, slots=True)
class Session:
    """The steps of a session, those after which it is folded, and what kinds of events it has."""

    steps: tuple[Step, ...]
    cuts: tuple[int, ...]
    events: frozenset[str]
    phrases: Phrases

    def stages(self) -> Iterator[tuple[Messages, Truth]]:
        """Yield the messages that are new at each fold, and what is true then."""
        start = 0
        for cut in self.cuts:
            steps = self.steps[start:cut]
            yield [each for step in steps for each in step.messages], steps[-1].truth
            start = cut


def finished(script: Script) -> Iterator[None]:
    """A thing is asked for and done."""
    thing = script.new("thing")
    script.ask(thing, script.phrases.asks)
    script.finish(thing)
    yield


def deferred(script: Script) -> Iterator[None]:
    """A thing is put off and done many turns later, on request or on the side."""
    thing = script.new("thing")
    script.ask(thing, script.phrases.asks)
    script.reply(script.words(script.phrases.deferred, x=thing))
    yield from _some_turns(script)
    if script.chance(0.5):
        script.ask(thing, script.phrases.again)
        script.finish(thing)
    else:
        _finish_on_the_side(script, thing)
    yield


def lingering(script: Script) -> Iterator[None]:
    """A thing is put off, and stays open to the end."""
    thing = script.new("thing")
    script.ask(thing, script.phrases.asks)
    script.reply(script.words(script.phrases.deferred, x=thing))
    yield


def dropped(script: Script) -> Iterator[None]:
    """A thing is put off or begun, and the user lets it go."""
    thing = script.new("thing")
    script.ask(thing, script.phrases.asks)
    if script.chance(0.5):
        script.reply(script.words(script.phrases.deferred, x=thing))
        yield from _some_turns(script)
    else:
        narration = script.words(script.phrases.narration[0], x=thing)
        arguments = {"path": script.path(thing)}
        script.call("read_file", arguments, script.code(), narration=narration)
    words, core = script.phrase(script.phrases.drop, x=thing)
    reply = script.words(script.phrases.dropped, x=thing)
    script.state(words, lambda truth: truth.ended(thing, dropping=core), reply=reply)
    yield


def reopened(script: Script) -> Iterator[None]:
    """A thing that was done breaks again; it waits for some turns, and is done once more."""
    thing = script.new("thing")
    script.ask(thing, script.phrases.asks)
    script.finish(thing)
    yield from _some_turns(script)
    script.ask(thing, script.phrases.reopen)
    script.reply(script.words(script.phrases.deferred, x=thing))
    yield from _some_turns(script)
    script.ask(thing, script.phrases.again)
    script.finish(thing)
    yield


def interrupted(script: Script) -> Iterator[None]:
    """A second ask comes before the first is done; the reply is to the second alone."""
    first, second = script.new("thing"), script.new("thing")
    script.ask(first, script.phrases.asks)
    script.call("read_file", {"path": script.path(first)}, script.code())
    script.ask(second, script.phrases.asks)
    script.finish(second, script.words(script.phrases.still_open, x=first))
    yield from _some_turns(script)
    _finish_on_the_side(script, first)
    yield


def question(script: Script) -> Iterator[None]:
    """A question is answered many turns later, beside the reply to something else."""
    store, thing = script.new("store"), script.new("thing")
    if store is None:
        return
    script.ask(store, script.phrases.questions)
    script.reply(script.words(script.phrases.unknown))
    yield from _some_turns(script)
    value = f"/srv/files/{script.new('value')}"
    answer = script.words(script.phrases.answer, x=store, value=value)
    script.ask(thing, script.phrases.asks)
    script.finish(thing, answer, lambda truth: truth.ended(store, value))
    yield


def bounded(script: Script) -> Iterator[None]:
    """A rule is set, and most often revoked."""
    area = script.new("area")
    if area is None:
        return
    bound = Bound(area, script.words(script.phrases.rule, x=area))
    script.state(bound.words, lambda truth: truth.bounded(bound))
    yield from _some_turns(script)
    if script.chance(0.7):
        words, core = script.phrase(script.phrases.revoke, x=area)
        revoked = replace(bound, revocation=core)
        script.state(words, lambda truth: truth.bounded(revoked))
        yield


def corrected(script: Script) -> Iterator[None]:
    """A value is given and corrected, once or twice; a file follows it now and then."""
    server = script.new("server")
    if server is None:
        return
    big, small = script.random.choice(script.phrases.measures)
    stated = partial(script.words, x=server, What=big, what=small)
    is_version = big == script.phrases.measures[-1][0]
    path = f"config/server_{script.new('number')}.toml"
    fact = Fact(server, "unset")
    for number in range(script.random.randint(2, 3)):
        value = script.new("value")
        now = f"{value // 1000}.{value % 1000}.3" if is_version else str(value)
        newer = Fact(server, now, (*fact.past, fact.now) if number else ())
        choices = script.phrases.correct if number else script.phrases.value
        words = stated(choices, value=now, old=fact.now)
        follow = (path, f"value = {now}", f"value = {fact.now}") if script.chance(0.5) else None
        script.state(words, lambda truth, newer=newer: truth.measured(newer), follow)
        fact = newer
        yield from _some_turns(script)


def aimed(script: Script) -> Iterator[None]:
    """The goal is stated, and changed once or twice."""
    name, stated = script.new("goal")
    fact = Fact("goal", name)
    words = script.words(script.phrases.goal, x=stated)
    script.state(words, lambda truth: replace(truth, goal=fact))
    for _ in range(script.random.randint(1, 2)):
        yield from _some_turns(script)
        name, stated = script.new("goal")
        newer = Fact("goal", name, (*fact.past, fact.now))
        words = script.words(script.phrases.new_goal, x=stated, old=fact.now)
        script.state(words, lambda truth, newer=newer: replace(truth, goal=newer))
        fact = newer
    yield


def planned(script: Script) -> Iterator[None]:
    """A plan is written with a tool, and its items go from pending to done, one is cancelled."""
    texts = script.random.sample(script.phrases.steps, 4)
    plan = [(text, "pending") for text in texts]
    words, core = script.phrase(script.phrases.plan)
    script.user(words)
    _write_plan(script, plan)
    script.reply(
        script.words(script.phrases.planned),
        change=lambda truth: replace(truth, closed=(*truth.closed, core)),
    )
    ends = ["completed", "completed", "cancelled", "completed"]
    for place, end in enumerate(ends):
        yield from _some_turns(script)
        script.user(script.words(script.phrases.go_on))
        plan[place] = (texts[place], "in_progress")
        _write_plan(script, plan)
        script.run("make charts", script.code(10))
        if script.chance(0.7):
            plan[place] = (texts[place], end)
            _write_plan(script, plan)
        script.reply(script.words(script.phrases.went_on))
    yield


def blocked(script: Script) -> Iterator[None]:
    """A command fails, the work on it stops, and many turns later the same command succeeds."""
    number = script.new("number")
    block = Blocker(f"make chart-{number}", f"error: no route to gauge {script.new('number')}")
    script.ask(block.command, script.phrases.start)
    output = f"Exit code 2\n{script.code(6)}\n{block.error}"
    script.run(
        block.command,
        output,
        lambda truth: replace(truth, blockers=(*truth.blockers, block)),
    )
    script.reply(script.words(script.phrases.stuck, x=block.command, error=block.error))
    yield from _some_turns(script)
    script.ask(block.command, script.phrases.retry)
    script.run(
        block.command,
        script.code(6),
        lambda truth: replace(
            truth,
            blockers=tuple(each for each in truth.blockers if each != block),
            closed=(*truth.closed, block.error),
        ),
    )
    script.reply(
        script.words(script.phrases.works, x=block.command),
        change=lambda truth: truth.ended(block.command),
    )
    yield


def committed(script: Script) -> Iterator[None]:
    """A thing is done, and its file is committed turns later; others stay uncommitted."""
    thing = script.new("thing")
    script.ask(thing, script.phrases.asks)
    script.finish(thing)
    yield from _some_turns(script)
    script.ask(thing, script.phrases.commit)
    if script.path(thing) not in script.truth.changed:
        script.edit(script.path(thing), "return list(rows)", old="return rows")
    _commit(script, script.path(thing), (script.path(thing),), thing)
    yield


EVENTS: dict[str, Storyline] = {
    each.__name__: each
    for each in (
        *(finished, deferred, lingering, dropped, reopened, interrupted, question),
        *(bounded, corrected, aimed, planned, blocked, committed),
    )
}
_ONCE = frozenset({"lingering", "aimed", "planned"})


def session(language: str, seed: int, kinds: tuple[str, ...] = tuple(EVENTS)) -> Session:
    """Return the session that a seed draws from events of some kinds, and finished things."""
    script = Script(Random(f"{language} {seed}"), PHRASES[language])
    sizes = [script.random.randint(*(_BETWEEN if fold else _OPENING)) for fold in range(FOLDS)]
    _open(script)
    waiting = script.random.sample(kinds, len(kinds))
    if script.chance(0.5):
        # The goal is said first; else it comes up late.
        waiting.sort(key="aimed".__eq__)
    threads: list[Iterator[None]] = []
    happened: set[str] = set()
    while script.size < sum(sizes):
        if len(threads) < _MOST_AT_ONCE and waiting:
            kind = waiting.pop()
            happened.add(kind)
            waiting = waiting if kind in _ONCE else [kind, *waiting]
            threads.append(EVENTS[kind](script))
        _go_on(script, threads)
    return Session(tuple(script.steps), _cuts(script, sizes), frozenset(happened), script.phrases)


def _go_on(script: Script, threads: list[Iterator[None]]) -> None:
    """Take up a storyline; where it waits, let something else be done."""
    turns = len(script.turns)
    thread = script.random.choice(threads) if threads else iter(())
    if next(thread, thread) is thread and threads:
        threads.remove(thread)
    if len(script.turns) == turns:
        next(finished(script))
    if len(script.truth.changed) > _MOST_CHANGED:
        _commit_everything(script)


def _open(script: Script) -> None:
    """Begin with what has nothing to do with the rest, now and then."""
    asked, answered = script.phrases.opening
    if script.chance(0.5):
        words, core = script.phrase(asked)
        script.user(words)
        script.reply(answered, change=lambda truth: replace(truth, closed=(*truth.closed, core)))


def _cuts(script: Script, sizes: list[int]) -> tuple[int, ...]:
    """Return after how many steps the session is folded: at any place of a turn."""
    ends = [step.size for step in script.steps]
    places = [bisect_left(ends, size) + 1 for size in accumulate(sizes)]
    # Most of a turn's weight is in what tools return; a few steps on, anybody may be speaking.
    return tuple(min(place + script.random.randint(0, 4), len(ends)) for place in places)


def _some_turns(script: Script) -> Iterator[None]:
    """Let others speak for a while."""
    until = len(script.turns) + script.random.randint(2, 7)
    while len(script.turns) < until:
        yield


def _finish_on_the_side(script: Script, thing: str) -> None:
    """Do a thing together with another one that the user asks for."""
    other = script.new("thing")
    script.ask(other, script.phrases.asks)
    number = script.work(thing)
    too = script.words(script.phrases.done_too, x=thing, n=number)
    script.finish(other, too, lambda truth: truth.ended(thing, number))


def _commit_everything(script: Script) -> None:
    """Let the user ask for a commit of all that was changed."""
    script.user(script.words(script.phrases.commit_all))
    _commit(script, "-A", script.truth.changed)


def _commit(script: Script, added: str, paths: tuple[str, ...], thing: str = "") -> None:
    id_ = f"{script.random.randrange(16**6, 16**7):x}"
    title = f"Save work {script.new('number')} of the harbor office"
    commits = tuple(Commit(each, id_, title) for each in paths)
    script.run(
        f'git add {added} && git commit -m "{title}"',
        f"[main {id_}] {title}\n {len(paths)} files changed, 12 insertions(+)",
        lambda truth: truth.committed(commits),
    )
    script.reply(
        script.words(script.phrases.committed, id=id_),
        change=lambda truth: truth.ended(thing, id_) if thing else truth,
    )


def _write_plan(script: Script, plan: list[tuple[str, str]]) -> None:
    items = tuple(plan)
    todos = [
        {"id": str(place), "content": text, "status": status}
        for place, (text, status) in enumerate(items)
    ]
    script.call("todo_write", {"todos": todos}, "ok", lambda truth: replace(truth, plan=items))
