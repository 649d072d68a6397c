"""What was done, as lines: an action, its target and its outcome, with what it changed.

Actions that changed something are told apart from tests and from those that only looked, because
a reader needs to know what is different now before what was read on the way.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.summary.statements import StatementKind, clip_words, units
from holdfast.summary.turns import document_in, unquoted, without_documents
from holdfast.transcript.effects import Family, error_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.summary.turns import Deed

_COMMAND = 150
_OUTCOME = 140
_EXCERPT = 220
_ANSWER = 240
_WHOLE = 6
"""Parts of a relative path that is told whole; of others they may be two less."""
_SHORT = 80
"""Characters of a file that are its value rather than its text."""

CUT = "…/"
"""Begins a path of which the last parts are told."""
PASSED, FAILED = " - passed", " - failed"
"""How the line of a check goes on."""
COMMIT = re.compile(
    r"^\[([^\s\]]{1,100})(?: \([^)\n]{0,40}\))? ([0-9a-f]{7,40})\] (.{1,100})", re.MULTILINE
)
_CHECKS = frozenset(
    """test tests pytest jest vitest mocha rspec ctest tox nox unittest lint linter golangci-lint
    ruff eslint flake8 mypy pyright basedpyright tsc clippy build typecheck type-check compile check
    vet verify make cmake ninja gradlew mvn phpunit prettier gofmt rustfmt shellcheck""".split()
)
_LOOKING = frozenset(
    """ls cat tail head grep rg find fd nl sed wc cd echo git gh cp mv rm less awk diff chmod mkdir
    touch tree stat which type export source printf pwd sort curl wget jq vim nano open
    test""".split()
)
"""Commands that look or move, whatever is named after them; `test` asks for a file."""
SHOWING = frozenset("ls cat head tail find fd rg grep wc stat tree nl".split())
"""Commands that only show or find something."""
_LISTS = re.compile(r"\s*(?:cd [^\s;&]{1,200} ?(?:&&|;)\s{0,4})?(?:ls|find|fd|tree|nl)\b[^;&]*\Z")
"""A command line that lists names or numbers lines, and does nothing else."""
_HERE = re.compile(r"\s*(?:ls|dir|tree|pwd)(?:\s+-\S+)*\s*")
"""A listing that names no place."""
_READER = r"(?:cat|nl|bat|head|tail|sed(?=\s+-n\s))(?:\s+(?:-{1,2}[\w-]+|\d+|(['\"]?)[\d,$]+p\%d))*"
_READS = re.compile(
    rf"\s*{_READER % 1}((?:\s+(?!-)[^\s;&|<>()$`*'\"]+)+)(?:\s*\|\s*{_READER % 3})*\s*"
)
_LINES = re.compile(r"\b(\d{1,9}),(\d{1,9}|\$)p\b|\bhead\s+-n?\s?(\d{1,9})\b")
"""A step that shows files or lines of one, as another agent's tool for that does, and which."""
_CHANGES = re.compile(
    r"\bgit (?:-C \S+ )?(?:push|commit|merge|rebase|reset|checkout|switch|revert|cherry-pick|stash"
    r"|tag|rm|mv|apply|am|clean|worktree|branch -\w)\b"
    r"|\bgh (?:pr|release|issue|repo|workflow) (?:create|merge|close|edit|comment|run|delete)\b"
    r"|\b(?:npm|pnpm|yarn|pip3?|uv|cargo|apt|apt-get|brew|gem|poetry|go|conda) (?:\S+ ){0,1}"
    r"(?:install|add|remove|uninstall|publish|get|upgrade|update|ci)\b"
    r"|\b(?:docker|podman) (?:run|build|push|rm|stop|compose)\b|\bterraform (?:apply|destroy)\b"
    r"|\bkubectl (?:apply|delete|create|patch|scale|rollout|edit)\b|\bhelm (?:install|upgrade)\b"
    r"|\bcurl\b.{0,200}(?:-X ?(?:POST|PUT|PATCH|DELETE)|--data|-d )|\b(?:alembic|migrate|deploy)\b"
    r"|\b(?:systemctl|service) \w*(?:start|stop|enable|disable)|\bsed -i|\bpatch -p\d"
    r"|(?:^|[;&|] ?)(?:sudo )?(?:rm|mv|cp|mkdir|rmdir|ln|chmod|chown|kill|pkill|touch) "
)
_LEAVES = re.compile(
    r"\bgit (?:-C \S+ )?(?:push|merge|tag)\b|\bgh (?:pr|release|issue) (?:create|merge|close)\b"
    r"|\b(?:npm|cargo|poetry|uv|docker) (?:publish|push)\b|\bkubectl apply\b|\bdeploy\b"
)
_ACTS = re.compile(
    r"send|post|create|update|delete|remove|submit|approve|publish|merge|write|set|add|move|rename"
    r"|assign|close|deploy|schedule|book|pay|upload|reply|comment",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"(?<![\d.])\d{1,9} (?:passed|failed|passing|failing|tests?|errors?|warnings?|issues?"
    r"|problems?)\b"
    r"|^(?:ok|FAIL|PASS|OK|Success|BUILD|Finished)\b|^Tests?:",
    re.MULTILINE,
)
_COUNTED = re.compile(r"[0-9] (?:passed|passing|tests?|errors?|warnings?|issues?|problems?)\b")
_FAILED = re.compile(
    r"^\W{0,6}FAIL|\b[1-9]\d{0,5} (?:failed|failing|errors?|issues?|problems?)\b|\bBUILD FAILED\b"
)
_ERRORS = re.compile(
    r"^(?:\S+[:( ]\S{0,20} ?)?(?:error|fatal|Error|ERROR|CMake Error)\b[^\n]{0,20}[:\[]"
    r"|^Traceback \(|: command not found|^make: \*\*\*"
    r"|^(?:\S{0,40}/)?(?:ba|z|da|k)?sh: [^\n]{0,200}: (?:No such file|Permission denied|not found)",
    re.MULTILINE,
)
"""What a check prints that failed, where its exit code is not told."""
_ENDED = re.compile(r" - (?:passed|failed|exit \d+|no result)\b| \(writes ")
"""How the line of a command goes on that did more than look."""
_ADDED = re.compile(
    r"^[ \t]*(?:Shell cwd was reset to .*|\(?[\w ]{0,60}\b(?:no|any) output\b[.)]{0,2})[ \t]*$"
    r"|</?tool_use_error>",
    re.MULTILINE,
)
_ADDED_WORDS = ("cwd was reset to", "no output", "any output", "tool_use_error>")
"""What an agent writes below an output, in the place of one, and around an error, and its words."""
_PIPED = re.compile(r"(?<!\|)\|(?!\|)|\|\| ?(?:true|:)")
_EMPTIED = re.compile(r"\$\(cat\s*\)")
_STEP = re.compile(r"&&|\|\||[;|\n]")
_ANNOUNCED = re.compile(r"\A\W{0,8}error\W{0,8}\n", re.IGNORECASE)
_TELLING = re.compile(r"(?!\s*(?:> |hint:|</?\w[^<>]*>\s*\Z)).*\w")
"""A line that says something: no echo of a command, no hint of what to do, no tag alone."""
_ALONE, _ERRORS_ASIDE = re.compile(r"&&|[;\n]"), re.compile(r" ?(?:2>&1|2>/dev/null|\|\| true)")
_NOISE = re.compile(rf"{_ERRORS_ASIDE.pattern}|^cd \S+ ?(?:&&|;) ?|\| ?(?:head|tail)\b[^|;&]*")
_DEFINITION = re.compile(
    r"^[ \t+]{0,16}(?:(?:export|default|pub|async|static|public|private|abstract)[ \t]+){0,3}"
    r"(?:def|func|function|class|type|interface|struct|enum|fn|trait|module)[ \t]+"
    r"(?:\([^)\n]{0,60}\)[ \t]*)?([A-Za-z_]\w{2,60})",
    re.MULTILINE,
)
_PARTS = frozenset({"edit", "insert", "append"})
_EDITOR = ("create ", *(f"{name} " for name in sorted(_PARTS)))
"""Commands that change a part of a file, and those of an editor that agents use through words."""
_DIFF = ("---", "***", "@@", "diff ")
"""What a diff begins with."""
_KEPT, _FIRST = re.compile(r"(?:^|\s)~?/?(?:[\w.-]+/)+[\w-]+\.\w+(?=[.\s]|$)"), 5
"""A path to a file, and how many sentences of an answer are looked at for one."""


