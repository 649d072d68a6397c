"""Traffic of made-up agents, of which the truth is known: nothing is joined, nothing is split."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.gateway.replay import Decision, RecordedRequest, replay
from holdfast.recognition.atoms import Atom, atoms_of
from holdfast.recognition.matching import Continuity

PATH = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
GOES_ON = {Continuity.EXTENDS, Continuity.RETRY, Continuity.REVISION}
REMINDER = "<system-reminder>The time is {}.</system-reminder>"
SUMMARIZE = (
    "Respond with text only, do not call any tools. Write a detailed summary of the conversation "
    "so far, so that another agent can go on. " + "Tell every detail. " * 20
)


@dataclass
class Exchange:
    """Calls that an agent was answered with, and what they gave."""

    calls: list[tuple[str, dict[str, object]]]
    results: list[str]


@dataclass
class Agent:
    """A client with a history of its own, which it tells a little otherwise each time."""

    name: str
    chance: random.Random
    dialect: str
    opening: str
    id: str
    """What it sends as its session; nothing if it sends none."""
    wild: bool
    """Whether prompt and tools change with every request."""
    moves: bool
    """Whether words of its own move to the end of every request."""
    history: list[str | Exchange] = field(default_factory=list)
    """In turn: what the user said, what the model said; exchanges stand between."""
    count: int = 0
    turns: int = 0

    def __post_init__(self) -> None:
        self.history = self.history or [self.opening]

    def answer(self) -> list[Atom]:
        """Go on by one answer of the model; return its atoms."""
        chance = self.chance
        if chance.random() < 0.25:
            self.history += [f"Done {chance.random()}.", f"Next, please: {chance.random()}."]
            said: dict[str, object] = {"role": "assistant", "content": self.history[-2]}
            return [*atoms_of(said, self.dialect)]
        calls: list[tuple[str, dict[str, object]]] = [
            (f"call_{chance.getrandbits(60):x}", {"path": f"{chance.choice('abc')}.py"})
            for _ in range(chance.choice([1, 1, 2, 3]))
        ]
        self.history.append(Exchange(calls, [f"text of {path}" for _, path in calls]))
        return [*atoms_of(self._calls(calls), self.dialect)]

    def request(self, **more: Any) -> dict[str, object]:
        """Return the body of the next request."""
        self.count += 1
        mark = self.count if self.wild else 0
        tools = [{"type": "function", "function": {"name": f"tool_{n}_{mark}"}} for n in range(6)]
        messages = [*self._messages()]
        if self.moves:
            messages.append({"role": "user", "content": REMINDER.format(self.count)})
        system = f"{mark} You are {self.name}'s agent."
        if self.dialect == "anthropic":
            return {"system": system, "messages": messages, "tools": tools, **more}
        first = {"role": "system", "content": system}
        return {"messages": [first, *messages], "tools": tools, **more}

    def clear(self) -> bool:
        """Replace an old result, if enough was called after it."""
        places = [at for at, each in enumerate(self.history) if isinstance(each, Exchange)]
        if len(places) < 4:
            return False
        old = self.history[self.chance.choice(places[:-3])]
        assert isinstance(old, Exchange)
        old.results = ["[cleared]" for _ in old.results]
        return True

    def fork(self, name: str) -> "Agent":
        told = [
            Exchange([*each.calls], [*each.results]) if isinstance(each, Exchange) else each
            for each in self.history
        ]
        return Agent(
            name, self.chance, self.dialect, self.opening, f"{name}" if self.id else "",
            self.wild, self.moves, told,
        )  # fmt: skip

    def compact(self) -> None:
        """Begin anew with a summary and the last exchanges."""
        kept = [each for each in self.history if isinstance(each, Exchange)][-2:]
        self.history = [f"Summary of all: {self.chance.random()}", *kept]

    def _messages(self) -> Iterator[dict[str, object]]:
        role = "user"
        for each in self.history:
            if isinstance(each, Exchange):
                yield self._calls(each.calls)
                yield from self._results(each)
                role = "assistant"
            else:
                space = "\n " if self.chance.random() < 0.3 else " "
                yield {"role": role, "content": each.replace(" ", space, 1)}
                role = "assistant" if role == "user" else "user"

    def _calls(self, calls: list[tuple[str, dict[str, object]]]) -> dict[str, object]:
        bare = self.chance.random() < 0.5
        named = [
            (id_.replace("_", "") if bare else id_, {**args, "all": False} if bare else args)
            for id_, args in calls
        ]
        if self.dialect == "anthropic":
            blocks = [
                {"type": "tool_use", "id": id_, "name": "read", "input": args}
                for id_, args in named
            ]
            return {"role": "assistant", "content": blocks}
        made = [
            {"id": id_, "function": {"name": "read", "arguments": json.dumps(args)}}
            for id_, args in named
        ]
        return {"role": "assistant", "content": None, "tool_calls": made}

    def _results(self, exchange: Exchange) -> Iterator[dict[str, object]]:
        told = [
            (id_, text) for (id_, _), text in zip(exchange.calls, exchange.results, strict=True)
        ]
        self.chance.shuffle(told)
        if self.dialect == "anthropic":
            blocks: list[dict[str, object]] = [
                {"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in told
            ]
            if self.chance.random() < 0.5:
                blocks[-1]["cache_control"] = {"type": "ephemeral"}
            yield {"role": "user", "content": blocks}
            return
        for id_, text in told:
            yield {"role": "tool", "tool_call_id": id_, "content": text}


@dataclass
class Traffic:
    """Requests of several agents, and what each of them is."""

    chance: random.Random
    requests: list[RecordedRequest] = field(default_factory=list)
    truth: list[tuple[str, str, str]] = field(default_factory=list)
    """For each request the conversation, how it goes on, and whose branch or successor it is."""

    def send(self, agent: Agent, how: str, body: dict[str, object], kin: str = "") -> None:
        """Send a request; unless it is a side call, it is answered."""
        headers = {"x-session-id": agent.id} if agent.id else {}
        agent.turns += how != "side call"
        answer = None if how == "side call" else agent.answer()
        if answer is not None and not agent.wild and self.chance.random() < 0.2:
            # The gateway did not get to record it.
            answer = None
        self.requests.append(
            RecordedRequest(str(len(self.requests)), PATH[agent.dialect], headers, body, answer)
        )
        self.truth.append((agent.name, how, kin))

    def cut_off(self, agent: Agent) -> None:
        """Send an answer that was cut off back to be gone on with, and then tell it whole."""
        body, part = agent.request(), f"It is, as {self.chance.random()}"
        trailing = {"role": "assistant", "content": part}
        body["messages"] = [*body["messages"], trailing]  # type: ignore[misc] - a list
        headers = {"x-session-id": agent.id} if agent.id else {}
        label = str(len(self.requests))
        self.requests.append(RecordedRequest(label, PATH[agent.dialect], headers, body))
        self.truth.append((agent.name, "extends", ""))
        agent.history += [f"{part}, long.", "And now?"]
        self.send(agent, "extends", agent.request())


def traffic(seed: int) -> Traffic:
    """Make up what two to four agents send, in any order."""
    chance = random.Random(seed)
    made = Traffic(chance)
    same = chance.random() < 0.5
    agents: list[Agent] = []

    def begin() -> None:
        if same and any(each.turns < 2 and not each.id for each in agents):
            # Before either is answered, two that begin alike without ids are one.
            return
        name = f"agent {len(made.truth)}"
        opening = "Please comment the helpers." if same else f"Do it, {chance.random()}."
        id_ = chance.choice(["", name, "shared"])
        if id_ == "shared" and any(each.id == id_ and each.turns < 2 for each in agents):
            return
        new = Agent(
            name, chance, chance.choice(["openai", "anthropic"]), opening, id_,
            wild=chance.random() < 0.3, moves=chance.random() < 0.3,
        )  # fmt: skip
        agents.append(new)
        made.send(new, "root", new.request())

    begin()
    for _ in range(chance.randrange(5, 40)):
        agent = chance.choice(agents)
        match chance.randrange(12):
            case 0 if len(agents) < 4:
                begin()
            case 1:
                body = agent.request()
                made.send(agent, "extends", body)
                last = made.requests[-1]
                # The same again, before anybody could have seen an answer.
                made.requests.append(
                    RecordedRequest(f"{last.label}r", last.path, last.headers, body)
                )
                made.truth.append((agent.name, "retry", ""))
            case 2 if agent.clear():
                made.send(agent, "revision", agent.request())
            case 6 if not agent.moves and _is_asked(agent):
                made.cut_off(agent)
            case 3 if len(agents) < 4 and agent.id and agent.turns > 1:
                child = agent.fork(f"fork {len(made.truth)}")
                agents.append(child)
                child.history[-1:] = _other_way(child)
                made.send(child, "branch", child.request(), agent.name)
            case 4:
                made.send(agent, "side call", agent.request(tools=[]))
            case 5 if sum(isinstance(each, Exchange) for each in agent.history) > 3:
                asked = agent.request()
                asked["messages"] = [
                    *asked["messages"],  # type: ignore[misc] - a list
                    {"role": "user", "content": SUMMARIZE},
                ]
                made.send(agent, "side call", asked)
                before = agent.name
                agent.name = f"after {len(made.truth)}"
                agent.compact()
                made.send(agent, "root", agent.request(), before)
            case _:
                made.send(agent, "extends", agent.request())
    return made


def _is_asked(agent: Agent) -> bool:
    """Say whether the model is to speak: the user did, or calls gave their results."""
    words = [each for each in agent.history if isinstance(each, str)]
    return isinstance(agent.history[-1], Exchange) or len(words) % 2 == 1


def _other_way(agent: Agent) -> list[str | Exchange]:
    last = agent.history[-1]
    if isinstance(last, Exchange):
        return [last, f"So: {agent.chance.random()}.", f"Otherwise: {agent.chance.random()}."]
    return [f"Otherwise: {agent.chance.random()}."]


def family(name: str, truth: list[tuple[str, str, str]]) -> set[str]:
    """Return a conversation with all that it was forked from, or that was forked from it."""
    names = {name}
    for _ in truth:
        links = [(one, kin) for one, how, kin in truth if how == "branch" and {one, kin} & names]
        names |= {each for link in links for each in link}
    return names


def mistakes(made: Traffic, decisions: list[Decision]) -> list[str]:
    """Return where the decisions are not the truth."""
    sessions: dict[str, str] = {}
    found: list[str] = []
    for (name, how, kin), each in zip(made.truth, decisions, strict=True):
        told = f"{each.label}: {how} of {name} {kin}, but {each.how} ({each.why})"
        known = sessions.setdefault(name, each.conversation) if how != "side call" else ""
        if how == "side call":
            found += [told] * (each.how is not Continuity.SIDE)
        elif how in ("root", "branch"):
            found += [told] * (str(each.how) != how)
            # What a fork and the session that it was made of have in common is both of theirs.
            kin_sessions = {sessions[each] for each in family(kin, made.truth) if each in sessions}
            found += [told] * (how == "branch" and each.origin not in kin_sessions)
            found += [told] * (how == "root" and bool(kin) and each.follows != sessions[kin])
        else:
            found += [told] * (each.conversation != known or each.how not in GOES_ON)
            found += [told] * (how == "retry" and each.how is not Continuity.RETRY)
    owners = set(sessions.values())
    return found + ["two are one"] * (len(owners) != len(sessions))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_requests_of_several_agents_are_told_apart_and_put_together(seed: int) -> None:
    made = traffic(seed)
    assert mistakes(made, [*replay(made.requests)]) == []
