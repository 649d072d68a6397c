"""What the pages say is true: examples run, links lead somewhere, tables match the code."""

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from openai.types.chat import ChatCompletion

import holdfast
from holdfast.cli.sample import sample_session
from holdfast.cli.serve import AGENTS, pointing, url_of
from holdfast.compaction import Policy
from holdfast.config import KEYS
from holdfast.engines import Engine, EngineDeps
from holdfast.formats import FORMATS
from holdfast.session import Session
from holdfast.summary.record import HEADINGS
from holdfast.system import SystemClock
from holdfast.tokens import Scale
from holdfast.transcript import Transcript, shape
from holdfast.wire import DIALECTS, Body
from holdfast.wiring import Conversation, Knobs
from tests.cli.running import Ended, run
from tests.cli.stored import compacted
from tests.conftest import REPOSITORY
from tests.trajectories.bulk import trajectory, write_lines

DOCS = REPOSITORY / "docs"
README = REPOSITORY / "README.md"
SESSION = REPOSITORY / "tests" / "fixtures" / "agent_session.json"
PAGES = (*sorted(REPOSITORY.glob("*.md")), *sorted(DOCS.rglob("*.md")))
EXAM = REPOSITORY / "bench" / "results"
REFERENCE = DOCS / "reference"
GENERATOR = DOCS / "generate_reference.py"

README_LINES = 150
WORDS = 25_000
MANNERS = re.compile(r"\b(?:[Ss]imply|[Jj]ust|Note that|[Oo]bviously)\b|[\u2600-\u27bf🌀-🫿]")
LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(
    r"(?:[\w.-]+/)+[\w.-]+\.(?:py|md|json|jsonl|toml)|(?:src|tests|docs|bench)/[\w./-]*"
)
NAME = re.compile(r"holdfast(?:\.\w+)+")
MADE_BY_A_RUN = ("bench/.peers", "bench/results")


@dataclass(frozen=True, slots=True)
class Example:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


def examples(page: Path) -> Iterator[Example]:
    start, language, found = 0, "", list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if not line.startswith("```"):
            found.append(line)
        elif start:
            yield Example(page, start, language, "\n".join(found) + "\n")
            start = 0
        else:
            start, language, found = number, line.removeprefix("```").strip(), []


def prose(page: Path) -> str:
    """Return the page without its fenced blocks."""
    text = page.read_text("utf-8")
    for example in examples(page):
        text = text.replace(f"```{example.language}\n{example.code}```", "")
    return text


def relative(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


TAUGHT = [each for page in (README, *sorted(DOCS.rglob("*.md"))) for each in examples(page)]
PYTHON = [each for each in TAUGHT if each.language == "python"]
COMMANDS = [
    (each, line)
    for each in TAUGHT
    if each.language == "sh"
    for line in each.code.splitlines()
    if "holdfast " in line and not line.startswith(("pip ", "eval ", "#"))
]


def surroundings() -> dict[str, object]:
    """Return what an example may take for granted: a long conversation and a client."""
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4.1",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Done."},
            }
        ],
        "usage": {"prompt_tokens": 21_000, "completion_tokens": 2, "total_tokens": 21_002},
    }

    def create(**_: object) -> object:
        return ChatCompletion.model_validate(answer)

    completions = SimpleNamespace(completions=SimpleNamespace(create=create))
    messages = json.loads(SESSION.read_bytes())
    turns = trajectory(1, turns=200)["conversations"]
    return {"messages": messages, "turns": turns, "client": SimpleNamespace(chat=completions)}


