"""Find secrets by the names they are given: environment assignments, fields and flags of commands.

These are the noisy passes. A name only makes a secret likely, so the value must also look
like one: stricter where a bare word may be code, looser where it can only be a literal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from holdfast.redaction.sites import (
    SecretKind,
    Value,
    kind_of,
    names_service,
    read_value,
    whole_value,
)
from holdfast.redaction.spans import SecretSpan, TextViews
from holdfast.redaction.values import (
    LETTERS,
    counts_far,
    is_gibberish,
    is_numbered_phrase,
    is_passphrase,
    is_placeholder,
    is_random,
    is_varied,
    is_wordy,
    sounds_spoken,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.redaction.sites import Site

# Tuples, because members of an enumeration are slow to hash and quick to compare.
_NAMED = (
    SecretKind.PASSWORD,
    SecretKind.SECRET,
    SecretKind.TOKEN,
    SecretKind.KEY,
    SecretKind.SOME_KEY,
)
_PERSONAL = (SecretKind.PASSWORD, SecretKind.SECRET)
_SHORTEST_PASSWORD = 4
_SHORTEST_TOKEN = 8
_LONG = 20
_JUDGED = 256
_FEW_DIGITS = 3
_VARIABLE = re.compile(rb"[A-Z][A-Z0-9_]*\Z")
# A path begins with a word; a generated value that begins with a slash hardly does.
_PLACE = re.compile(
    rb"[\w+.-]{1,24}://|(?:arn|urn):|[~.]{0,2}/(?:[a-z][a-z._-]{0,63}\d{0,4}|[A-Z][a-z]{1,30}|[A-Z]+)/|[A-Za-z]:\\"
)
_OPENS_CALL = frozenset({b"(", b"[", b"{"})
_FILES = tuple(
    b".pem .key .json .crt .cer .yaml .yml .txt .py .js .ts .env .pub .toml .ini .conf .md".split()
)
_IDENTIFIER = re.compile(rb"[A-Za-z_]++\d{0,4}+[A-Za-z_]*+(?:\.[A-Za-z_]\w*+)*+\Z")
_JOINED = re.compile(rb"[A-Za-z][-_. :]")
# With a slash or a colon it is a reference, as in `vault:app-db:2`.
_NUMBERED = re.compile(rb"[^\d/:]*+\d[^/:]*+\Z")
_HYPHENATED = re.compile(rb"[A-Za-z]-[A-Za-z]")
_SYMBOL = re.compile(rb"[!@#$%^*?~+]")
_GENERATED = re.compile(rb"(?=[^\d]*\d[^\d]*\d)[A-Za-z0-9][A-Za-z0-9+_=.-]*+\Z")
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
# What a loose site has between name and value: nothing, a word of prose, or a line of a table.
_LOOSE = re.compile(
    rb"[\s\"'`\]]*+(?:(?:for|of|to|fur|del?|du) [^:=]{1,90} (?=(?:is|ist|lautet|es|est) ))?+"
    rb"(?:(?:is|was|to|ist|lautet|es|est)[\s:]+|\|\s*+)?+\Z",
    re.IGNORECASE,
)
_OTHER_TONGUES = frozenset({b"est", b"lautet", b"es"})
_NAMED_NUMBER = re.compile(rb"[A-Z][a-z]{4,20}[-_.!#]\d{1,6}\Z")
_WIDE_STOP = re.compile("[\u3001\u3002\u300b\u300d\u300f\uff01\uff09\uff0c\uff1b\uff1f]")
_NETRC = re.compile(
    rb"(?:machine[ \t\r\n]{1,40}\S{1,100}[ \t\r\n]{1,40}|default[ \t]{1,4}|(?:\A|\n)[ \t]{0,40})"
    rb"login[ \t\r\n]{1,40}\S{1,100}[ \t\r\n]{1,40}\Z"
)
_LONG_SAID = 16
_MAY_QUOTE = frozenset({b'"', b"'", b"`"})
_SEPARATOR = re.compile(rb"[-_./:]")
_MIXED = re.compile(rb"[A-Za-z][^A-Za-z\s]|[^A-Za-z\s][A-Za-z]|[a-z][A-Z][a-z]{0,3}[A-Z]")
_ENDS_VALUE = frozenset({b"", b" ", b"\t", b"\r", b"\n", b'"', b"'", b";", b"\\"})
_OPENS_BLOCK = frozenset({b">", b"|"})
_ENDS_LINE = frozenset({b"", b"\r", b"\n"})
_GOES_ON = re.compile(rb"[ \t]{0,8}[](){}[,;|&?+]")
_MADE_UP = re.compile(rb"(?=[\w!@#$%^*?~+-]{6,}+\Z)[A-Za-z]{2,}+\d{1,6}+[a-z]{0,2}[!@#$%^*?~+]*+\Z")
_CONNECTION = re.compile(rb"(?:server|host|source|user ?id|uid|user|database)[ ]?=[^;\n]{1,60};")
_BRACKETED = re.compile(rb"[^\s\"'`,;<>|&\\]{1,256}")
_CALLED = re.compile(rb"[A-Za-z_$&*!@][\w.:>$-]*+\Z")
_REFERENCE = re.compile(rb"[$%#][({][^(){}\n]{0,100}[)}]")
_PHRASE = re.compile(
    rb"[a-z]{3,14}+(?:[ -][a-z]{3,14}+){3,9}+(?=[ \t]{0,8}(?:\r?\n|\Z|[\"'\\]))",
)
_NPMRC = re.compile(rb"//[^\s:]{1,200}/:\Z")
_REGISTRY = 210
# The dash is the anchor; a look behind sees that a flag begins here. The first branch is a
# flag with a telling name, the others `-u` and `-p`, which may touch their value.
_FLAG = re.compile(
    rb"-(?<![^\s\"'`(\[,]-)(?:"
    rb"(-?(?=[a-z])[\w-]{0,32}?(?:pass|pw|secret|token|key|cred)[\w-]{0,20}+)"
    rb"(?:[ \t]{1,4}|[\"'],[ \t]{0,2})(?=[^\s-])"
    rb"|(u|-user|-proxy-user)(?:[ \t=]{1,4})?(?=[\w\"'\\:{$.])"
    rb"|(p)[ \t]?(?=[^\s-]{4})|([awk])[ \t](?=[^\s-]{4})|(s|[bcn]{1,4})[ \t](?=[^\s-]))",
)
# Commands whose one-letter flag is a password and not a port or a path. A capital is a flag of
# its own: `unzip -p` prints.
_TAKES_PASSWORD = {
    b"p": (
        *b"sshpass mysql mariadb mongo sqlcmd psexec cqlsh 7z netexec".split(),
        b" login ",
    ),
    b"P": tuple(b"sqlcmd bcp isql unzip zip mosquitto".split()),
    b"a": (b"redis-cli",),
    b"w": (b"ldapsearch", b"ldapmodify", b"ldapadd", b"ldapdelete", b"ldappasswd", b"ldapwhoami"),
    b"k": (b"openssl",),
}
_SUDO = re.compile(
    rb"echo[ \t]{1,4}(?:-\w[ \t]{1,4})?[\"']?([^\s\"'|]{4,64})[\"']?"
    rb"[ \t]{0,4}\|[ \t]{0,4}sudo[ \t]{1,4}\Z",
)
_HTPASSWD = re.compile(rb"(?:[^\s;|&]{1,200}+[ \t]{1,4}){1,2}+[\"']?([^\s\"';|&]{4,128}+)")
_ENDS_COMMAND = re.compile(rb"[|;&\n]|\\n")
_COMMAND_REACH = 200
_HTPASSWD_FLAGS = frozenset(b"bcn")
_ONLY_GLUED = (b"mysql", b"mariadb")
_BLANKS = frozenset({b" ", b"\t"})


def environment_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the values of assignments such as `GITHUB_TOKEN=...` and `db_password = '...'`."""
    return _bound(view, (site for site in sites if not site.is_field))


