"""Files that a shell command writes, as far as the command itself says so.

Agents without an edit tool change files with `sed -i`, redirects and small scripts. Such a file
belongs to the changed ones, and only the command names it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["document_in", "unquoted", "without_documents", "written_files"]

_READ_OF_COMMAND = 20_000
_DOCUMENTS = 20
_SIGNS = (">", "sed ", "tee ", "open(", "write_text")

_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]{0,4}['\"]?(\w{1,40})['\"]?([^\n]{0,2000})\n")
# A quote that never closes runs to the end, so that no text is read twice.
_QUOTED = re.compile(r"'[^']*(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\\?\Z)", re.DOTALL)
_QUOTE = "\x00"
_REDIRECT = re.compile(r"(?<![0-9&<>=-])>{1,2}[ \t]{0,4}([^\s;&|<>()$`\x00]{1,200})")
_TEE = re.compile(r"\btee[ \t]+(?:-a[ \t]+)?([^\s;&|<>()$`\x00-]{1}[^\s;&|<>()$`\x00]{0,200})")
_SED = re.compile(r"\bsed[ \t]+([^;&|\n]{0,2000})")
_SCRIPT = re.compile(r"\bpython[0-9.]{0,5}[ \t]+(?:-u[ \t]+)?(?:-c\b|-?[ \t]{0,4}<<)")
_OPENED = re.compile(
    r"\bopen\([ \t]{0,4}['\"]([^'\"\n]{1,200})['\"],[ \t]{0,4}(?:mode=)?['\"][wax]"
    r"|\bPath\(['\"]([^'\"\n]{1,200})['\"]\)\.write_"
)
_PATH = re.compile(r"[\w.~@+/\\-]*[./][\w.~@+/-]*\w|\w+file")


def written_files(command: str) -> tuple[str, ...]:
    """Return the files that the command edits in place, redirects into or writes by a script."""
    if not any(sign in command for sign in _SIGNS):
        return ()
    read = command[:_READ_OF_COMMAND]
    bare = unquoted(read)
    found = [*_edited(bare), *_REDIRECT.findall(bare), *_TEE.findall(bare), *_scripted(read)]
    return tuple(dict.fromkeys(path for path in found if _is_file(path)))


def unquoted(command: str) -> str:
    """Return a command without what it quotes or feeds to programs: messages, patterns, texts."""
    return _QUOTED.sub(_QUOTE, without_documents(command[:_READ_OF_COMMAND]))


def without_documents(command: str) -> str:
    """Return the command without what it feeds to programs between `<<EOF` and `EOF`."""
    for _ in range(_DOCUMENTS):
        found = _HEREDOC.search(command)
        if found is None:
            break
        lines = iter(command[found.end() :].split("\n"))
        closed = any(line.strip() == found[1] for line in lines)
        rest = "\n".join(lines) if closed else ""
        command = f"{command[: found.start()]} {found[2]}\n{rest}"
    return command


def document_in(command: str) -> str:
    """Return the first text that a command feeds to a program between `<<EOF` and `EOF`."""
    found = _HEREDOC.search(command[:_READ_OF_COMMAND])
    if found is None:
        return ""
    text = command[found.end() : _READ_OF_COMMAND]
    return re.split(rf"^\s*{re.escape(found[1])}\s*$", text, maxsplit=1, flags=re.MULTILINE)[0]


def _edited(bare: str) -> Iterator[str]:
    for words in _SED.findall(bare):
        names = words.split()
        if not any(name.startswith(("-i", "--in-place")) for name in names):
            continue
        plain = [name for name in names if not name.startswith("-")]
        # Without `-e` the first plain word is the script.
        yield from (name for name in plain[0 if "-e" in names else 1 :] if _QUOTE not in name)


def _scripted(command: str) -> Iterator[str]:
    if _SCRIPT.search(command):
        yield from ("".join(groups) for groups in _OPENED.findall(command))


def _is_file(path: str) -> bool:
    return not path.startswith("/dev/") and _PATH.fullmatch(path) is not None
