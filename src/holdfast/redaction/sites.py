"""Find the places where something with a telling name is given a value.

Assignments, fields, headers, parameters and flags all look alike from afar: a name, a sign
that binds, a value. They are found in one scan, anchored on rare letters of the few stems
that telling names have, and each pass then picks the sites that are its own.

What a name announces is told by its last word: `token_count` counts and `key_file` is a path, but
`GITHUB_TOKEN` and `clientSecret` hold secrets. `key` alone says nothing; it needs a word that makes
it one.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from holdfast.redaction.spans import STICKY, TextViews, find_each, unglued
from holdfast.redaction.vendor_tables import EVERYDAY, SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterable


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Words after the one that decides: `API_KEY_PROD`, `password2`, `SECRET_KEY_BASE`.
_AFTER = frozenset(
    """base b64 base64 value plain plaintext string str raw prod production dev development
    staging stage live sandbox default old new primary secondary backup main admin root db
    database github gitlab openai anthropic aws azure gcp slack stripe rw ro readonly read write
    a b v""".split(),
)
_NOT_SECRET = frozenset("public publishable csrf xsrf fake no not without has is use".split())
_TOKEN_OF_TEXT = frozenset(
    """page next prev previous continuation continue cursor sync eos bos pad unk sep cls mask
    start end stop special first last current num max min total per input output prompt
    completion cached reasoning image cancellation abort lookahead anti authenticity change
    resume pagination each this that peek any other""".split(),
)
_KEYS = frozenset(
    """api access secret private auth signing sign encryption encrypt decryption master account
    client app application service license licence storage shared ssh gpg pgp hmac webhook deploy
    deployment registration ingest ingestion write admin root server subscription functions
    function integration instrumentation bot jwt session cookie crypto aes wallet consumer
    developer prod live sandbox restricted personal security vault authentication authorization
    user rest management project org partner merchant billing payment tunnel join bootstrap
    sas connection bearer host cloud preshared psk fernet registry pat
    sl iam cos alchemy sdk""".split(),
).union(SERVICES.split(), EVERYDAY.split())
_SERVICES = frozenset(f"{SERVICES} {EVERYDAY} api access".split())
# What has a key that finds something, and opens nothing.
_FINDS = frozenset(
    """bucket cache column composite config content data dedup dedupe dict doc document entity entry
    event field file foreign group hash hot idempotency idx index item job kms label lookup map
    memo message metadata natural node object parent partition path primary product pub query range
    record redis ref region request resource result root route routing row s3 schema search sequence
    shard signature slot sort state storage store table tag task test translation tree tuple
    type unique url video view window the this that a of on by with same first last each one other
    every any its ssh host finger s socket fips mlkem""".split(),
)
LONGEST_VALUE = 4096
_FIRST_LOOK = 256
_LONGEST_NAME = 64
_QUOTE = rb"(?:\\{0,3}[\"'`])"
# A question mark is any character beyond ASCII: a narrow space, or a wide sign that binds.
_GAP = rb"[ \t?]{0,8}+"
_ESCAPED_COLOR = rb"(?:\\{1,2}(?:u001b|x1b|033)\[[\d;]{0,12}m)?"
_BREAK = rb"(?:[ \t,]|\\{1,2}[nr]|\r?\n){1,40}+"
_BINDS = (
    rb"(?:"
    # A declared type between name and value: `token: str = "..."`.
    + rb":[ \t]?&?(?:'static )?(?:str|string|bytes|optional\[str\]|str \| none|string\?)"
    + rb"[ \t]?=(?!=)"
    # A block of YAML, whose value is on the next line.
    + rb"|:[ \t]{1,4}[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,40}(?=\S)"
    + rb"|=>|:{1,3}=|\?{1,2}=|\.=|={1,3}|:{1,2}(?!//)|\|\|=?"
    # Of whom it is: `the password for user 'app' is '...'`.
    + rb"|(?<=password[ \t])(?:for|of) (?:the )?user(?:name)? [\"'][^\"'\n]{1,64}[\"'] is (?=[\"'])"
    # Of what it is: `the password for staging is ...`, in other languages too.
    + rb"|(?<=password[ \t])(?:for|of|to) (?:(?!is )[\w.-]{1,24} ){1,4}is (?=\S)"
    + rb"|(?<=wort[ \t])f\?r (?:[\w.?-]{1,24} ){1,4}(?:lautet|ist) (?=\S)"
    + rb"|(?:(?<=clave[ \t])|(?<=passe[ \t]))d(?:el?|u)(?: la)? [\w.-]{1,24} es?t? (?=\S)"
    # How a router has hidden it: `password 7 0822455D`.
    + rb"|(?:(?<=password[ \t])|(?<=secret[ \t])|(?<=key[ \t]))[0-9][ \t](?=[0-9a-f]{8})"
    # In prose, in another file's words, and in tables; who uses such a site looks closer.
    + rb"|(?<=[ \t?])(?:is|was|to|ist|lautet|es|est)(?:[ \t]{1,4}|:)|\||(?<=\?)|(?<=\? )"
    + rb"|(?<=[ \t])(?=[\"']|[A-Za-z0-9+/_.-]{20})|(?<=password[ \t])(?=[^\s=:|?])"
    # An argument after a quoted name: `setenv("API_KEY", "...")`.
    + rb"|(?<=[\"'`]),(?=[ \t]{0,4}\\{0,3}[\"'`])"
    # The second argument of `NetworkCredential("user", "...")`.
    + rb"|(?<=redential)\([\"'][^\"'\n]{1,64}[\"'],[ \t]{0,4}(?=[\"'])"
    # An element: `<password>...</password>`.
    + rb"|(?<=pass )encoding=\"base64\">|(?<=[\w-])>(?:[ \t]{0,8}\r?\n[ \t]{1,40})?(?=[^\s<>=])"
    + rb")"
)
# Name and value apart: `name: API_TOKEN` and `value: ...` in lists of environment variables.
_PAIRED = _QUOTE + rb"?" + _BREAK + _QUOTE + rb"?value" + _QUOTE + rb"?" + _GAP + rb"[:=]"
# What follows a name that binds nothing secret; refused before Python sees the site.
_NOT_A_VALUE = rb"(?![ \t]*(?:[{\[(]|true\b|false\b|null\b|none\b|[,;)\]}]|$))"
_TAIL = (
    rb"([\w-]{0,24}+)(?:"
    + (_ESCAPED_COLOR + _QUOTE + rb"?\]?" + _GAP + _BINDS + _ESCAPED_COLOR)
    + rb"|"
    + _PAIRED
    + rb")"
    + _NOT_A_VALUE
    # A value on the next line only when it is quoted, as in indented JSON.
    + rb"(?:[ \t]{0,40}(?:\r?\n[ \t]{0,80}(?=[\"']))?)"
)
_STEMS: tuple[re.Pattern[bytes], ...] = tuple(
    re.compile(stem + _TAIL)
    for stem in (
        rb"k(?:(?<=tok)en(?!s|iz)|ey(?!s|word|board|frame|path|name|err|down|up\b|press|_?id\b)"
        rb"|(?<=cook)ie|ennwort|ty\b|ind(?=[\"']?:[ \t]{0,4}[\"']?secret\b))",
        rb"p(?:ass(?!ed|es|ing|ive|age|thr)|w|hone|a(?:rol[ae]?|t)\b|rivate-lines)",
        rb"cr(?:(?<=secr)et|ed)",
        rb"u(?:(?<=au)th(?!or[^i])|se[r](?<= /user)(?=:))",
    )
)
_CLAVE = re.compile(rb"clave(?!\w)" + _TAIL)
_SPACED = re.compile(rb".{0,16}(?<![\w.-])([A-Za-z]{2,16} key)\Z", re.IGNORECASE)
_LONGEST_WORD = 17
_OPENING = re.compile(rb"\\{0,3}[\"'`]")
_MAY_OPEN = frozenset({b'"', b"'", b"`", b"\\"})
# The last two bytes before a value, when all they say is a colon.
_COLON = frozenset({b":"}.union(*({b":%c" % gap, b"%c:" % gap} for gap in b" \t\n\r\v\f")))
# Not `=`: base64 pads with it. Not `&` or `;`: they end a parameter and a statement.
_UNQUOTED = re.compile(rb"[^\s\"'`,;<>|&(){}\[\]\\]{1,%d}" % _FIRST_LOOK)
_AFTER_COLON = re.compile(rb"[^\s\"'`,<>(){}\[\]\\]{1,%d}" % _FIRST_LOOK)


class SecretKind(Enum):
    """What a name promises about its value."""

    NOTHING = "nothing"
    PASSWORD = "password"
    SECRET = "secret"
    TOKEN = "token"
    KEY = "key"
    SOME_KEY = "some key"
    """The key of something that nobody here knows."""
    AUTH = "auth"
    COOKIE = "cookie"
    PHONE = "phone"
    MANIFEST = "manifest"
    """The kind of a Kubernetes object that holds secrets."""
    WEB_KEY = "web key"
    """The type of a JSON Web Key."""
    NET_USER = "net user"
    """The user of a share that Windows connects to, beside whom the password stands."""
    PUTTY = "putty"
    """The number of lines of a private key that PuTTY has written."""


_ENDINGS: tuple[tuple[str, SecretKind], ...] = (
    ("password", SecretKind.PASSWORD),
    ("passwd", SecretKind.PASSWORD),
    ("passphrase", SecretKind.PASSWORD),
    ("passcode", SecretKind.PASSWORD),
    ("pwd", SecretKind.PASSWORD),
    ("passwort", SecretKind.PASSWORD),
    ("kennwort", SecretKind.PASSWORD),
    ("passe", SecretKind.PASSWORD),
    ("secret", SecretKind.SECRET),
    ("authtoken", SecretKind.TOKEN),
    ("token", SecretKind.TOKEN),
    ("credentials", SecretKind.TOKEN),
    ("credential", SecretKind.TOKEN),
    ("creds", SecretKind.TOKEN),
)

_WHOLE_WORDS = {
    "pass": SecretKind.PASSWORD,
    "pw": SecretKind.PASSWORD,
    "cred": SecretKind.TOKEN,
    "auth": SecretKind.AUTH,
    "authorization": SecretKind.AUTH,
    "authentication": SecretKind.AUTH,
    "cookie": SecretKind.COOKIE,
    "phone": SecretKind.PHONE,
    "phones": SecretKind.PHONE,
    "clave": SecretKind.PASSWORD,
    "parola": SecretKind.PASSWORD,
    "parol": SecretKind.PASSWORD,
    "kind": SecretKind.MANIFEST,
    "kty": SecretKind.WEB_KEY,
    "lines": SecretKind.PUTTY,
    "user": SecretKind.NET_USER,
}
# Names in scripts and with letters that the views do not have, as `casefold` writes them.
_FOREIGN = {
    **dict.fromkeys(
        """contrase\u00f1a has\u0142o \u015fifre l\u00f6senord jelsz\u00f3 m\u1eadt\u00a0kh\u1ea9u
        \u043f\u0430\u0440\u043e\u043b\u044c \u043f\u0430\u0440\u043e\u043b\u0430
        \u5bc6\u7801 \u5bc6\u78bc \u53e3\u4ee4 \u30d1\u30b9\u30ef\u30fc\u30c9
        \ube44\ubc00\ubc88\ud638 \uc554\ud638 \u0627\u0644\u0645\u0631\u0648\u0631
        \u0627\u0644\u0633\u0631 \u05e1\u05d9\u05e1\u05de\u05d4 \u05e1\u05d9\u05e1\u05de\u05d0
        \u03ba\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2 \u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19
        \u092a\u093e\u0938\u0935\u0930\u094d\u0921""".casefold()
        .replace("\u00a0", "_")
        .split(),
        SecretKind.PASSWORD,
    ),
    "\u5bc6\u94a5": SecretKind.SECRET,
    "\u5bc6\u9470": SecretKind.SECRET,
    "\u0441\u0435\u043a\u0440\u0435\u0442": SecretKind.SECRET,
    "\u0442\u043e\u043a\u0435\u043d": SecretKind.TOKEN,
    "\u4ee4\u724c": SecretKind.TOKEN,
    "\u30c8\u30fc\u30af\u30f3": SecretKind.TOKEN,
}
_FOREIGN_NAMES = tuple(_FOREIGN)
_LONGEST_FOREIGN = max(map(len, _FOREIGN))
_FOREIGN_LAST = frozenset(name[-1] for name in _FOREIGN)
_FOREIGN_LETTERS = frozenset(
    letter
    for name in _FOREIGN
    for letter in name + name.upper() + name.title()
    if not letter.isascii()
)
# The rest of a name after a letter beyond ASCII, and what binds.
_FOREIGN_REST = re.compile(
    rb"\??(?:a|o|u|ifre|senord)?([\"'`]?[ \t]{0,4}"
    rb"(?:[:=]|(?<=[ \t])(?:del? (?:la )?[\w.-]{1,24} )?es:?[ \t])[ \t]{0,8})"
)
_FOREIGN_SIGN = re.compile(rb"[:=][ \t]{0,8}")
_WIDE_COLON = "\uff1a"
_DENSE = 16
_NARROW = str.maketrans(
    "\uff1a\uff1d\u2502\u2503\u2551\uff5c\u00a0\u3000\u202f\u00fc", ":=||||   u"
)


def split_words(name: str) -> list[str]:
    """Return the words that a name joins."""
    return _WORDS.findall(name)


def names_service(name: str) -> bool:
    """Return whether a name has a service in it that gives tokens out."""
    return not _SERVICES.isdisjoint(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=8192)
def kind_of(name: str) -> SecretKind:
    """Return the kind of secret that a name announces."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _AFTER):
        words.pop()
    # The key of a kubeconfig.
    if words[-2:] == ["key", "data"]:
        words.pop()
    if not words or not _NOT_SECRET.isdisjoint(words):
        return SecretKind.NOTHING
    last = words[-1]
    if last in {"number", "no"} and words[-2:-1] == ["phone"]:
        return SecretKind.PHONE
    # Alone it is a pattern.
    if last == "pat":
        return SecretKind.TOKEN if len(words) > 1 else SecretKind.NOTHING
    if last in _WHOLE_WORDS:
        return _WHOLE_WORDS[last]
    if last.endswith("key"):
        if _is_secret_key(words):
            return SecretKind.KEY
        is_some = last == "key" and len(words) > 1 and _FINDS.isdisjoint(words)
        return SecretKind.SOME_KEY if is_some else SecretKind.NOTHING
    for ending, kind in _ENDINGS:
        if last.endswith(ending):
            # Such a token is a piece of text or a place in a list, and no credential.
            is_text = last == "token" and len(words) > 1 and words[-2] in _TOKEN_OF_TEXT
            return SecretKind.NOTHING if is_text else kind
    return SecretKind.NOTHING


