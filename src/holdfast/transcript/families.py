"""Which kind of work a tool does, recognized by its name.

Agents name the same tool differently (`terminal`, `bash`, `exec_command`, `Bash`). What can be
said about a call depends on its family, never on whose tool it is.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

__all__ = ["Family", "family"]


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
    return known if known is not None else _by_words(frozenset(words))


def _by_words(words: frozenset[str]) -> Family:
    for kind, telling in _BY_WORD:
        if words & telling:
            return kind
    if words & _FILE_WORDS:
        if words & _WRITE_WORDS:
            return Family.WRITE
        if words & _READ_WORDS:
            return Family.READ
    return Family.OTHER
