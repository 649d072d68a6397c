"""Which kind of work a tool does, and what its answer says about how the call went.

Agents name the same tool differently (`terminal`, `bash`, `exec_command`, `Bash`). What can be
said about a call depends on its family, never on whose tool it is.

Only the ends of an answer are searched, because that is where every agent writes these things,
and because answers run to megabytes.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from holdfast.transcript.arguments import parsed

if TYPE_CHECKING:
    from holdfast.transcript.parts import ToolResult


class Family(StrEnum):
    """A kind of tool."""

    SHELL = "shell"
    READ = "read"
    WRITE = "write"
    SEARCH = "search"
    WEB = "web"
    DELEGATE = "delegate"
    PLAN = "plan"
    OTHER = "other"


STUB = "[no result in the window: the call was interrupted or its result is in the summary]"
"""What stands for the result of a call that has none, where a provider wants one."""

# Whole names, without case, separators and server prefixes.
_NAMES: dict[Family, str] = {
    Family.SHELL: """
        bash bashoutput cmd command exec execcommand execute executebash executecode
        executecommand executeshellcommand ipython killbash killshell localshell powershell
        process python run runbash runcommand runinterminal runpython runshellcommand
        runterminalcmd runterminalcommand shell shellcommand terminal writestdin
        codeinterpreter jupyter executeipythoncell
    """,
    Family.READ: """
        cat fileread getfile getfilecontents loadfile notebookread open openfile read readfile
        readmanyfiles readmultiplefiles readnotebook readtextfile showfile view viewfile
        viewimage
    """,
    Family.WRITE: """
        addfile applydiff applypatch create createfile deletefile edit editblock editfile
        fileedit filewrite insert insertedit movefile multiedit notebookedit patch patchfile
        replace replaceinfile savefile searchreplace strreplace strreplacebasededittool
        strreplaceeditor texteditor updatefile write writefile writetofile
    """,
    Family.SEARCH: """
        codebasesearch filesearch find findbyname findfiles glob globsearch grep grepsearch
        listdir listdirectory listfiles ls ripgrep rg search searchcode searchdir
        searchdirectory searchfile searchfilecontent searchfiles
    """,
    Family.WEB: """
        browse browser curl fetch fetchurl fetchwebpage googlewebsearch googlesearch
        httprequest openurl readurl urlfetch visit web webextract webfetch websearch
    """,
    Family.DELEGATE: """
        agent callagent delegate delegatetask delegatework dispatchagent handoff
        newtask runagent runsubagent sessionsspawn spawn spawnagent subagent task
    """,
    Family.PLAN: """
        enterplanmode exitplanmode manageplan managetodolist plan settodolist taskcreate
        tasklist taskupdate todo todolist todoread todowrite updateplan updatetodolist
        writetodos
    """,
}

_BY_NAME = {name: family for family, names in _NAMES.items() for name in names.split()}

# Words inside longer names, the most telling first.
_BY_WORD: tuple[tuple[Family, frozenset[str]], ...] = (
    (Family.SHELL, frozenset({"bash", "shell", "terminal", "powershell"})),
    (Family.WEB, frozenset({"web", "browser", "url", "http", "internet"})),
    (Family.PLAN, frozenset({"todo", "todos", "plan"})),
    (Family.DELEGATE, frozenset({"subagent", "delegate"})),
    (Family.SEARCH, frozenset({"grep", "glob", "search", "find"})),
)
_FILE_WORDS = frozenset({"file", "files", "notebook", "document"})
_WRITE_WORDS = frozenset({"write", "edit", "create", "patch", "update", "insert", "delete"})
_READ_WORDS = frozenset({"read", "view", "open", "get", "show"})

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@lru_cache(maxsize=1024)
def family(name: str) -> Family:
    """Return the family of the tool called `name`.

    Case, separators and the prefixes of tool servers (`mcp__files__read_file`,
    `functions.exec_command`) do not matter. A name that is not known is judged by its words.
    """
    local = name[:200].rpartition("__")[2].rpartition(".")[2]
    words = [word.lower() for word in _WORD.findall(local)]
    known = _BY_NAME.get("".join(words))
    if known is not None:
        return known
    said = frozenset(words)
    for kind, telling in _BY_WORD:
        if said & telling:
            return kind
    if said & _FILE_WORDS:
        if said & _WRITE_WORDS:
            return Family.WRITE
        if said & _READ_WORDS:
            return Family.READ
    return Family.OTHER


_END = 600
_WIDEST = 300

_EXIT = re.compile(
    r"<returncode>\s{0,8}(-?\d{1,10})"
    r"|^\W{0,8}(?:[Ee]xit|[Rr]eturn)[_ ]?[Cc]ode\W{1,4}(-?\d{1,10})"
    r"|\"(?:exit|return)_?[cC]ode\":\s{0,3}(-?\d{1,10})"
    r"|\b(?:exited|finished|completed) with (?:exit )?(?:code|status) (-?\d{1,10})"
    r"|^exit status (\d{1,10})",
    re.MULTILINE,
)
_EXIT_WORDS = ("exit", "Exit", "code", "Code", "finished", "completed")
_EXIT_STEMS, _BEFORE_STEM = ("xit", "eturn", "finished", "completed"), 12
"""What every match has one of, after fewer characters than these."""
# A line that reports a failure, in the words that programs use whatever their user speaks.
_ERROR = re.compile(
    r"\b\w*(?:Error|Exception|Panic)\b"
    r"|\b(?:error|ERROR|fatal|panic|failed|failure|denied|FAIL)\b\W"
    r"|not found|No such file|cannot |E {3}|^E: ",
)
_ERROR_WORDS = (
    *("Error", "Exception", "Panic", "error", "fatal", "panic", "failed", "failure", "denied"),
    *("ERROR", "FAIL", "not found", "No such file", "cannot ", "E   ", "E: "),
)
"""What every match holds one of: to look for them costs a tenth of trying the pattern."""
_RUNNERS = re.compile(
    r"npm (?:error|ERR!)|make(?:\[\d+\])?: \*\*\*|ninja: build stopped|gmake|\W{0,3}ELIFECYCLE"
    r"|error Command failed|error: (?:Recipe|could not compile|process didn't exit)"
    r"|##\[error\]|Error: Process completed with exit code|Command exited with code|Found \d+ error"
)
"""How lines begin in which a runner says that what it ran has failed."""
_WARNS = re.compile(r"W: |(?:npm )?(?:warn|warning)\b", re.IGNORECASE)
_LOCATED = re.compile(r"\S{1,200}?[:(]\d{1,6}(?:[:,]\d{1,6})?\)?:? (?:- )?(?:fatal|error)\b")
_STATUS = re.compile(
    r"\W{0,8}(?:(?:the |shell )?(?:command|process|script|program) )?"
    r"(?:exit(?:ed)?|return|finished|completed)\b[^\n]{0,24}?(?:code|status)"
    r"\W{0,4}-?\d{1,10}\W{0,4}"
    r"|<returncode>-?\d{1,10}</returncode>"
    r"|\[(?:Current working directory|Python interpreter): .*\]",
    re.IGNORECASE,
)
"""A line above or below an output that only tells how the command ended, and where."""
_STATUS_LINES = 4
_STOPPED = re.compile(
    r"\W{0,4}(?:(?:the|this|your|last|shell|tool) ){0,3}"
    r"(?:command|execution|process|request|call|operation)\b(?: ['\"`].{0,200}?['\"`])?"
    r"(?: was| has been)? (?:aborted|interrupted|cancel+ed|timed out|killed)\b"
    r"|\W{0,4}(?:aborted|interrupted|cancel+ed|killed) by (?:the )?user\b"
    r"|\W{0,4}timed out after \d"
    r"|(?-i:Aborted|Killed)(?: \(core dumped\))?\Z",
    re.IGNORECASE,
)
"""How the last line begins of a command that somebody or a clock stopped, as agents write it."""
_REFUSED_JSON = r"\{\s{0,8}\"(?:error\":\s{0,4}\"[^\"]|success\":\s{0,4}false)"
_REFUSED = {
    Family.READ: re.compile(r"error: [^\n]+\Z", re.IGNORECASE),
    Family.WRITE: re.compile(
        rf"\s{{0,8}}\W{{0,3}}error\s{{0,4}}(?::|$)|{_REFUSED_JSON}", re.IGNORECASE | re.MULTILINE
    ),
    Family.OTHER: re.compile(_REFUSED_JSON),
}
"""How the answer of a tool begins that did not do what it was called for.

