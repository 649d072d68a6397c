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
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from holdfast.redaction.survey import STICKY, unglued

if TYPE_CHECKING:
    from holdfast.redaction.survey import TextViews

__all__ = [
    "LONGEST_VALUE",
    "SecretKind",
    "Site",
    "Value",
    "find_sites",
    "kind_of",
    "read_value",
    "whole_value",
]

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
    sas connection bearer host cloud
    ibm sl softlayer iam cos cloudant okta openai anthropic stripe aws
    azure gcp google github gitlab slack twilio sendgrid mailgun mailchimp datadog dd newrelic
    relic sentry algolia airtable heroku netlify vercel cloudflare digitalocean shopify square
    postman doppler grafana fastly dynatrace linear notion figma discord telegram huggingface hf
    cohere mistral groq gemini replicate pinecone langsmith deepseek openrouter perplexity tavily
    serper elevenlabs deepgram asana jira confluence atlassian bitbucket npm pypi nuget rubygems
    docker dockerhub artifactory jfrog snyk sonar codecov circleci travis buildkite sumo sumologic
    splunk launchdarkly contentful mapbox maps plaid coinbase binance kraken infura alchemy
    etherscan meraki adafruit beamer clojars finicity freshbooks rapidapi intercom zendesk hubspot
    mailjet messagebird nexmo vonage plivo pusher pubnub supabase firebase""".split(),
)
LONGEST_VALUE = 4096
_FIRST_LOOK = 256
_LONGEST_NAME = 64
_QUOTE = rb"(?:\\{0,3}[\"'`])"
_GAP = rb"[ \t]{0,8}+"
_BREAK = rb"(?:[ \t,]|\\{1,2}[nr]|\r?\n){1,40}+"
_BINDS = (
    rb"(?:"
    # A declared type between name and value: `token: str = "..."`.
    + rb":[ \t]?&?(?:'static )?(?:str|string|bytes|optional\[str\]|str \| none|string\?)"
    + rb"[ \t]?=(?!=)"
    + rb"|=>|:{1,3}=|\?=|={1,3}|:{1,2}|\|\|=?"
    # An argument after a quoted name: `setenv("API_KEY", "...")`.
    + rb"|(?<=[\"'`]),(?=[ \t]{0,4}\\{0,3}[\"'`])"
    # An element: `<password>...</password>`.
    + rb"|(?<=[\w-])>(?=[^\s<>=])"
    + rb")"
)
# Name and value apart: `name: API_TOKEN` and `value: ...` in lists of environment variables.
_PAIRED = _QUOTE + rb"?" + _BREAK + _QUOTE + rb"?value" + _QUOTE + rb"?" + _GAP + rb"[:=]"
# What follows a name that binds nothing secret; refused before Python sees the site.
_NOT_A_VALUE = rb"(?![ \t]*(?:[{\[(]|true\b|false\b|null\b|none\b|[,;)\]}]|$))"
_TAIL = (
    rb"([\w-]{0,24}+)(?:"
    + (_QUOTE + rb"?\]?" + _GAP + _BINDS)
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
        rb"|(?<=cook)ie)",
        rb"p(?:ass(?!ed|es|ing|ive|age|thr)|w|hone)",
        rb"cr(?:(?<=secr)et|ed)",
        rb"u(?<=au)th(?!or[^i])",
    )
)
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
    AUTH = "auth"
    COOKIE = "cookie"
    PHONE = "phone"


_ENDINGS: tuple[tuple[str, SecretKind], ...] = (
    ("password", SecretKind.PASSWORD),
    ("passwd", SecretKind.PASSWORD),
    ("passphrase", SecretKind.PASSWORD),
    ("passcode", SecretKind.PASSWORD),
    ("pwd", SecretKind.PASSWORD),
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
}


@lru_cache(maxsize=8192)
def kind_of(name: str) -> SecretKind:
    """Return the kind of secret that a name announces."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _AFTER):
        words.pop()
    if not words or not _NOT_SECRET.isdisjoint(words):
        return SecretKind.NOTHING
    last = words[-1]
    if last in {"number", "no"} and words[-2:-1] == ["phone"]:
        return SecretKind.PHONE
    if last in _WHOLE_WORDS:
        return _WHOLE_WORDS[last]
    if last.endswith("key"):
        return SecretKind.KEY if _is_secret_key(words) else SecretKind.NOTHING
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
    for stem in _STEMS:
        for found in stem.finditer(view.lower):
            (start, value), stop = found.span(), found.end(1)
            floor = start - _LONGEST_NAME if start > _LONGEST_NAME else 0
            start = rfind(b" ", floor, start) + 1 or floor
            if start and raw[start - 1] in STICKY:
                start = unglued(raw, start)
            kind = kind_of(raw[start:stop].decode())
            if kind is nothing:
                continue
            is_field, is_comma = _read_sign(raw[stop:value])
            # A comma binds the first argument of a call; in a list it binds nothing.
            before = raw[max(0, start - 5) : start] if is_comma else b"("
            if before.rstrip(b"\"'`\\").endswith(b"("):
                sites.append(Site(kind, start, stop, value, is_field))
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


_VALUE = itemgetter(Site._fields.index("value"))


@lru_cache(maxsize=1024)
def _read_sign(sign: bytes) -> tuple[bool, bool]:
    """Return whether what binds makes a field, and whether it is only a comma."""
    return bool(sign.strip(b"= \t")), b"," in sign and b"value" not in sign.lower()


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


def read_value(raw: bytes, start: int) -> Value | None:
    """Return the value that begins at a position, or None when there is none on this line."""
    opening = _OPENING.match(raw, start) if raw[start : start + 1] in _MAY_OPEN else None
    if opening:
        quoted = _quoted(raw, opening.end(), opening.group())
        if quoted:
            return quoted
        start = opening.end()
    # After a colon nothing but white space ends a value; passwords contain what would.
    bare = _AFTER_COLON if raw[max(0, start - 2) : start] in _COLON else _UNQUOTED
    found = bare.match(raw, start)
    return Value(start, found.end(), bool(opening)) if found else None


def _quoted(raw: bytes, start: int, delimiter: bytes) -> Value | None:
    limit = start + LONGEST_VALUE
    stop = raw.find(delimiter, start, limit)
    while stop > start and len(delimiter) == 1 and raw[stop - 1] == 0x5C:
        stop = raw.find(delimiter, stop + 1, limit)
    # Most quotes close soon, so the line is only looked at up to there.
    if stop <= start or raw.find(b"\n", start, stop) >= 0:
        return None
    return Value(start, stop, quoted=True)
