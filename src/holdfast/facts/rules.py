"""What counts as a name: every rule in one place.

A name is a run of characters that must survive letter for letter: a path, an identifier, a commit.
Text is cut into runs at the speed of `bytes.translate`, and each distinct run is read once.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Fact", "Kind", "read_run", "runs"]


class Kind(StrEnum):
    """What a fact is about."""

    PATH = "path"
    URL = "url"
    IDENTIFIER = "identifier"
    COMMIT = "commit"
    PORT = "port"
    VERSION = "version"
    NUMBER = "number"
    FLAG = "flag"


class Fact(NamedTuple):
    """Something exact that a record must not paraphrase.

    A named tuple, because thousands are made in each compaction and it takes half of the time.
    """

    kind: Kind
    text: str


_LONGEST = 200
_LONGEST_SCHEME = 12
_LONGEST_HOST = 64
_SHORTEST = 4

_EXTENSIONS = frozenset(
    [
        *("astro", "bash", "bat", "bin", "c", "cc", "cfg", "cjs", "clj", "cmake", "conf", "cpp"),
        *("cs", "csproj", "css", "csv", "cu", "dart", "db", "diff", "dll", "env", "erl", "ex"),
        *("exe", "exs", "fish", "gif", "go", "gradle", "gz", "h", "hcl", "hpp", "hs", "htm"),
        *("html", "ico", "in", "ini", "ipynb", "jar", "java", "jpeg", "jpg", "js", "json"),
        *("jsonl", "jsx", "kt", "less", "lock", "log", "lua", "m", "md", "mdx", "mjs", "ml"),
        *("mod", "mts", "nix", "out", "parquet", "patch", "pb", "pdf", "php", "pl", "png"),
        *("properties", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "s", "sass", "scala"),
        *("scss", "sh", "so", "sol", "sql", "sqlite", "sum", "svelte", "svg", "swift", "tar"),
        *("tex", "tf", "tmpl", "toml", "traj", "ts", "tsv", "tsx", "txt", "vue", "wasm", "webp"),
        *("whl", "xml", "yaml", "yml", "zig", "zip", "zsh"),
    ]
)
# The form of a name and nothing to say about a project.
_COMMON = frozenset(
    [
        *("ASCII", "DELETE", "ERROR", "FAIL", "FALSE", "GitHub", "HEAD", "HTML", "HTTP", "HTTPS"),
        *("INFO", "JSON", "JavaScript", "LICENSE", "NOTE", "NULL", "PASS", "PATCH", "POST"),
        *("README", "TODO", "TRUE", "TypeScript", "UUID", "WARN", "WARNING", "YAML", "__init__"),
        *("__main__", "__name__", "/dev/null", "utf-8"),
    ]
)

_NAME = re.compile(
    r"""
      (?P<flag>--[A-Za-z][A-Za-z0-9_-]+)
    | (?P<commit>[0-9a-f]{7,40})
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?:ms|us|ns|s|m|h|d|[kKMGT]i?[bB]?|x|px|%)?)
    | (?P<version>v?[0-9]+(?:\.[0-9]+)+(?:[-+]?[a-z]+\.?[0-9]*)?)
    | (?P<path>[A-Za-z0-9_.~@+#%-]*+(?:/[A-Za-z0-9_.@+%~#-]++)++)
    | (?P<identifier>[A-Za-z_.@][A-Za-z0-9_.@#+-]*)
    """,
    re.VERBOSE,
)
_STRUCTURE = re.compile(
    r"[A-Za-z0-9]_[A-Za-z0-9]|^_|[a-z][A-Z]|[A-Za-z][0-9]|-[A-Za-z]*[0-9]|\w\.[A-Za-z_]", re.A
)
# Most names look like this, and nothing else does: words joined by underscores or capitals.
_PLAIN = re.compile(
    r"(?=....)(?:[A-Za-z_][A-Za-z0-9]*+_[A-Za-z0-9]\w*+|[A-Z]?[a-z]++[A-Z][A-Za-z]*+)", re.A
)
_HYPHENED = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_HOST = re.compile(r"localhost|[0-9]+(?:\.[0-9]+){3}|[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_PORT = re.compile(r"[0-9]{2,5}")
# What the cheap cut would break: addresses, paths of Windows, ports of hosts. A colon mostly parts
# a file from a line in it, so those are told from ports before anything else is looked at.
_ADDRESS = re.compile(r"://[^\s\"'`<>()\[\]{}|\\^]{4,}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z+]{1,11}$")
_DRIVE = re.compile(r":\\[^\s\"'`<>|*?:()]{3,}")
_LETTER = re.compile(r"\b[A-Za-z]$")
_PORT_OF = re.compile(
    r":(?:(?<=[a-z]:)(?<!\.[a-z]:)(?<!\.(?:py|ts|js|go|rs|md):)|(?<=\.[0-9]:)|(?<=[0-9]{2}:))"
    r"[0-9]{2,5}(?!\w|:|\.\w)"
)
_HOST_END = re.compile(
    r"(?<![\w.-])(?:localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[a-z0-9-]+(?:\.[a-z0-9-]+)+)$"
)

# The empty parentheses of a call become one mark: often the only sign that a word is a name.
_CALL = b"\x01"
# Every byte that no name is made of becomes a space. Bytes of other scripts do too, so that a name
# in the middle of a Chinese sentence stands alone.
_NAME_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./~@+#%-" + _CALL
_SPACED = bytes(byte if byte in _NAME_BYTES else 32 for byte in range(256))


def runs(text: str) -> list[bytes]:
    """Cut a text into runs of the characters that names are made of.

    Runs are bytes and are cut without looking at any character twice, which is what bounds the
    speed of extraction. The escapes of line breaks in quoted code belong to no name.
    """
    extra: list[bytes] = []
    if ":" in text:
        if "://" in text:
            extra += _around(text, _SCHEME, _ADDRESS, _LONGEST_SCHEME)
            text = _ADDRESS.sub(" ", text)
        if ":\\" in text:
            extra += _around(text, _LETTER, _DRIVE, 2)
        extra += _around(text, _HOST_END, _PORT_OF, _LONGEST_HOST)
    raw = text.encode("utf-8", "replace").replace(b"()", _CALL)
    if b"\\" in raw:
        raw = raw.replace(b"\\n", b" ").replace(b"\\t", b" ")
    found = raw.translate(_SPACED).split()
    return found + extra if extra else found


def _around(
    text: str, before: re.Pattern[str], after: re.Pattern[str], reach: int
) -> Iterator[bytes]:
    """Yield what stands around each match of `after`, found by its first character.

    That is plain text, and searching plain text is much faster than trying a pattern everywhere.
    """
    for match in after.finditer(text):
        place = match.start()
        if start := before.search(text[max(0, place - reach) : place]):
            yield (start.group() + match.group()).encode("utf-8", "replace")


def read_run(run: bytes) -> tuple[Fact, ...]:
    """Return the names in a run of characters; an ordinary word has none."""
    # Most runs are plain words of prose, told apart here before any pattern is tried.
    if not 2 < len(run) <= _LONGEST or (run.isalpha() and run[1:].islower()):
        return ()
    word = run.decode("utf-8", "replace")
    if run.isdigit():
        return (Fact(Kind.NUMBER, word),)
    if _PLAIN.fullmatch(word):
        return () if word in _COMMON else (Fact(Kind.IDENTIFIER, word),)
    if "://" in word:
        text = word.replace("\x01", "").rstrip(".:-+#@,;!?")
        scheme, _, place = text.partition("://")
        return (Fact(Kind.URL, text),) if scheme and len(place) > 1 else ()
    if "\\" in word:
        return (Fact(Kind.PATH, word.rstrip(".,;")),)
    if "\x01" in word:
        return tuple(fact for each in word.split("\x01") if (fact := _name(each, called=True)))
    if ":" in word:
        return tuple(_apart(word))
    fact = _name(word, called=False)
    return () if fact is None else (fact,)


def _apart(run: str) -> list[Fact]:
    """Read `file.py:12`, `localhost:8080` and `crate::module` word by word."""
    found: list[Fact] = []
    before = ""
    for word in run.rstrip(".").split(":"):
        if _PORT.fullmatch(word) and _is_host(before):
            found.append(Fact(Kind.PORT, f"{before}:{word}"))
        elif fact := _name(word, called=False):
            found.append(fact)
        before = word
    return found


def _is_host(word: str) -> bool:
    return _HOST.fullmatch(word) is not None and word.rpartition(".")[2] not in _EXTENSIONS


def _name(word: str, *, called: bool) -> Fact | None:
    text = word
    if not word[-1:].isalnum():
        text = word.rstrip(".-+#@/~" if word.endswith("%") else ".-+#%@/~")
    if not text.startswith("--"):
        text = text.lstrip("-+#%")
    if text[1:2] == "/" and text[0] in "ab":
        # Diffs put these before the path.
        text = text[2:]
    match = _NAME.fullmatch(text)
    if match is None or text in _COMMON:
        return None
    match match.lastgroup:
        case "identifier":
            return _identifier(text, called=called)
        case "path":
            return Fact(Kind.PATH, text) if text.upper() != text.lower() else None
        case "flag":
            return Fact(Kind.FLAG, text)
        case "version":
            return Fact(Kind.VERSION, text)
        case "commit" if not text.isdigit():
            # A word of seven letters from a to f is a word.
            return None if text.isalpha() else Fact(Kind.COMMIT, text)
        case _:
            return Fact(Kind.NUMBER, text) if len(text) > 2 else None


def _identifier(text: str, *, called: bool) -> Fact | None:
    if len(text) < _SHORTEST:
        return None
    stem, dot, extension = text.rpartition(".")
    if called and not stem:
        text = text.lstrip(".")
    elif dot and (extension.lower() in _EXTENSIONS or not stem):
        return Fact(Kind.PATH, text)
    if called or _STRUCTURE.search(text) or _HYPHENED.fullmatch(text) or text.isupper():
        return Fact(Kind.IDENTIFIER, text)
    return None