What was read, or asked of a service, may be about errors itself.
"""
_NOT_WRITTEN = re.compile(
    r"\W{0,8}(?:error|failed|failure|no (?:replacement|match|change)|could ?n[o']t|cannot|can't"
    r"|unable|invalid)\b|[^\n]{0,40}\bfailed:",
    re.IGNORECASE,
)
"""How it begins where a file was to be changed; what a file holds may begin with any word."""
_ENVELOPES = ("output", "stdout", "content", "result")
_PREAMBLE = re.compile(
    r"(?:Command: (?:[^\n]{0,2000}\n){1,40}?)?"
    r"(?:(?:Chunk ID|Wall time|Exit code|Process exited|Process running|Original token count"
    r"|Total output lines)[^\n]{0,120}\n){1,6}\s{0,4}Output:\s*"
)
"""What some agents write above the output of a command."""
_BEGINNINGS = ("Chunk", "Wall", "Exit", "Process", "Command: ")
_QUARANTINE = ("<untrusted_context>\n", "\n</untrusted_context>")
_COMMAND, _OUTPUT = "Command: ", "Output: "
_BELOW = ("Error: (none)", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ")
"""What Gemini CLI and Qwen Code write around it."""


class Effect(Struct, frozen=True, gc=False):
    """How a call ended."""

    text: str
    """The words of the answer, taken out of its JSON envelope where it has one."""
    exit_code: int | None = None
    failed: bool = False

    @property
    def lines(self) -> int:
        """Return the number of lines of the answer."""
        stripped = self.text.strip("\n")
        return stripped.count("\n") + 1 if stripped else 0


def effect(result: ToolResult, kind: Family) -> Effect:
    """Return what the result says about its call.

    Only a shell reports exit codes: a file that was read may talk about anybody's. Such a file
    may also begin with an error, but what a tool says when it fails is short.
    """
    if kind is not Family.SHELL:
        text = result.text
        pattern = _REFUSED.get(kind)
        refused = pattern is not None and pattern.match(text) is not None
        refused = refused or (kind is Family.WRITE and _NOT_WRITTEN.match(text) is not None)
        return Effect(_opened(text), failed=refused or result.is_error)
    read = effect_of_text(result.text)
    return Effect(read.text, read.exit_code, failed=read.failed or result.is_error)


def effect_of_text(text: str) -> Effect:
    """Return what a shell's answer says about its command, from its words alone."""
    code, output = _exit_code(text), _between(_opened(text))
    if code is None:
        last = output[-_WIDEST:].rstrip().rpartition("\n")[2]
        return Effect(output, failed=_STOPPED.match(last) is not None)
    first, _, rest = output.partition("\n")
    output = rest if _STATUS.fullmatch(first) else output
    for _ in range(_STATUS_LINES):
        rest, _, last = output.rpartition("\n")
        if _STATUS.fullmatch(last) is None:
            break
        output = rest.rstrip("\n")
    return Effect(output, code, failed=code != 0)