def _is_secret_key(words: list[str]) -> bool:
    joined = words[-1][: -len("key")]
    if not joined:
        return len(words) > 1 and words[-2] in _KEYS
    return joined in _KEYS or any(
        joined.endswith(word) for word in ("api", "access", "secret", "private", "auth", "account")
    )


class Site(NamedTuple):
    """A telling name, and where its value begins.

    A named tuple, because thousands are made for a hostile line and it takes a third of the time.
    """

    kind: SecretKind
    start: int
    """Where the name begins."""
    stop: int
    """Where the name ends."""
    value: int
    """Where the value begins, its opening quote included."""
    is_field: bool
    """Whether more than an equals sign binds the two, as in JSON, YAML, calls and markup."""
    sign: bytes
    """What stands between name and value, wide signs as the narrow ones they stand for."""


class Value(NamedTuple):
    """What a site is bound to, without its quotes."""

    start: int
    stop: int
    quoted: bool


def find_sites(view: TextViews) -> list[Site]:
    """Return every site whose name announces a secret, in the order of their values."""
    sites: list[Site] = []
    raw = view.raw
    rfind = view.runs.rfind
    nothing = SecretKind.NOTHING
    for stem in (*_STEMS, _CLAVE) if b"clave" in view.lower else _STEMS:
        for found in stem.finditer(view.lower):
            (start, value), stop = found.span(), found.end(1)
            floor = start - _LONGEST_NAME if start > _LONGEST_NAME else 0
            start = rfind(b" ", floor, start) + 1 or floor
            if start and raw[start - 1] in STICKY:
                start = unglued(raw, start)
            kind = kind_of(raw[start:stop].decode())
            if kind is nothing:
                # `API key` has a blank inside.
                spaced = _SPACED.match(raw, max(0, start - _LONGEST_WORD), stop)
                if spaced is None:
                    continue
                start = spaced.start(1)
                kind = kind_of(spaced.group(1).decode())
                if kind is not SecretKind.KEY:
                    continue
            sign = raw[stop:value]
            if b"?" in sign:
                sign = view.text[stop:value].translate(_NARROW).encode("ascii", "replace")
                if b"?" in sign.replace(b"??=", b"").replace(b"?=", b""):
                    continue
            if b"  " in sign and "\x1b" in view.text[stop:value]:
                sign = sign.strip()
            is_field, is_comma = _read_sign(sign)
            # A comma binds the first argument of a call; in a list it binds nothing.
            before = raw[max(0, start - 5) : start] if is_comma else b"("
            if before.rstrip(b"\"'`\\").endswith(b"("):
                sites.append(Site(kind, start, stop, value, is_field, sign))
    if not view.text.isascii():
        sites += _foreign_sites(view)
    if len(sites) > 1:
        sites.sort(key=_VALUE)
        # Return the sites without those whose value is another name of the same kind.
        #
        # In `token = token = x` the last binding has the value.
        kept = [
            site
            for site, following in pairwise(sites)
            if site.value != following.start or site.kind is not following.kind
        ]
        return kept + sites[-1:]
    return sites


