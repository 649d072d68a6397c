"""Trajectories for tests, and what the specification says of them in the plainest code."""

import json
import random
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from hypothesis import strategies as st

from holdfast.tokens import IMAGE_TOKENS, Estimator
from holdfast.trajectories.items import Item, TrajectoryBatch
from holdfast.trajectories.plan import TrajectoryPolicy
from holdfast.trajectories.work import FinishedTrajectory, Outcome, Work, process

Turns = list[dict[str, object]]

SMALL = TrajectoryPolicy(target_tokens=300, summary_tokens=80)
WORK = Work(policy=SMALL, tokenizer="estimate")
count = Estimator().count

_VOCABULARY = (
    "the agent opened src/app/main.py and ran pytest -q which failed with an AssertionError in "
    "test_login because the session token was None so it set TIMEOUT=30 and tried again then it "
    "wrote a note about port 8080 and decided to keep sqlite as the store naïve 日本語 done"
).split()
_LETTERS = string.ascii_letters + string.digits
_DICE = random.Random(7)


def made(length: int, alphabet: str = _LETTERS) -> str:
    """Return characters as a vendor would draw them; made here, so that no token is stored."""
    return "".join(_DICE.choices(alphabet, k=length - 2)) + "a7"


SECRETS = {
    "github": "ghp_" + made(36),
    "openai": "sk-proj-" + made(100),
    "anthropic": "sk-ant-api03-" + made(93) + "AA",
    "npm": "npm_" + made(36),
    "slack": "xoxb-123456789012-123456789012-" + made(24),
    "aws": "AKIA" + made(16, string.ascii_uppercase + "234567").upper(),
}
"""Invented credentials of kinds that are masked without a name beside them."""


def words(number: int, first: int = 0) -> str:
    """Return so many words of a story about work."""
    return " ".join(_VOCABULARY[(first + each) % len(_VOCABULARY)] for each in range(number))


@dataclass(frozen=True, slots=True)
class Said:
    """A turn before it is written in a shape."""

    speaker: str
    """`system`, `human`, `gpt` or `tool`."""
    text: str
    calls: int = 0


def sharegpt(said: Sequence[Said]) -> Turns:
    """Return turns as ShareGPT writes them."""
    return [{"from": each.speaker, "value": each.text} for each in said]


def openai(said: Sequence[Said]) -> Turns:
    """Return messages as OpenAI chat writes them, a call for each result that follows."""
    turns: Turns = []
    waiting: list[str] = []
    for number, each in enumerate(said):
        role = {"human": "user", "gpt": "assistant"}.get(each.speaker, each.speaker)
        turn: dict[str, object] = {"role": role, "content": each.text}
        if each.calls:
            waiting = [f"call_{number}_{call}" for call in range(each.calls)]
            turn["tool_calls"] = [
                {
                    "id": waiting[call],
                    "type": "function",
                    "function": {"name": "bash", "arguments": json.dumps({"n": call})},
                }
                for call in range(each.calls)
            ]
        if each.speaker == "tool":
            turn["tool_call_id"] = waiting.pop(0)
        turns.append(turn)
    return turns


def in_parts(said: Sequence[Said]) -> Turns:
    """Return turns as LLaMA-Factory writes them: lists of parts."""
    return [
        {
            "role": {"human": "user", "gpt": "assistant"}.get(each.speaker, each.speaker),
            "content": [{"type": "text", "value": each.text}],
        }
        for each in said
    ]


SHAPES: dict[str, Callable[[Sequence[Said]], Turns]] = {
    "sharegpt": sharegpt,
    "openai": openai,
    "parts": in_parts,
}