class ToldAction(Struct, frozen=True, gc=False):
    """A deed as it is told."""

    kind: StatementKind
    verb: str
    line: str
    """What was worked on, and how it went."""
    detail: str = ""
    """What a change put there, or what an answer said."""


def told(deed: Deed) -> ToldAction | None:
    """Return a deed in words; nothing for steps of a plan, which are state."""
    action = deed.action
    # A plan that was written as a text is known by its first line.
    is_plan = action.family is Family.PLAN
    title = action.content.strip().partition("\n")[0].strip("# ") if is_plan else ""
    if deed.rejected:
        tried = title or _NOISE.sub(" ", action.target) or action.tool
        line = f"{clip_words(tried, _COMMAND)} - rejected by the user"
        return ToldAction(StatementKind.RESULT, "TRIED", line)
    match action.family:
        case Family.PLAN if title:
            # Whether a user agreed is for the reader to see: a tool's words are only quoted.
            answers = [] if deed.ended is None else units(deed.ended.text[:_ANSWER])
            kept = next((unit for unit in answers[1:_FIRST] if _KEPT.search(unit)), "")
            begins = clip_words(answers[0], _OUTCOME) if answers else ""
            answer = _noted(_quoted(" ".join(filter(None, (begins, kept)))))
            line = f"{clip_words(title, _COMMAND)}{answer}"
            return ToldAction(StatementKind.RESULT, "PLANNED", line)
        case Family.PLAN:
            return None
        case Family.WRITE:
            return _edit(deed)
        case Family.SHELL if action.files and action.target.startswith(_EDITOR):
            return _edit(_in_editor(deed))
        case Family.SHELL:
            return _command(deed)
        case Family.READ:
            lines = f":{action.scope}" if action.scope else ""
            line = f"{short_path(action.target)}{lines}{_failure(deed)}"
            return ToldAction(StatementKind.LOOK, "READ", line)
        case Family.SEARCH:
            where = f" in {short_path(action.scope)}" if action.scope else ""
            line = f"{clip_words(action.target, 80)}{where}"
            return ToldAction(StatementKind.LOOK, "SEARCHED", line)
        case Family.WEB:
            line = clip_words(action.target, _COMMAND)
            return ToldAction(StatementKind.LOOK, "FETCHED", line)
        case Family.DELEGATE:
            line = clip_words(action.target, _COMMAND)
            return ToldAction(StatementKind.CHANGE, "DELEGATED", line, _answer(deed))
        case Family.OTHER:
            name = action.tool.rpartition("__")[2]
            line = f"{name}({clip_words(action.target, _COMMAND)})"
            if failure := _failure(deed):
                return ToldAction(StatementKind.RESULT, "CALLED", line + failure)
            kind = StatementKind.CHANGE if _ACTS.search(name) else StatementKind.REMARK
            return ToldAction(kind, "CALLED", line, _answer(deed))