def _foreign_sites(view: TextViews) -> list[Site]:
    """Return the sites whose names are not ASCII."""
    text = view.text
    sites: list[Site] = []
    for stop, value in _foreign_bindings(view):
        if text[stop - 1].casefold() not in _FOREIGN_LAST:
            continue
        # Some names have a blank inside.
        before = text[max(0, stop - _LONGEST_FOREIGN) : stop].casefold().replace(" ", "_")
        if before.endswith(_FOREIGN_NAMES):
            name = next(filter(before.endswith, _FOREIGN_NAMES))
            sign = text[stop:value].translate(_NARROW).encode("ascii", "replace")
            sites.append(
                Site(_FOREIGN[name], stop - len(name), stop, value, is_field=True, sign=sign)
            )
    return sites


def _foreign_bindings(view: TextViews) -> Iterable[tuple[int, int]]:
    """Return where names beyond ASCII may end and where their values begin.

    Characters beyond ASCII are looked at one by one while they are few. Where they are the text
    itself, colons and equals signs are fewer.
    """
    text, raw = view.text, view.raw
    found: list[tuple[int, int]] = []
    for count, at in enumerate(find_each(raw, b"?")):
        if count * _DENSE > at + _FIRST_LOOK * _DENSE:
            break
        letter = text[at]
        if letter == _WIDE_COLON:
            found.append((at, at + 1))
        elif letter in _FOREIGN_LETTERS and (rest := _FOREIGN_REST.match(raw, at + 1)):
            found.append(rest.span(1))
    else:
        return found
    wide = ((here.start(), here.end()) for here in re.finditer(_WIDE_COLON, text))
    narrow = (
        (len(raw[max(0, at - 8) : at].rstrip(b" \t\"'`")) + max(0, at - 8), here.end())
        for sign in (b":", b"=")
        for at in find_each(raw, sign)
        if (here := _FOREIGN_SIGN.match(raw, at))
    )
    return chain(wide, narrow)