@st.composite
def stories(draw: st.DrawFn, *, longest: int = 60, least: int = 1) -> list[Said]:
    """Draw a trajectory as agents make them: requests, calls with their results, answers."""
    shortest = draw(st.sampled_from([longest // 2, longest // 3, 0]))
    sizes = st.integers(shortest, longest)

    def text() -> str:
        return words(draw(sizes), draw(st.integers(0, 50)))

    said = [Said("system", text())] if draw(st.booleans()) else []
    for _ in range(draw(st.sampled_from([3, 2, least, 5]))):
        said.append(Said("human", text()))
        for _ in range(draw(st.sampled_from([3, 4, 1, 0, 2, 6]))):
            results = draw(st.integers(0, 3))
            said.append(Said("gpt", text(), results))
            said += [Said("tool", text()) for _ in range(results)]
    return said


@st.composite
def trajectories(draw: st.DrawFn) -> Turns:
    """Draw the turns of a trajectory in any shape."""
    return SHAPES[draw(st.sampled_from(sorted(SHAPES)))](draw(stories()))


targets = st.sampled_from([700, 450, 1_000, 300]).map(
    lambda target: TrajectoryPolicy(target_tokens=target, summary_tokens=80)
)
"""Policies under which trajectories that are drawn fit, are brought to fit, or stay too heavy."""


def long_story(exchanges: int = 12, size: int = 30) -> list[Said]:
    """Return a trajectory that is too heavy for `SMALL`."""
    said = [Said("system", "You are an agent."), Said("human", "Make the tests pass.")]
    for number in range(exchanges):
        said += [Said("gpt", words(size, number), 1), Said("tool", words(size, number * 3))]
    return [*said, Said("human", "Is it done?"), Said("gpt", "All tests pass.")]


def speaker_of(turn: dict[str, object]) -> str:
    """Return who speaks in a turn of any shape, in the words of the specification."""
    named = cast("str", turn["from"] if "from" in turn else turn["role"])
    known = {
        **dict.fromkeys(["system", "developer"], "system"),
        **dict.fromkeys(["human", "user"], "human"),
        **dict.fromkeys(["gpt", "assistant", "chatgpt", "bing", "function_call", "model"], "gpt"),
        **dict.fromkeys(["tool", "observation", "function", "function_response"], "tool"),
    }
    return known[named]


def weight_of(turn: dict[str, object], counted: Callable[[str], int] = count) -> int:
    """Return what the words, the reasoning and the calls of a turn weigh."""
    if "from" in turn:
        return counted(cast("str", turn["value"]))
    total = 0
    content = turn.get("content")
    if isinstance(content, str):
        total += counted(content)
    for part in cast("list[dict[str, object]]", content if isinstance(content, list) else []):
        if part["type"] == "image_url":
            total += IMAGE_TOKENS
        else:
            total += counted(cast("str", part.get("value", part.get("text"))))
    for name in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(turn.get(name), str):
            total += counted(cast("str", turn[name]))
    for call in cast("list[dict[str, dict[str, str]]]", turn.get("tool_calls") or []):
        total += counted(call["function"]["name"]) + counted(call["function"]["arguments"])
    return total


def expected_region(
    speakers: Sequence[str], tokens: Sequence[int], policy: TrajectoryPolicy = SMALL
) -> tuple[int, int] | None:
    """Return the turns that have to be replaced, from the words of the specification.

    Protected are the first turns of system, human, gpt and tool, and the last. Between those of
    the first half and those of the second lies what can be replaced, in whole groups of a turn and
    the results behind it. Groups are taken from the front until they weigh what is above the
    target, and the summary.
    """
    number = len(speakers)
    if sum(tokens) <= policy.target_tokens:
        return None
    firsts = [
        speakers.index(name) for name in ("system", "human", "gpt", "tool") if name in speakers
    ]
    lasts = range(max(number - policy.protect_last, 0), number)
    begin = max([each for each in firsts if each < number // 2], default=-1) + 1
    end = min([*lasts, *(each for each in firsts if each >= number // 2)], default=number)
    groups: list[list[int]] = []
    for place, name in enumerate(speakers):
        if name != "tool" or not groups:
            groups.append([])
        groups[-1].append(place)
    free = [group for group in groups if group[0] >= begin and group[-1] < end]
    free = [group for group in free if speakers[group[0]] != "tool"]
    wanted = sum(tokens) - policy.target_tokens + policy.summary_tokens
    taken: list[int] = []
    for group in free:
        if sum(tokens[each] for each in taken) >= wanted:
            break
        taken += group
    if sum(tokens[each] for each in taken) <= policy.summary_tokens:
        return None
    return taken[0], taken[-1] + 1


def lined(value: object) -> bytes:
    """Return a value as a compact line of JSON, without its end."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def outcomes(*lines: bytes, work: Work = WORK, source: str = "set.jsonl") -> tuple[Outcome, ...]:
    """Return what becomes of lines."""
    items = tuple(Item(number, line) for number, line in enumerate(lines, 1))
    return process(TrajectoryBatch(source, items), work)


def outcome(line: bytes, work: Work = WORK) -> Outcome:
    """Return what becomes of a line."""
    (only,) = outcomes(line, work=work)
    return only


def finished(value: object, work: Work = WORK) -> FinishedTrajectory:
    """Return what becomes of a trajectory that is done in the end."""
    done = outcome(value if isinstance(value, bytes) else lined(value), work)
    assert isinstance(done, FinishedTrajectory), done
    return done