def short_path(path: str) -> str:
    """Return the last parts of a long path, by which it is recognized, behind a mark of the cut.

    A relative path is short as it is, and begins with what tells one package from another.
    """
    parts = " ".join(path.split()).split("/")
    most = _WHOLE if parts[0] else _WHOLE - 2
    return f"{CUT}{'/'.join(parts[-3:])}" if len(parts) > most else "/".join(parts)


def shell_reads(deed: Deed) -> dict[str, str]:
    """Return the files that a command shows, each with its lines; nothing if it does more."""
    found, action = dict[str, str](), deed.action
    if action.family is not Family.SHELL or action.files:
        return found
    for step in _ALONE.split(_ERRORS_ASIDE.sub("", action.target[:2_000])):
        if reads := _READS.fullmatch(step):
            lines = _LINES.search(step)
            first, last, head = lines.groups() if lines else ("", "", "")
            shown = f"1-{head}" if head else f"{first}-{last.strip('$')}" if lines else ""
            found |= dict.fromkeys(reads[2].split(), shown)
        elif step.split()[:1] not in ([], ["cd"], ["echo"]):
            return {}
    return found


def is_check(deed: Deed) -> bool:
    """Say whether a command tests, lints or builds; what it only quotes or commits does not."""
    return deed.action.family is Family.SHELL and _is_check(deed.action.target[:2_000])


@lru_cache(maxsize=1024)
def _is_check(command: str) -> bool:
    steps = (step.split() for step in _STEP.split(unquoted(command)))
    return any(check_at([word for word in words if "=" not in word]) >= 0 for words in steps)


def check_at(words: Sequence[str]) -> int:
    """Return which word of a step is the check that it runs, or -1."""
    names = (word.rpartition("/")[2].partition(":")[0].partition(".")[0] for word in words[:5])
    found = (at for at, name in enumerate(names) if name in _CHECKS)
    return -1 if not words or words[0] in _LOOKING else next(found, -1)