_VALUE = itemgetter(Site._fields.index("value"))


@lru_cache(maxsize=1024)
def _read_sign(sign: bytes) -> tuple[bool, bool]:
    """Return whether what binds makes a field, and whether it is only a comma."""
    is_comma = b"," in sign and b"(" not in sign and b"value" not in sign.lower()
    return bool(sign.strip(b"= \t")), is_comma


def whole_value(raw: bytes, value: Value) -> Value:
    """Return a value to its real end: a bare one is read no further than a first look needs.

    Only what is masked is read to the end, and then it is not read again.
    """
    stop = value.stop
    while not value.quoted and (stop - value.start) % _FIRST_LOOK == 0:
        more = _UNQUOTED.match(raw, stop)
        if more is None:
            break
        stop = more.end()
    return Value(value.start, stop, quoted=value.quoted)


def read_value(raw: bytes, start: int, *, to_blank: bool = False) -> Value | None:
    """Return the value that begins at a position, or None when there is none on this line.

    Args:
        raw: The text.
        start: Where the value begins, its opening quote included.
        to_blank: Whether nothing but white space ends it, as after a colon.
    """
    opening = _OPENING.match(raw, start) if raw[start : start + 1] in _MAY_OPEN else None
    if opening:
        start, delimiter = opening.end(), opening.group()
        limit = start + LONGEST_VALUE
        stop = raw.find(delimiter, start, limit)
        while stop > start and len(delimiter) == 1 and raw[stop - 1] == 0x5C:
            stop = raw.find(delimiter, stop + 1, limit)
        # Most quotes close soon, so the line is only looked at up to there.
        if stop > start and raw.find(b"\n", start, stop) < 0:
            return Value(start, stop, quoted=True)
    # After a colon nothing but white space ends a value; passwords contain what would.
    to_blank = to_blank or raw[max(0, start - 2) : start] in _COLON
    bare = _AFTER_COLON if to_blank else _UNQUOTED
    found = bare.match(raw, start)
    return Value(start, found.end(), bool(opening)) if found else None