def error_line(text: str) -> str:
    """Return the line that names the error, or nothing.

    The last such line wins: a traceback ends with its error. Of a compiler's the first does, and
    what a runner adds ("make: *** [all] Error 2") only where nothing else tells of the failure.
    """
    added = ""
    for end in (text[-4 * _END :], text[: 4 * _END]):
        there = [word for word in _ERROR_WORDS if word in end]
        found = ""
        below = ""
        for line in reversed(end.split("\n")) if there else ():
            stripped = line.strip()
            after, below = below, stripped or below
            if len(stripped) > 5 and any([word in stripped for word in there]):
                beginning = stripped[:_WIDEST]
                if beginning.endswith(":"):
                    # What announces an error says less than the line below it.
                    beginning = f"{beginning} {after}"[:_WIDEST].strip()
                if _RUNNERS.match(beginning):
                    added = added or beginning
                elif _WARNS.match(beginning):
                    continue
                elif found and not _LOCATED.match(beginning):
                    break
                elif _ERROR.search(beginning):
                    found = beginning
                    if not _LOCATED.match(found):
                        break
        if found:
            return found
    return added


def _exit_code(text: str) -> int | None:
    for end in (text[:_END], text[-_END:]):
        places = [place for stem in _EXIT_STEMS if (place := end.find(stem)) >= 0]
        if not places or not any(word in end for word in _EXIT_WORDS):
            continue
        # The search begins where it can find something: it is slow for each place that it tries.
        if found := _EXIT.search(end, max(min(places) - _BEFORE_STEM, 0)):
            return int(next(group for group in found.groups() if group is not None))
    return None


def _opened(text: str) -> str:
    """Return the answer without the JSON object or the preamble that some agents put around it."""
    if text.startswith(_BEGINNINGS) and (above := _PREAMBLE.match(text)):
        return text[above.end() :]
    if not text.startswith("{") or not any(f'"{key}"' in text[:_END] for key in _ENVELOPES):
        return text
    try:
        value: object = parsed(text)
    except ValueError:
        return text
    fields = cast("dict[str, object]", value)
    return next(
        (inner for key in _ENVELOPES if isinstance(inner := fields.get(key), str)),
        text,
    )


def _between(text: str) -> str:
    """Return the output that stands between lines with its command, its exit code and the like."""
    inner = text.removeprefix(_QUARANTINE[0]).removesuffix(_QUARANTINE[1])
    if not inner.startswith((_OUTPUT, _COMMAND)):
        return text
    above, mark, output = inner.partition(_OUTPUT)
    if not mark or not (above == "" or (above.startswith(_COMMAND) and above.endswith("\n"))):
        return text
    while (last := output.rpartition("\n"))[1] and last[2].startswith(_BELOW):
        output = last[0]
    return output