def verdict(deed: Deed) -> tuple[str, str]:
    """Return `PASSED`, `FAILED` or, where nothing tells it, neither, and what the check said of it.

    A command whose output runs through another program has that one's exit code, so the verdict
    is read from the output. A check that printed nothing found nothing.
    """
    if deed.ended is None:
        return "", ""
    answer, code = _output(deed), deed.ended.exit_code
    if _PIPED.search(unquoted(deed.action.target[:2_000])):
        code = None
    # The rulers around a verdict would weigh more than the verdict.
    lines = (line.strip("=- ") for line in answer[-2_000:].split("\n") if _TELLING.match(line))
    counted = [line for line in lines if _VERDICT.search(line)]
    failed = deed.failed or any(map(_FAILED.search, counted[-3:]))
    if failed or (not counted and _ERRORS.search(answer[-1_500:])):
        line = error_line(answer) or next(reversed(counted), "") or _ends_of(answer)
        return FAILED, clip_words(line, _OUTCOME)
    if counted or code is not None or not answer.strip():
        telling = (line for line in reversed(counted) if _COUNTED.search(line))
        return PASSED, clip_words(next(telling, ""), _OUTCOME)
    return "", key_line(answer)


def _output(deed: Deed) -> str:
    """Return what a call answered without what an agent adds to it."""
    text = "" if deed.ended is None else deed.ended.text
    is_added = any(word in text for word in _ADDED_WORDS)
    return (_ADDED.sub("", text) if is_added else text).strip()


def ending_of(deed: Deed) -> str:
    """Return how a check went, as a line goes on."""
    ending, said = verdict(deed)
    return f"{ending} {_quoted(said)}" if ending and said else ending or _noted(_quoted(said))


def key_line(text: str) -> str:
    """Return the line of an output that says most: its verdict, or its last line."""
    telling = [line for line in text[-1_200:].strip().split("\n") if _TELLING.match(line)]
    verdicts = (line for line in reversed(telling) if _VERDICT.search(line))
    return clip_words(next(verdicts, telling[-1] if telling else ""), _OUTCOME)


def _ends_of(text: str) -> str:
    """Return an output without an error's name: all of it, or where it says what went wrong.

    That is its first line where a program refuses to begin, and its last where one gives up.
    """
    telling = [line.strip() for line in text.split("\n") if _TELLING.match(line)]
    if len(whole := " ".join(telling)) <= _OUTCOME:
        return whole
    first = " ".join(telling[: 2 if telling[0].endswith(":") else 1])
    if len(first) + len(telling[-1]) > _OUTCOME:
        return clip_words(first, _OUTCOME)
    return f"{first} … {telling[-1]}"


def _in_editor(deed: Deed) -> Deed:
    """Return a command of an editor that is used through words as the edit that it is."""
    command, _, content = deed.action.target.partition("\n")
    tool = command.partition(" ")[0]
    content = content.rpartition("\nend_of_")[0] or content
    return replace(deed, action=replace(deed.action, tool=tool, content=content))


def _edit(deed: Deed) -> ToldAction | None:
    action, old = deed.action, deed.beside
    target = ", ".join(map(short_path, action.files[:6])) or clip_words(action.target, _COMMAND)
    changes_part = action.tool in _PARTS
    # An editor that has a file open is told what to change in it, and not its name.
    target = target or ("the open file" if changes_part and action.content else "")
    if not target:
        return None
    if deed.ended is None:
        return ToldAction(StatementKind.LOOK, "EDITED", f"{target} - no result")
    if failure := _failure(deed):
        return ToldAction(StatementKind.RESULT, "EDITED", target + failure)
    is_new = not old and not changes_part and not action.content.startswith(_DIFF)
    names = dict.fromkeys(_DEFINITION.findall(action.content[:20_000])) if is_new else {}
    defines = f" - defines {', '.join(list(names)[:6])}" if names else ""
    verb = "WROTE" if is_new else "EDITED"
    return ToldAction(StatementKind.CHANGE, verb, target + defines, _new_lines(action.content, old))


def _new_lines(content: str, old: str = "") -> str:
    """Return the first lines that an edit put there; where it only removed, what it removed."""
    lines = content[:20_000].split("\n")
    if not old and content.startswith(_DIFF):
        added = [line[1:].strip() for line in lines if line[:1] == "+" and line[:3] != "+++"]
        gone = [line[1:].strip() for line in lines if line[:1] == "-" and line[:3] != "---"]
    else:
        before = [line.strip() for line in old[:20_000].split("\n")]
        added = [text for line in lines if (text := line.strip()) not in before]
        kept = {line.strip() for line in lines}
        gone = [text for text in before if text not in kept]
    words, removed = (
        " ".join(line for line in some if len(line) > 2) for some in (added[:12], gone[:8])
    )
    if words or not removed:
        return clip_words(words, _EXCERPT)
    return f"removed: {clip_words(removed, _EXCERPT // 2)}"


