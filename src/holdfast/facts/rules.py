"""What counts as a name: every rule in one place.

A name is a run of characters that must survive letter for letter: a path, an address, an
identifier, a commit, a flag. Bare numbers and versions say nothing without what they count.
Text is cut into runs at the speed of `bytes.translate`, and each distinct run is read once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["names_in", "runs"]

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
    | (?P<number>v?[0-9]+(?:\.[0-9]+)*(?:[-+]?[a-zA-Z]{0,3}%?\.?[0-9]*))
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


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a text, each once."""
    return tuple(dict.fromkeys(name for run in dict.fromkeys(runs(text)) for name in _read(run)))


def _read(run: bytes) -> Iterator[str]:
    """Yield the names in a run of characters; an ordinary word has none."""
    # Most runs are plain words of prose, told apart here before any pattern is tried.
    if not 2 < len(run) <= _LONGEST or (run.isalpha() and run[1:].islower()) or run.isdigit():
        return
    word = run.decode("utf-8", "replace")
    if _PLAIN.fullmatch(word):
        if word not in _COMMON:
            yield word
    elif "://" in word:
        text = word.replace("\x01", "").rstrip(".:-+#@,;!?")
        scheme, _, place = text.partition("://")
        if scheme and len(place) > 1:
            yield text
    elif "\\" in word:
        yield word.rstrip(".,;")
    elif ":" in word:
        yield from _apart(word)
    else:
        called = "\x01" in word
        yield from filter(None, (_name(each, called=called) for each in word.split("\x01")))


def _apart(run: str) -> Iterator[str]:
    """Read `file.py:12`, `localhost:8080` and `crate::module` word by word."""
    before = ""
    for word in run.rstrip(".").split(":"):
        if _PORT.fullmatch(word) and _is_host(before):
            yield f"{before}:{word}"
        elif name := _name(word, called=False):
            yield name
        before = word


def _is_host(word: str) -> bool:
    return _HOST.fullmatch(word) is not None and word.rpartition(".")[2] not in _EXTENSIONS


def _name(word: str, *, called: bool) -> str:
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
            return _identifier(text, called=called)
        case "path":
            return text if text.upper() != text.lower() else ""
        case "commit":
            # A word of seven letters from a to f is a word, and digits alone are a number.
            return "" if text.isalpha() or text.isdigit() else text
        case "flag":
            return text
        case _:
            return ""


def _identifier(text: str, *, called: bool) -> str:
    if len(text) < _SHORTEST:
        return ""
    stem, dot, extension = text.rpartition(".")
    if called and not stem:
        text = text.lstrip(".")
    elif dot and (extension.lower() in _EXTENSIONS or not stem):
        return text
    has_form = _STRUCTURE.search(text) or _HYPHENED.fullmatch(text) or text.isupper()
    return text if called or has_form else ""
