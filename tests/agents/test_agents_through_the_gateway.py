"""The agents themselves work through the gateway, far beyond what their provider takes.

`make agents` installs them and runs this; without them there is nothing to test.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from holdfast.ports import Listing
from holdfast.recognition.atoms import bare_call_id
from holdfast.recognition.request import MESSAGES
from holdfast.session import Kind
from holdfast.transcript import Message, Role, said_in
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.registry import Conversations
from tests.agents.commands import installed
from tests.agents.programs import PROGRAMS, Desk, Program
from tests.agents.small_model import WINDOW, SmallModel, tapped_gateway, tokens

BIN = installed()
pytestmark = pytest.mark.timeout(900)
STEPS, TURNS = 42, 3
"""Tool steps of each turn."""
LINES = 100
"""Lines of what a step shows: all steps together are three times the window of the provider."""
TOLD_WINDOWS = {"kimi": 100_000} | dict.fromkeys(
    ("hermes-database", "openclaw-database", "copilot"), 200_000
)
"""What agents are told that their model takes. All steps together are more, but for Hermes and
OpenClaw, which go by their own estimate; Kimi keeps half of it for answers. Others: 64,000."""
BY_USAGE = ("claude-code", "codex", "pi", "opencode-database", "kimi")
"""Agents that compact by themselves when the usage that is reported nears their window."""
MISSING = "no result in the window"
"""What stands where the result of a call is not known; every call of these agents has one."""
FOLDED = re.compile(r"holdfast summary v1 check [0-9a-f]+")
ASKED = "The release is called Osprey-4711. Never write into legacy/billing-7. List it all, ask-1."
DEPLOY = """echo 'building image 7f3c9ab1'
echo 'ERROR: deploy of staging failed, ticket OPS-90177' >&2
exit 1
"""
SAID = "It is the timeout of 48213 ms in config/relay-9.toml that stops the deploy."
FACTS = ("Osprey-4711", "legacy/billing-7", "OPS-90177", "48213", "config/relay-9.toml")
"""What the user, a tool and the assistant said in the first turn."""
NOTE = "note"
"""What an agent writes in a user's name."""
Piece = tuple[str, str, str]
"""Who said what: a text, a call or a result, which has the id of its call beside it."""


def step_text(step: int) -> str:
    return f"Step {step}. {SAID}" if step == 9 else f"Step {step}."


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.name)
def test_a_task_far_over_the_window_completes_with_everything_kept(
    program: Program, tmp_path: Path
) -> None:
    model, store = SmallModel(program, tmp_path / "project", step_text), tmp_path / "store"
    with tapped_gateway(model, store) as url:
        desk = _desk(program, tmp_path, url)
        model.left = STEPS
        desk.ask(ASKED)
        for turn in range(2, TURNS + 1):
            model.left = STEPS
            desk.ask_again(f"List the rest as well, ask-{turn}.")
    steps = [each for each in model.taken if each.kind == "step"]
    folds = set(FOLDED.findall(json.dumps([each.body for each in steps])))
    last = json.dumps(steps[-1].body)
    lost = [fact for fact in FACTS if fact not in last]
    print(
        f"{program.name}: {model.steps} steps, {TURNS} turns, largest request",
        f"{max(each.size for each in model.taken)}, refused {len(model.refused)},",
        f"folds {len(folds)}, {len(FACTS) - len(lost)} of {len(FACTS)} facts,",
        f"beside it {Counter(each.kind for each in model.taken if each.kind != 'step')}",
    )
    assert model.steps == TURNS * STEPS
    assert model.refused == []
    assert model.problems == []
    assert folds
    assert all(MISSING not in json.dumps(each.body) for each in steps)
    assert f"ask-{TURNS}" in last
    assert lost == []
    if program.name in BY_USAGE:
        assert max(map(_weight, model.came)) > desk.window
    assert [each for each in model.taken if each.kind == "compaction"] == []
    sent = [_pieces(program.dialect, model.came[each.tapped]) for each in steps]
    stored = _stored(store)
    _nothing_is_lost(sent, stored)
    answers = [text for who, text, _ in stored[-1] if who == "assistant"]
    assert any(text.startswith("Done, say-") for text in answers[-2:])


def _weight(body: Mapping[str, Any]) -> int:
    return tokens(json.dumps(body).encode())