def _command(deed: Deed) -> ToldAction | None:
    command, ended = deed.action.target, deed.ended
    if ended is not None and (reads := shell_reads(deed)):
        files = [f"{short_path(path)}{lines and ':'}{lines}" for path, lines in reads.items()]
        answer = " ".join(_output(deed)[: 4 * _ANSWER].split())
        said = _quoted(answer) if len(answer) <= _SHORT else ""
        line = ", ".join(files[:6]) + (_failure(deed) or _noted(said))
        return ToldAction(StatementKind.LOOK, "READ", line)
    document = document_in(command)
    # Of a message that is written between `<<EOF` and `EOF`, its title stands for it.
    title = document.strip().partition("\n")[0]
    bare = _EMPTIED.sub(lambda _: title, without_documents(command)) if document else command
    shown = clip_words(_NOISE.sub(" ", bare), _COMMAND)
    if ended is None:
        return ToldAction(StatementKind.CHANGE, "RAN", f"{shown} - no result")
    if not ended.failed and "commit" in command and (made := COMMIT.findall(ended.text[:4_000])):
        branch, commit, title = made[-1]
        line = f"{commit} {title.strip()} (on {branch})"
        return ToldAction(StatementKind.RESULT, "COMMITTED", line)
    if is_check(deed):
        return ToldAction(StatementKind.RESULT, "RAN", shown + ending_of(deed))
    if failure := _failure(deed):
        return ToldAction(StatementKind.RESULT, "RAN", shown + failure)
    answer = " ".join(_output(deed)[: 4 * _ANSWER].split())
    if len(answer) > _ANSWER:
        # The last name of a listing says nothing of it.
        answer = "" if _LISTS.match(bare) else key_line(_output(deed))
    detail = _quoted(answer)
    if document and not detail:
        detail = _new_lines(document)
    if deed.action.files or _CHANGES.search(unquoted(command[:2_000])):
        # What leaves the machine is how work ends, like a commit.
        kind = StatementKind.RESULT if _LEAVES.search(command[:2_000]) else StatementKind.CHANGE
        files = ", ".join(short_path(path) for path in deed.action.files[:4] if path not in shown)
        return ToldAction(kind, "RAN", f"{shown}{f' (writes {files})' if files else ''}", detail)
    if not detail and _HERE.fullmatch(shown):
        return None
    return ToldAction(StatementKind.LOOK, "RAN", f"{shown}{_noted(detail)}")


def only_shows(line: str) -> bool:
    """Say whether a command, as it was told, is made of nothing but searches, reads and listings.

    Any other command may be one that the work goes on with, though nobody can tell what it does.
    """
    steps = (step.split() for step in _STEP.split(unquoted(line)))
    return all(words[0] in SHOWING or words[0] == "cd" for words in steps if words)


def only_looked(line: str) -> bool:
    """Say whether a command, as it was told, changed nothing and tested nothing."""
    return _ENDED.search(line) is None and _CHANGES.search(unquoted(line)) is None


def _answer(deed: Deed) -> str:
    """Return the beginning of what a call answered."""
    return "" if deed.ended is None else _quoted(" ".join(deed.ended.text[: 4 * _ANSWER].split()))


def _failure(deed: Deed) -> str:
    """Return how a call failed, as a line goes on; nothing where it did not."""
    if not deed.failed or deed.ended is None:
        return ""
    code, answer = deed.ended.exit_code, _output(deed)
    said = "failed" if code is None else f"exit {code}"
    # All that a tool says which did nothing is its error; a program says much beside it.
    runs = deed.action.family in {Family.SHELL, Family.OTHER}
    line = (error_line(answer) if runs else "") or _ends_of(_ANNOUNCED.sub("", answer, count=1))
    return f" - {said}: {_quoted(line)}" if line else f" - {said}"


def _quoted(text: str) -> str:
    """Return words of a program between quotes that end where they should."""
    return f'"{clip_words(text, _ANSWER).replace(chr(34), chr(39))}"' if text else ""


def _noted(words: str) -> str:
    """Return words as a line goes on with them."""
    return f" - {words}" if words else ""
