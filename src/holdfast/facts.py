"""Exact names: what counts as one, and the evidence ledger of those that a record does not tell.

A name is a run of characters that must survive letter for letter: a path, an address, an
identifier, a commit, a flag. Bare numbers and versions say nothing without what they count.

A name without what it is tells nobody anything, so a line of the ledger is the statement in which
somebody used the name last: a command that was run, a sentence that was said. It is whole or not
there: half a statement says less than the room it takes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_READ = 500
"""How many of the newest statements are looked at."""
_OFTEN = 2.0
"""As how many uses a line of the ledger before counts."""
_HALF = 40
"""How many newer statements take half of what a use counts more for being new."""
_LINE = 160
"""Characters of a statement that is a line."""
_CUT = ("…", "...")
"""How a text ends that was cut before."""
_LONGEST, _SHORTEST = 200, 4

_EXTENSIONS = frozenset(
    """
    astro bash bat bin c cc cfg cjs clj cmake conf cpp cs csproj css csv cu dart db diff dll env erl
    ex exe exs fish gif go gradle gz h hcl hpp hs htm html ico in ini ipynb jar java jpeg jpg js
    json jsonl jsx kt less lock log lua m md mdx mjs ml mod mts nix out parquet patch pb pdf php pl
    png properties proto ps1 py pyi r rb rs rst s sass scala scss sh so sol sql sqlite sum svelte
    svg swift tar tex tf tmpl toml traj ts tsv tsx txt vue wasm webp whl xml yaml yml zig zip zsh
    """.split()
)
# The form of a name and nothing to say about a project.
_COMMON = frozenset(
    """
    ASCII DELETE ERROR FAIL FALSE GitHub HEAD HTML HTTP HTTPS INFO JSON JavaScript LICENSE NOTE NULL
    PASS PATCH POST README TODO TRUE TypeScript UUID WARN WARNING YAML __init__ __main__ __name__
    /dev/null utf-8
    """.split()
)

_NAME = re.compile(
    r"""
      (?P<flag>--[A-Za-z][A-Za-z0-9_-]+)
    | (?P<commit>[0-9a-f]{7,40})
    | (?P<number>v?[0-9]+(?:\.[0-9]+)*(?:[-+]?[a-zA-Z]{0,3}%?\.?[0-9]*))
    | (?P<path>[A-Za-z0-9_.~@+#%-]*+(?:/[A-Za-z0-9_.@+%~#-]++)++)
    | (?P<identifier>[A-Za-z_.@][A-Za-z0-9_.@#+-]*)
    """,
    re.VERBOSE,
)
_STRUCTURE = re.compile(
    r"[A-Za-z0-9]_[A-Za-z0-9]|^_|[a-z][A-Z]|[A-Za-z][0-9]|-[A-Za-z]*[0-9]|\w\.[A-Za-z_]", re.A
)
_HYPHENED = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_PLAIN = re.compile(r"[\"'(]?[A-Z]?[a-z]+[.,;:!?\"')]*\Z")
# A colon mostly parts a file from a line in it, so ports are told by the host before them.
_RUN = re.compile(
    r"""
      (?P<address>[A-Za-z][A-Za-z+]{1,11}://[^\s"'`<>()\[\]{}|\\^]{4,})
    | (?P<drive>\b[A-Za-z]:\\[^\s"'`<>|*?:()]{3,})
    | (?P<port>(?<![\w.-])(?:localhost|[0-9a-z-]{1,63}(?:\.[0-9a-z-]{1,63}){1,6})
        :[0-9]{2,5}(?!\w|:|\.\w))
    | (?P<word>[A-Za-z0-9_./~@+#%-]++(?:\(\)[A-Za-z0-9_./~@+#%-]*+)*+)
    """,
    re.VERBOSE,
)
# Every byte that no name is made of becomes a space. Bytes of other scripts do too, so that a name
# in the middle of a Chinese sentence stands alone.
_NAME_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./~@+#%-"
_SPACED = bytes(byte if byte in _NAME_BYTES else 32 for byte in range(256))


class Used(Protocol):
    """Words in which names were used."""

    @property
    def text(self) -> str:
        """Return the words."""
        ...


def ledger(
    untold: Sequence[Used],
    *,
    present: str,
    budget: int,
    count: Callable[[str], int],
    earlier: Sequence[Used] = (),
    around: str = "",
) -> str:
    """Return lines that hold the names which a window lacks, within a budget.

    Args:
        untold: What was said and done and is not told, oldest first.
        present: Everything that the summary tells.
        budget: The most that the lines may weigh.
        count: Weighs them.
        earlier: The lines of the ledger before this one. What stood there was used often, and
            stays also where it is used again right now: what stands around the summary goes on.
        around: What stands around the summary.
    """
    if budget <= 0:
        return ""
    known, shown = runs(present), runs(around)
    read = [*((each, _OFTEN) for each in earlier), *((each, 1.0) for each in untold[-_READ:])]
    found: dict[str, tuple[str, float]] = {}
    worth: dict[str, float] = {}
    for newer, (each, uses) in enumerate(reversed(read)):
        words = each.text.strip("`\"' \n")
        # Short, and not cut before.
        is_line = len(words) <= _LINE and not (words.startswith(_CUT) or words.endswith(_CUT))
        for name in names_in(each.text):
            worth[name] = worth.get(name, 0.0) + uses + 0.5 * _HALF / (_HALF + newer)
            is_told = name.encode() in known or (uses == 1.0 and name.encode() in shown)
            if is_line and not is_told and name not in found:
                found[name] = " ".join(each.text.split()), uses
    lines: dict[str, None] = {}
    told = ""
    for name in sorted(found, key=lambda name: -worth[name]):
        words, uses = found[name]
        line = f"- {words}"
        cost = count(line) + 1
        # A name may stand beside other characters, which belong to the same run.
        is_told = name in told or name in present or (uses == 1.0 and name in around)
        if is_told or cost > budget:
            continue
        budget -= cost
        lines[line] = None
        told += line
    return "\n".join(lines)


def runs(text: str) -> set[bytes]:
    """Return the runs of characters that names are made of, at the speed of `bytes.translate`."""
    return set(text.encode("utf-8", "replace").translate(_SPACED).split())


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a text, each once."""
    if "\\" in text:
        # The escapes of line breaks in quoted code belong to no name.
        text = text.replace("\\n", " ").replace("\\t", " ")
    return tuple(dict.fromkeys(chain.from_iterable(map(_names_of, text.split()))))


@lru_cache(maxsize=16_384)
def _names_of(word: str) -> tuple[str, ...]:
    """Return the names between two blanks; most words come again, and have none."""
    if _PLAIN.match(word):
        return ()
    names: list[str] = []
    for found in _RUN.finditer(word):
        text = found[0]
        match found.lastgroup:
            case "address":
                names.append(text.rstrip(".:-+#@,;!?"))
            case "drive":
                names += [*map(_name, text.split("\\")), text.rstrip(".,;")]
            case "port":
                host = text.partition(":")[0]
                names += [_name(host), "" if host.rpartition(".")[2] in _EXTENSIONS else text]
            case _:
                # The empty parentheses of a call are often the only sign that a word is a name.
                names += [_name(each, called="()" in text) for each in text.split("()")]
    return tuple(filter(None, names))


def _name(word: str, *, called: bool = False) -> str:
    if not 2 < len(word) <= _LONGEST:
        return ""
    text = word if word[-1:].isalnum() else word.rstrip(".-+#%@/~")
    if not text.startswith("--"):
        text = text.lstrip("-+#%")
    if text[1:2] == "/" and text[0] in "ab":
        # Diffs put these before the path.
        text = text[2:]
    match = _NAME.fullmatch(text)
    if match is None or text in _COMMON:
        return ""
    match match.lastgroup:
        case "identifier":
            if len(text) < _SHORTEST:
                return ""
            stem, dot, extension = text.rpartition(".")
            if called and not stem:
                text = text.lstrip(".")
            elif dot and (extension.lower() in _EXTENSIONS or not stem):
                return text
            has_form = _STRUCTURE.search(text) or _HYPHENED.fullmatch(text) or text.isupper()
            return text if called or has_form else ""
        case "path":
            return text if text.upper() != text.lower() else ""
        case "commit":
            # A word of seven letters from a to f is a word, and digits alone are a number.
            return "" if text.isalpha() or text.isdigit() else text
        case "flag":
            return text
        case _:
            return ""
