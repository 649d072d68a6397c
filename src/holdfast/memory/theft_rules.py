"""The known ways in which a command sends secrets elsewhere, or runs what a stranger wrote.

A command that uses a key is no theft: `curl -H "Authorization: Bearer $KEY"` stands in honest
files. What counts is a secret in what is sent, or in the address.
"""

from __future__ import annotations

__all__ = ["THEFT"]

_REASON = "a way to send secrets elsewhere"
_FOREIGN = "an order to run what a stranger wrote"
_SENDERS = r"\b(?:curl|wget|ncat|nc|invoke-webrequest|iwr|xh|httpie)\b"
_FILES = (
    r"(?:\.env(?!\.(?:example|sample|template|dist|test)|\w)|id_(?:rsa|ed25519|ecdsa|dsa)(?!\.pub|\w)|"
    r"\.aws/credentials|\.netrc|\.pgpass|/etc/(?:passwd|shadow)\b(?!\.))"
)
_VARIABLES = r"\$\{?\w{0,60}(?:key|token|secret|passw|credential)"
_DUMPS = rf"\$\( ?(?:(?:env|printenv) ?[|)]|(?:cat|base64|gzip|head|tail) [^)]{{0,80}}{_FILES})"
_BODIES = r"(?:-d|-f|-t|--data[\w-]*|--form|--upload-file|--post-file|--post-data|--body-file)"
_READERS = r"\b(?:cat|base64|gzip|tar|xxd|openssl|head|tail|grep|awk|sed|less)\b"
_WORDS = (
    r"(?:api[ _-]?keys?|passwords?|secrets?|credentials?|(?:access |auth )?tokens?|"
    r"environment variables|private keys?|ssh keys?|\.env\b)"
)
_SHELL = r"\| ?(?:sudo )?(?:-\w+ )?(?:ba|z|da)?sh\b(?! ?\|)"
_KNOWN = r"install|setup|bootstrap|rustup|nvm|/get[-.]|//get\."

THEFT: tuple[tuple[str, str], ...] = (
    (_REASON, rf"{_SENDERS}[^|;]{{0,200}} {_BODIES}[ =]?[^ |;]{{0,60}}(?:{_FILES}|{_VARIABLES})"),
    (_REASON, rf"{_SENDERS}[^|;]{{0,200}}https?://[^ |;]{{0,200}}{_VARIABLES}"),
    (_REASON, rf"{_SENDERS}[^|;]{{0,200}}{_DUMPS}"),
    (_REASON, rf"{_READERS}[^|;]{{0,80}}{_FILES}[^;]{{0,80}}\| ?(?:[\w -]{{1,30}}\| ?)?{_SENDERS}"),
    (
        _REASON,
        rf"(?<!\| )(?<![|.\w-])(?:printenv|env) ?\| ?(?:[\w -]{{1,30}}\| ?){{0,2}}{_SENDERS}",
    ),
    (_REASON, rf"\bcat [^ |;]{{0,80}}(?!\.env){_FILES}(?<!passwd)"),
    (
        _REASON,
        rf"\b(?:scp|rsync) (?:(?!-i )-[^ ]{{1,20}} ){{0,4}}[^ ]{{0,40}}{_FILES} [^ ]{{1,80}}:",
    ),
    (_REASON, r">> ?[^ ]{0,60}authorized_keys\b"),
    (_REASON, r"\.post\([^)]{0,120}\bos\.environ\b(?![.\[])"),
    (
        _REASON,
        r"\b(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|leak)\b[^.]{0,60}\b"
        rf"{_WORDS}[^.]{{0,60}}\b(?:to|at) [^ ]{{0,20}}(?:https?://|@|\w\.\w)",
    ),
    (_REASON, r"!\[[^\]]{0,80}\]\(https?://[^) ]{0,200}[?&][^) ]{0,80}=(?:\{|\$|<|%7b)"),
    (
        _REASON,
        r"\b(?:reveal|disclose|leak|exfiltrate) (?:your|the) (?:system|hidden|initial) "
        r"(?:prompt|instructions)\b",
    ),
    (_FOREIGN, r"\bbase64 (?:-d|--decode)[^|]{0,80}" + _SHELL),
    (_FOREIGN, rf"^(?!.{{0,400}}(?:{_KNOWN})).{{0,200}}\b(?:curl|wget)\b[^|]{{0,200}}{_SHELL}"),
)
"""What each pattern finds looks like, and the pattern."""