@pytest.mark.parametrize("example", PYTHON, ids=str)
def test_every_python_example_runs_and_prints_what_it_says(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("session.json").write_bytes(SESSION.read_bytes())
    printed = io.StringIO()
    with redirect_stdout(printed):
        # Who begins with the README has nothing but it.
        known = {} if example.page == README else surroundings()
        exec(compile(example.code, str(example), "exec"), known)
    promised = re.findall(r"^ *#> ?(.*)$", example.code, re.M)
    if promised or printed.getvalue():
        assert printed.getvalue().splitlines() == promised


def rollout() -> str:
    """Return the session as Codex would have kept it."""
    openai, responses = DIALECTS["openai"], DIALECTS["responses"]
    items = responses.encode(openai.decode(Body(json.loads(SESSION.read_bytes())))).messages
    lines = [{"type": "session_meta", "payload": {"id": "c-1"}}]
    lines += [{"type": "response_item", "payload": item} for item in items]
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture(scope="session")
def stored_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with a session to undo and redo, an old one, and one in the trash."""
    home = tmp_path_factory.mktemp("stored")
    place = home / "profiles" / "default" / "holdfast.db"
    with Conversation.open(compacted(place), store=place, active=False) as chat:
        chat.rewind()
        assert chat.undo()
        chat.add_user("Where is the staging key?")
        store = chat.store
        for id_ in ("20260101_120000_00c0de", "20260102_120000_00c0de"):
            store.create(Session(id=id_, source="cli", started=1, title="Old"))
        store.trash(["20260101_120000_00c0de"], 2)
    return home


@pytest.fixture
def desk(tmp_path: Path, stored_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to work in, where `holdfast` is the command and examples find their files."""
    (tmp_path / "session.json").write_bytes(SESSION.read_bytes())
    shutil.copy(stored_home / "profiles" / "default" / "holdfast.db", tmp_path / "server.db")
    (tmp_path / "rollout.jsonl").write_text(rollout(), "utf-8")
    for name in ("trajectories.jsonl", "said.train.jsonl"):
        write_lines(tmp_path / name, 6)
    (tmp_path / "runs").mkdir()
    write_lines(tmp_path / "runs" / "one.jsonl", 3)
    (tmp_path / "server.log").write_text("DATABASE_PASSWORD=hunter2-and-more\n", "utf-8")
    command = tmp_path / "bin" / "holdfast"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m holdfast "$@"\n', "utf-8")
    command.chmod(0o755)
    for variable in [each for each in os.environ if each.startswith("HOLDFAST_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOLDFAST_HOME", str(shutil.copytree(stored_home, tmp_path / "home")))
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_a_shell(line: str, folder: Path) -> Ended:
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, timeout=60)
    return Ended(done.returncode, done.stdout, done.stderr.decode())


@pytest.mark.parametrize(("example", "line"), COMMANDS, ids=str)
def test_every_command_of_the_pages_runs(example: Example, line: str, desk: Path) -> None:
    # What needs no shell needs no process of its own either, which takes longer than the command.
    is_plain = line.startswith("holdfast ") and not set("|<>&;$*") & set(line)
    words = shlex.split(line, comments=True)
    done = run(*words[1:]) if is_plain else in_a_shell(line, desk)
    assert done.code == 0, f"{example}: {done.errors}"


def test_what_the_sample_is_said_to_weigh_is_what_it_weighs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "quickstart" / "context.md"
    written, looked = (each.code.strip() for each in [*examples(page)][:2])
    promised = next(each for each in examples(page) if each.language == "text").code.splitlines()
    assert run(*shlex.split(written)[1:]).code == 0
    shown = run(*shlex.split(looked)[1:], env={"COLUMNS": "80"}).text.splitlines()
    assert [line for line in promised if line.strip() != "..." and line not in shown] == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_link_leads_somewhere(page: Path) -> None:
    lost: list[str] = []
    for words, target in LINK.findall(prose(page)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            lost.append(target)
        elif words.startswith("`test_") and f"def {words.strip('`')}(" not in file.read_text():
            lost.append(f"{target}: {words}")
    assert lost == []


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_file_and_name_that_a_page_mentions_exists(page: Path) -> None:
    places = (REPOSITORY, REPOSITORY / "src" / "holdfast", page.parent)
    missing = [
        span
        for span in SPAN.findall(prose(page))
        if (FILE.fullmatch(span) and not span.startswith(MADE_BY_A_RUN))
        and not any((place / span).exists() for place in places)
    ]
    missing += [span for span in SPAN.findall(prose(page)) if not is_known(span)]
    assert missing == []


def is_known(span: str) -> bool:
    """Say whether a dotted name of ours can be imported; other words are known."""
    if not NAME.fullmatch(span):
        return True
    *modules, last = span.split(".")
    try:
        return hasattr(import_module(".".join(modules)), last) or bool(import_module(span))
    except ImportError:
        return False


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_make_target_of_the_pages_exists(page: Path) -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    code = "\n".join([*SPAN.findall(prose(page)), *(each.code for each in examples(page))])
    wanted = set(re.findall(r"^(?:.*&& )?make ([a-z][a-z-]*)", code, re.M))
    assert {each for each in wanted if f"\n{each}:" not in makefile} == set()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_the_prose_keeps_its_manners(page: Path) -> None:
    assert MANNERS.findall(prose(page)) == []


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= README_LINES


def test_the_index_leads_to_every_page() -> None:
    index = (DOCS / "index.md").read_text("utf-8")
    linked = {(DOCS / target.partition("#")[0]).resolve() for _, target in LINK.findall(index)}
    assert set(PAGES) - linked == {DOCS / "index.md"}


def test_a_page_shows_what_the_sample_does() -> None:
    before = sample_session()
    engine = Engine(Policy(context_length=40_000), EngineDeps(clock=SystemClock()))
    after = engine.compact(before).result.transcript
    wanted = "\n".join(
        f"{old:<43}{new}" for old, new in zip(drawn(before), drawn(after), strict=True)
    )
    page = (DOCS / "compaction.md").read_text("utf-8")
    assert wanted in page, f"compaction.md should show:\n{wanted}"
    shown = re.findall(r"(before|after): (\d+) messages, (\d+)k tokens", page)
    for (label, count, thousands), each in zip(shown, (before, after), strict=True):
        # A rounded figure would be wrong at every small change of the estimate.
        tokens = Scale().total(each)
        assert int(count) == len(each), label
        assert abs(int(thousands) * 1000 - tokens) <= 1000, f"{label}: {tokens:,} tokens"


def drawn(transcript: Transcript) -> list[str]:
    lines = shape(transcript, 26).splitlines()
    return [*lines[:5], "...", *lines[-2:]]


def test_the_figures_of_the_readme_come_from_the_last_run() -> None:
    runs = ("exam.json", "exam-peers.json")
    rows = [
        row for run in runs for row in json.loads((EXAM / run).read_bytes())["tables"][0]["rows"]
    ]
    figures = {name: str(share).removeprefix("0") for name, share, *_ in rows}
    shown = README.read_text("utf-8")
    for begin, policy in (
        ("| `trim_messages`", "langchain trim_messages"),
        ("| Hermes", "hermes fallback"),
        ("| **holdfast**", "holdfast, no model"),
    ):
        (row,) = [line for line in shown.split("\n") if line.startswith(begin)]
        assert row.endswith(f"| {figures[f'{policy}, 1x']} / {figures[f'{policy}, 4x']} |")
    (row,) = [line for line in shown.split("\n") if line.startswith("| `/compact`")]
    own = figures["the agent's own summary"]
    assert row.endswith(f"| {own} |")
    assert f"at 1.5x: {figures['holdfast, own summary as answer, 1.5x']}." in shown


def generated(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(GENERATOR), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_reference_says_what_the_code_says() -> None:
    done = generated("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stale_page_of_the_reference_is_named(tmp_path: Path) -> None:
    assert generated(str(tmp_path)).returncode == 0
    assert generated("--check", str(tmp_path)).returncode == 0
    page = tmp_path / "configuration.md"
    page.write_text(page.read_text("utf-8").replace("0.85", "0.86"), "utf-8")
    (tmp_path / "formats.md").unlink()
    done = generated("--check", str(tmp_path))
    assert (done.returncode, done.stdout) == (
        1,
        "stale: configuration.md, formats.md; run `make reference`\n",
    )


def test_the_reference_has_the_signatures_of_every_class_and_only_awaited_ones_are_named() -> None:
    text = (REFERENCE / "python.md").read_text("utf-8")
    classes = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for name, method in (
        ("Conversation", "record_stream"),
        ("Conversation", "add_tool_result"),
        ("Conversations", "aopen"),
        ("Conversations", "Conversations"),
        ("Compressor", "compress"),
        ("AsyncConversation", "call"),
        ("Redactor", "redact"),
    ):
        assert re.search(rf"```text\n(async )?{method}\(", classes[name]), (name, method)
    shared = [name for name, said in classes.items() if "As in `Conversation`, awaited" in said]
    assert shared == ["AsyncConversation"]


def test_the_reference_has_every_public_name_every_knob_every_key_and_every_format() -> None:
    python = (REFERENCE / "python.md").read_text("utf-8")
    assert [name for name in holdfast.__all__ if f"\n## {name}\n" not in python] == []
    knobs = python.partition("\n## Knobs\n")[2]
    assert [name for name in Knobs.__annotations__ if f"\n- `{name}: " not in knobs] == []
    settings = (REFERENCE / "configuration.md").read_text("utf-8")
    assert [path for path in KEYS if f"\n| `{path}` | " not in settings] == []
    formats = (REFERENCE / "formats.md").read_text("utf-8")
    assert [name for name in FORMATS if f"\n| `{name}` | " not in formats] == []


def test_the_pages_written_by_hand_stay_within_their_words() -> None:
    by_hand = [README, *DOCS.glob("*.md"), *(DOCS / "quickstart").glob("*.md")]
    # The gateway is a part of its own, with a manual of its own.
    others = [page for page in by_hand if page.name != "gateway.md"]
    words = {page.name: len(page.read_text("utf-8").split()) for page in others}
    assert sum(words.values()) <= WORDS, words


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_has_a_page_with_the_setting_that_is_printed_for_it(agent: str) -> None:
    page = (DOCS / "gateway" / "agents" / f"{agent}.md").read_text("utf-8")
    way = pointing(agent, url_of(str(KEYS["gateway.host"].default), 8787))
    assert f"```text\n{way.by_hand}\n```" in page
    assert f"holdfast serve --print-env {agent}\n" in page
    assert way.runs is not (f"There is no `holdfast run {agent}`" in page)
    assert f"`holdfast run {agent}" in page
    assert f"(gateway/agents/{agent}.md)" in (DOCS / "index.md").read_text("utf-8")


def test_the_compaction_page_has_the_sections_of_the_record_in_order() -> None:
    page = (DOCS / "compaction.md").read_text("utf-8")
    rows = re.findall(r"^\| ([A-Z][\w &-]+) \| ", page, re.M)
    assert [row for row in rows if row in HEADINGS.values()] == list(HEADINGS.values())