def _desk(program: Program, folder: Path, url: str) -> Desk:
    """Return a desk with a project in which there is something to list and something that fails."""
    window = TOLD_WINDOWS.get(program.name, 2 * WINDOW)
    desk = Desk(program, folder / "home", folder / "project", url, BIN, window)
    desk.prepare()
    (desk.project / "deploy.sh").write_text(DEPLOY)
    (desk.project / "listing").mkdir()
    for step in range(1, TURNS * STEPS + 1):
        lines = [f"out-{step} line {number} of the listing\n" for number in range(1, LINES + 1)]
        (desk.project / "listing" / f"{step}.txt").write_text("".join(lines))
    return desk


def _pieces(dialect: str, body: Mapping[str, Any]) -> list[Piece]:
    return list(_said(DIALECTS[dialect].decode(Body(body[MESSAGES[dialect]]))))


def _said(messages: Iterable[Message]) -> Iterator[Piece]:
    for message in messages:
        if message.role is Role.SYSTEM:
            continue
        text, typed = (" ".join(each.split()) for each in (message.text, said_in(message)))
        if message.role is Role.USER and typed != text:
            yield NOTE, text, ""
        if typed or (text and message.role is not Role.USER):
            yield message.role.value, typed or text, ""
        for call in message.calls:
            written = json.dumps(json.loads(call.arguments), sort_keys=True)
            yield "call", f"{call.name} {written}", ""
        for result in message.results:
            yield "result", " ".join(result.text.split()), bare_call_id(result.call_id)


def _stored(home: Path) -> list[list[Piece]]:
    """Return what was said in each conversation with the model that works, the oldest first.

    Gemini CLI asks others whether it runs in circles, and gives answers back with ids of its own:
    one stands right before its echo.
    """
    place = home / "profiles" / "default" / "holdfast.db"
    found: list[list[Piece]] = []
    with Conversations(str(place)) as conversations:
        store = conversations.store
        sessions = sorted(store.sessions(Listing(limit=100)), key=lambda each: each.id)
        works = max(sessions, key=lambda each: len([*store.since(each.id, 0)])).model
        for session in (each for each in sessions if each.model == works):
            messages = [
                [*_said([entry.message])]
                for entry in store.since(session.id, 0)
                if entry.kind is Kind.SAID and entry.message.role is not Role.SYSTEM
            ]
            found.append([*chain.from_iterable(each for each, _ in groupby(messages))])
    return found


def _notes_alone(said: Sequence[Piece]) -> Iterator[str]:
    """Yield notes of a client that stand for themselves."""
    for (who, text, _), (after, *_) in pairwise([*said, ("", "", "")]):
        if who == NOTE and after != Role.USER.value:
            yield text


def _nothing_is_lost(sent: list[list[Piece]], stored: list[list[Piece]]) -> None:
    """Hold the store against what the client ever sent: everything, in order, once.

    Results count as they were told first, and notes around words of a user do not count: some
    clients write others over them. OpenClaw moves a note to the end of every request.
    """
    first: dict[Piece, Piece] = {}
    often = Counter[Piece]()
    for each in sent:
        often |= Counter(each)
        for who, text, call in each:
            first.setdefault((who, "" if call else text, call), (who, text, call))
    said = [*chain.from_iterable(stored)]
    notes = " ".join(text for who, text, _ in said if who == NOTE)
    known = {piece: place for place, piece in reversed([*enumerate(said)])}
    told = [piece for piece in first.values() if piece[0] != NOTE]
    assert [piece for piece in told if piece not in known] == []
    places = [known[piece] for piece in told]
    assert places == sorted(places)
    alone = chain.from_iterable(map(_notes_alone, sent))
    assert [text for text in dict.fromkeys(alone) if text not in notes] == []
    for each in stored:
        times = Counter(piece for piece in each if piece[0] != NOTE)
        assert [piece for piece in times if times[piece] > often.get(piece, 1)] == []


@pytest.mark.parametrize(
    "program",
    [each for each in PROGRAMS if each.name in BY_USAGE],
    ids=lambda each: each.name,
)
def test_an_agent_compacts_when_it_is_told_of_a_full_window(
    program: Program, tmp_path: Path
) -> None:
    """That none of them does through the gateway is worth something because of this."""
    model = SmallModel(program, tmp_path / "project", step_text)
    with tapped_gateway(model, tmp_path / "store") as url:
        desk = _desk(program, tmp_path, url)
        model.left, model.reported = 30, 99_000
        desk.ask(ASKED)
        desk.ask_again("List the rest as well, ask-2.")
    assert "compaction" in [each.kind for each in model.taken]