def field_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the values of JSON and YAML fields, arguments and elements with telling names."""
    return _bound(view, (site for site in sites if site.is_field))


def names_secret(site: Site) -> bool:
    """Return whether the name alone is enough for a value to be considered."""
    return site.kind in _NAMED


def is_parameter(view: TextViews, site: Site) -> bool:
    """Return whether a site is a parameter of an address, `?token=...` or `&token=...`."""
    return site.start > 0 and view.text[site.start - 1] in "?&"


def holds_secret(kind: SecretKind, value: bytes, *, literal: bool) -> bool:
    """Return whether a value under a telling name is a secret.

    Args:
        kind: What the name announces.
        value: The value without quotes.
        literal: Whether the value cannot be code: it is quoted, or in an environment line.
    """
    if kind is SecretKind.SOME_KEY:
        return _is_generated(value)
    shortest = _SHORTEST_PASSWORD if kind in _PERSONAL else _SHORTEST_TOKEN
    # It is judged up to an equals sign inside, unless little is left.
    judged = value[:_JUDGED]
    sign = judged.find(b"=", _SHORTEST_PASSWORD)
    value = judged if sign < 0 or b"=" in judged[:_SHORTEST_PASSWORD] else judged[:sign]
    if len(value) < shortest:
        return False
    # With spaces it may be a password; plain words are a remark, unless they make no sentence.
    is_phrase = kind is SecretKind.PASSWORD and is_passphrase(value)
    if b" " in value and not (
        kind is SecretKind.PASSWORD and literal and (is_phrase or not is_wordy(value))
    ):
        return False
    if is_placeholder(value) or _PLACE.match(value) or value.endswith(_FILES):
        return False
    if kind not in _PERSONAL:
        return is_random(value) and (len(value) >= _LONG or not counts_far(value))
    # People make passwords up of words and a number. A bare one needs hyphens between words:
    # `size-1` and `users.0` are code.
    is_made_up = kind is SecretKind.PASSWORD and _NUMBERED.match(value)
    if is_made_up and (literal or _HYPHENATED.search(value)):
        return True
    if is_wordy(value):
        # Words that separators join are the name of a secret.
        return literal and (is_phrase or not _JOINED.search(value))
    if literal:
        return True
    # A bare word after a password's name must not be a name in code.
    digits = len(value) - len(value.translate(None, b"0123456789"))
    letters = len(value) - len(value.translate(None, LETTERS))
    return bool(letters) and (bool(digits) or bool(_SYMBOL.search(value)))


def _is_generated(value: bytes) -> bool:
    """Return whether a value can only be generated, whatever it is called."""
    # What has `key` inside is the name of one.
    is_long = _LONG <= len(value) <= _JUDGED and b"key" not in value.lower()
    if not is_long or not _GENERATED.match(value) or _UUID.match(value) or counts_far(value):
        return False
    return is_varied(value) and is_random(value) and not is_placeholder(value)


def _bound(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    raw = view.raw
    spans: list[SecretSpan] = []
    masked = 0
    for site in sites:
        if site.value < masked or site.kind not in _NAMED or is_parameter(view, site):
            continue
        # A quoted name behind a slash is the last part of a route.
        if raw[site.start - 1 : site.start] == b"/" and site.sign[:1] in _MAY_QUOTE:
            continue
        # A bare passphrase has spaces or hyphens between its words.
        phrase = _PHRASE.match(raw, site.value) if site.kind is SecretKind.PASSWORD else None
        if phrase and is_passphrase(phrase.group()):
            masked = phrase.end()
            spans.append(SecretSpan(*phrase.span()))
            continue
        loose = bool(_LOOSE.match(site.sign))
        value = read_value(raw, site.value, to_blank=loose or site.sign.rstrip().endswith(b":"))
        if value is None:
            continue
        is_literal = value.quoted or _cannot_be_code(raw, site, value)
        is_literal = is_literal or _is_colored(view, site, value)
        if not value.quoted and raw[value.stop : value.stop + 1] in _OPENS_CALL:
            value = _beyond_brackets(raw, value, literal=is_literal)
        if value and not value.quoted and not view.text.isascii():
            # The punctuation of a sentence that has no spaces ends it.
            wide = _WIDE_STOP.search(view.text, value.start, value.stop)
            value = Value(value.start, wide.start(), quoted=False) if wide else value
        if value is None or value.stop - value.start < _SHORTEST_PASSWORD:
            continue
        secret = raw[value.start : value.stop]
        if (
            _is_said(raw, site, value)
            if loose
            else _is_secret(raw, site, secret, literal=is_literal)
        ):
            whole = whole_value(raw, value)
            masked = whole.stop
            end = whole.stop - (loose and raw[whole.stop - 1] in b".")
            spans.append(SecretSpan(value.start, end))
    return spans


def _is_colored(view: TextViews, site: Site, value: Value) -> bool:
    """Return whether a terminal shows a token in a color of its own, with digits as no name has."""
    if site.kind is SecretKind.PASSWORD or "\x1b" not in view.text[site.stop : value.start]:
        return False
    secret = view.raw[value.start : value.stop]
    return len(secret) - len(secret.translate(None, b"0123456789")) >= _FEW_DIGITS


def _cannot_be_code(raw: bytes, site: Site, value: Value) -> bool:
    """Return whether a bare value is written where code would not be."""
    sign = site.sign
    # What follows `NAME=` in capitals, or an element.
    if sign == b">" or (sign == b"=" and _VARIABLE.match(raw, site.start, site.stop)):
        return True
    if site.kind is not SecretKind.PASSWORD:
        return False
    # Code has no names beyond ASCII, but sentences have.
    if b"?" in raw[site.start : site.stop]:
        return bool(_MIXED.search(raw, value.start, value.stop))
    # A word and a number, `password: hunter2`: code would go on, or have spaces around its
    # equals sign.
    # Nor is a line of its own in a block of YAML.
    if sign.strip()[-2:].rstrip(b"+-")[-1:] in _OPENS_BLOCK and b"\n" in sign:
        is_alone = raw[value.stop : value.stop + 1] in _ENDS_LINE
        return is_alone and bool(_MIXED.search(raw, value.start, value.stop))
    is_made_up = _MADE_UP.match(raw, value.start, value.stop)
    if is_made_up and sign.rstrip().endswith(b":") and not _GOES_ON.match(raw, value.stop):
        return True
    if sign != b"=":
        return False
    if raw.startswith(b"--", site.start):
        return True
    if is_made_up and raw[value.stop : value.stop + 1] in _ENDS_VALUE:
        return True
    before = raw[max(site.start - _COMMAND_REACH, 0) : site.start]
    return b";" in before and bool(_CONNECTION.search(before.lower()))


def _beyond_brackets(raw: bytes, value: Value, *, literal: bool) -> Value | None:
    """Return a bare value with the brackets inside it; None when they make it code."""
    whole = _BRACKETED.match(raw, value.start)
    if whole is None or _REFERENCE.match(raw, value.stop - 1):
        return None
    written = whole.group()
    is_closed = len(written.translate(None, b"([{")) == len(written.translate(None, b")]}"))
    if raw[value.stop - 1] in b"$%" and not is_closed:
        return Value(value.start, whole.end(), quoted=False)
    if _CALLED.match(raw, value.start, value.stop) and (is_closed or not literal):
        return None
    return Value(value.start, whole.end(), quoted=False)


def _is_said(raw: bytes, site: Site, value: Value) -> bool:
    """Return whether a value is a secret that prose, a table or a `.netrc` tells.

    Nothing but a word or a line stands between name and value, so it has to look made up; and
    `pass` is a verb in prose.
    """
    if raw[site.start : site.stop].lower() == b"pass":
        return False
    secret = raw[value.start : value.stop].rstrip(b".")
    sign = site.sign.strip(b" \t\"'`")
    before = raw[max(site.start - _COMMAND_REACH, 0) : site.start]
    if sign == b"|" and not before.rstrip(b" \t").endswith((b"|", b"?")):
        return False
    if not sign and b"login" in before and _NETRC.search(before):
        return not sounds_spoken(secret) and not is_placeholder(secret)
    if not sign and not value.quoted:
        is_name = raw[site.start : site.stop] in secret
        return site.kind is not SecretKind.PASSWORD and not is_name and _is_generated(secret)
    if site.kind not in _PERSONAL and len(secret) < _LONG_SAID:
        return False
    first = _SEPARATOR.split(secret, 1)[0]
    if is_placeholder(first) or not holds_secret(site.kind, secret, literal=True):
        return False
    # `Le mot de passe est Tournesol-19`: a name with a number, where no unit or version is told.
    if sign.split()[-1:] and sign.split()[-1] in _OTHER_TONGUES and _NAMED_NUMBER.match(secret):
        return True
    return bool(sign and value.quoted) or (not is_wordy(secret) and bool(_MIXED.search(secret)))


def _is_secret(raw: bytes, site: Site, written: bytes, *, literal: bool) -> bool:
    if site.kind is SecretKind.TOKEN and _UUID.match(written):
        # A token that is a UUID is mostly an id; a service or a registry gives out credentials.
        return names_service(raw[max(site.start - _LONG, 0) : site.stop].decode()) or bool(
            _NPMRC.search(raw[max(site.start - _REGISTRY, 0) : site.start])
        )
    name = raw[site.start : site.stop]
    if name.lower() == b"clave" and not _SYMBOL.search(written):
        # The word is also that of a key in a table.
        return False
    if (
        b" " in written
        and site.sign == b"="
        and _VARIABLE.match(name)
        and is_numbered_phrase(written)
    ):
        return True
    if not literal and len(written) < _LONG and _IDENTIFIER.match(written):
        # Names in code join their words; what joins nothing and makes no words is generated.
        is_name = _JOINED.search(written) or not is_gibberish(written)
        return not is_name and not is_placeholder(written)
    return holds_secret(site.kind, written, literal=literal)


class CommandFlag(NamedTuple):
    """A flag that may take a secret, and where its value begins."""

    name: bytes
    """In lower case, without its first dash."""
    start: int
    stop: int
    value: int


def find_flags(view: TextViews) -> list[CommandFlag]:
    """Return the flags that may take a secret, in order."""
    flags: list[CommandFlag] = []
    for found in _FLAG.finditer(view.lower):
        group = found.lastindex or 0
        flags.append(
            CommandFlag(found.group(group), found.start(group), found.end(group), found.end())
        )
    return flags


def flag_pass(view: TextViews, flags: Iterable[CommandFlag]) -> list[SecretSpan]:
    """Return the secrets given to flags such as `--password x`, `-ClientSecret x` and `-p x`."""
    raw = view.raw
    spans: list[SecretSpan] = []
    masked = 0
    for flag in flags:
        if flag.start < masked:
            continue
        letter = raw[flag.start : flag.stop]
        start = flag.value
        if letter == b"S" or set(flag.name) <= _HTPASSWD_FLAGS:
            # The password of `echo ... | sudo -S` and of `htpasswd -b file user ...`.
            first = max(0, flag.start - 1 - _COMMAND_REACH)
            found = None
            if flag.name == b"s":
                found = _SUDO.search(raw, first, flag.start - 1)
            elif b"b" in flag.name and view.lower.endswith(b"htpasswd ", first, flag.start - 1):
                found = _HTPASSWD.match(raw, flag.value)
            if found and holds_secret(SecretKind.PASSWORD, found.group(1), literal=True):
                spans.append(SecretSpan(*found.span(1)))
            continue
        command = _command(view, flag, letter[:1])
        if command and len(letter) > 1:
            # A password may touch its `-p`, and may look like the name of a flag.
            kind, start = SecretKind.PASSWORD, flag.start + 1
        elif command:
            kind = SecretKind.PASSWORD
        else:
            kind = kind_of(letter.decode()) if len(letter) > 1 else SecretKind.NOTHING
        if kind in (SecretKind.NOTHING, SecretKind.PHONE, SecretKind.NET_USER):
            continue
        value = read_value(raw, start)
        # What stands apart from the `-p` of `mysql` is a database.
        literal = command not in _ONLY_GLUED or raw[start - 1 : start] not in _BLANKS
        if value and _is_argument(raw[value.start : value.stop], kind, command, literal=literal):
            masked = whole_value(raw, value).stop
            spans.append(SecretSpan(value.start, masked))
    return spans


def _command(view: TextViews, flag: CommandFlag, letter: bytes) -> bytes | None:
    """Return the command before a flag whose name, or its first letter, is a password's."""
    commands = _TAKES_PASSWORD.get(letter)
    if not commands or (letter not in b"pP" and flag.stop - flag.start > 1):
        return None
    before = view.lower[max(0, flag.start - 1 - _COMMAND_REACH) : flag.start - 1]
    for command in commands:
        at = before.rfind(command)
        is_word = at >= 0 and (command[:1] == b" " or not before[at - 1 : at].isalnum())
        if is_word and not _ENDS_COMMAND.search(before, at):
            return command
    return None


def _is_argument(secret: bytes, kind: SecretKind, command: bytes | None, *, literal: bool) -> bool:
    if holds_secret(kind, secret, literal=literal):
        return True
    if command is None or command in _ONLY_GLUED or secret.endswith(_FILES):
        return False
    return len(secret) >= _SHORTEST_PASSWORD and not is_placeholder(secret)
