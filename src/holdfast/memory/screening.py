"""Finds what does not belong into a prompt: orders to the model, theft of secrets, hidden signs.

Memory and project files are read by the model in every session, so a single poisoned line would
work for ever. The patterns look for the known ways; they make an attack harder and are no proof
that a text is harmless, which is why everything recalled also carries a label.

A command or a mark stands in one line. A sentence may run over several, but not from one item of a
list into the next: joined, honest items would say what none of them says.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from holdfast.summary.tracing import LOOK_ALIKES
from holdfast.wire.markers import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_ORDERS = (
    r"(?:instructions?|prompts?|directives?|(?:guidelines?|rules|commands|constraints)"
    r"(?! (?:about|for|in|on|regarding|under|of|that)\b))"
)
_EARLIER = r"(?:previous|prior|preceding|earlier|above|foregoing|original|existing|initial|system)"
_FILLING = (
    r"(?:(?:all|any|every|each|of|the|your|my|our|these|those|both|and|or|other|following|such|"
    r"please|safety|security|hidden) )"
)
_DROP = r"\b(?:ignore|disregard|forget|override|bypass|discard|pay no attention to) "
_WITH_A_FLAG = r"(?! (?:with|via|using|through|by) (?:the )?`?-)"
_OVERRIDE = "an order to ignore what the model was told"
_OTHER = "an order to be somebody else"
_SECRECY = "an order to keep something from the user"
_APPROVAL = "an approval that the user did not give here"
_ROLE = "a mark that ends a message or begins another speaker's"
_SPEAKERS = r"(?:system|assistant|system[-_]reminder|system[-_]prompt|developer)"
_SPANS: tuple[tuple[str, str], ...] = (
    (_OVERRIDE, rf"{_DROP}{_FILLING}{{0,4}}{_EARLIER} {_FILLING}{{0,2}}{_ORDERS}\b{_WITH_A_FLAG}"),
    (
        _OVERRIDE,
        rf"{_DROP}{_FILLING}{{0,3}}{_ORDERS}(?: (?:given|written|stated|listed|you were given))?"
        r" (?:above|before this|so far)\b",
    ),
    (
        _OVERRIDE,
        rf"{_DROP}(?:(?:all|any|everything)(?: of)? )?(?:your|the assistant's|the model's) "
        rf"(?:[\w']+ )?{_ORDERS}\b",
    ),
    (_OVERRIDE, r"\b(?:ignore|disregard|forget) (?:all|any) (?:instructions|prompts)\b"),
    (
        _OVERRIDE,
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything|what)(?: that)?(?: was)?"
        r"(?: you(?:'ve| have| were)?)? ?(?:been )?(?:said|told|before this|above(?= ?(?:$|[.,;:!]"
        r"|and\b|this\b|instead\b)))",
    ),
    (
        _OVERRIDE,
        r"\b(?:new|updated|real|actual) (?:system )?(?:prompt|instructions?) ?(?:from the "
        r"(?:system|developers?|administrator) ?)?: ?(?:you|ignore|obey|from now on|act as|"
        r"disregard|forget|reveal|send)\b",
    ),
    (
        _OVERRIDE,
        r"\b(?:ignoriere?|vergiss|missachte) (?:\w+ ){0,3}(?:vorherigen|bisherigen|obigen) "
        r"(?:\w+ )?(?:anweisungen|regeln)\b",
    ),
    (_OVERRIDE, r"\bignor(?:ez|e|a) (?:\w+ ){0,4}(?:instructions pr|instrucciones ant)"),
    (_OVERRIDE, r"忽略.{0,8}(?:之前|以上|先前|上面).{0,6}(?:指令|指示|提示|规则)"),
    (_OVERRIDE, r"(?:以前|これまで|上記|前)の.{0,6}(?:指示|命令|プロンプト).{0,4}無視"),
    (_OVERRIDE, r"игнорируй(?:те)? (?:\w+ ){0,3}(?:предыдущие|прежние) (?:\w+ )?инструкции"),
    (
        _OTHER,
        r"\byou are (?:now|no longer) (?:in )?(?:an? )?(?:dan\b|developer mode|god mode|jailbroken|"
        r"unrestricted|unfiltered|bound by|restricted)|\bfrom now on,? you are dan\b",
    ),
    (
        _OTHER,
        r"\b(?:act|behave|respond|answer|pretend)(?: as)? (?:if|though|that) you (?:have|had|are "
        r"under|were under) no (?:restrictions|rules|limits|guidelines|filters)\b",
    ),
    (
        _SECRECY,
        r"\b(?:do not|don't|never) (?:tell|inform|alert|notify|warn) the user"
        r"(?: (?:about|of) (?:this|that|it|these|any of)\b| that you (?!are done|have finished)"
        r"|[.,;!]|$)",
    ),
    (
        _SECRECY,
        r"\b(?:hide|conceal|keep) (?:this|it|that|these|all of this)(?: (?:secret|hidden|concealed|"
        r"private|away|action|fact|message))? from the user\b"
        r"(?! (?:tables?|interface|model|object|schema|list|input|menu|view|guide|record|class)\b)|"
        r"\bwithout the user(?:'s)? (?:knowing|noticing|knowledge)\b|"
        r"\b(?:secretly|covertly) (?:send|post|upload|forward|email|copy|run|execute|add)\b",
    ),
    (
        _APPROVAL,
        r"\bthe user (?:has |had )?(?:already |always |previously )?(?:approved|approves|"
        r"authori[sz]ed|consented to|agreed to|granted|pre-?approved|confirmed) (?:of )?"
        r"(?:all|any|every|everything|each|full)\b",
    ),
    (
        _APPROVAL,
        r"\b(?:run|execute|approve) (?:all |any |every |these |the )?(?:[\w']+ )?(?:commands?|"
        r"tools?|everything|anything)(?: [\w']+){0,3} without "
        r"(?:asking|approval|confirmation|permission)",
    ),
)
_LINES: tuple[tuple[str, str], ...] = (
    *THEFT,
    (_ROLE, r"<\|? ?(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id) ?\|?>"),
    (_ROLE, r"<\|(?:system|user|assistant|end|endofprompt)\|>|\[/?inst\]|<</?sys>>"),
    # In the middle of a line an opening tag may be a word of a sentence about XML.
    (_ROLE, rf"^\W{{0,4}}< ?/? ?(?:{_SPEAKERS})(?: [^<>]{{0,80}})?>"),
    (_ROLE, rf"(?<![`'\"])< ?/ ?(?:{_SPEAKERS}) ?>(?![`'\"])"),
    (_ROLE, rf"<{_SPEAKERS} (?:role|priority|type|name)="),
    (
        _ROLE,
        r"^\W{0,4}< ?/? ?(?:user|human|tool_result|function_results?)(?: [^<>]{0,80}=[^<>]*)?>$",
    ),
    (_ROLE, r"^\W{0,4}<(?:user|human|tool_result|function_results?)>.{0,400}</"),
    (_ROLE, r"(?:^| )\\n\\n(?:human|assistant): "),
    (
        _ROLE,
        r"^\W{0,4}(?:system|developer|administrator)(?: (?:message|prompt|note|override))?: ?"
        r"(?:you (?:must|are|will|should|may|can)|from now on|ignore|disregard|obey|execute|"
        r"approve|reply|respond|the user (?:has|wants)|your |override|grant|act as|do not tell)\b",
    ),
    (
        _ROLE,
        r"^\W{0,4}(?:user|operator): ?(?:please )?(?:i )?(?:hereby )?(?:approved?|confirm|"
        r"authorize|allow|grant|yes,|go ahead|execute|ignore|disregard|always (?:run|approve))|"
        r"^human: [^ ]",
    ),
    ("a tag of recalled memory", rf"< ?/? ?{TAG}\b"),
)
HIDDEN = re.compile(
    "[\u200b\u2060-\u2064\u206a-\u206f\u180e\ufff9-\ufffb]"  # signs without width
    "|[\u202a-\u202e\u2066-\u2069]"  # signs that turn the direction of reading
    "|(?<!^)\ufeff"  # a byte order mark inside a text
    "|(?<=[\x21-\x7e])[\u200c\u200d\u00ad](?=[\x21-\x7e])"  # joiners between Latin letters
    "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]"  # tags without a flag
)
"""Signs that a person does not see; those that flags, emoji and other scripts need are fine."""


def _compiled(ways: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((reason, re.compile(pattern)) for reason, pattern in ways)


SPAN_RULES = _compiled(_SPANS)
"""What each pattern finds looks like, and the pattern, for sentences that may run over lines."""

LINE_RULES = _compiled(_LINES)
"""The same for what stands in one line: a command, a mark."""


LEFT_OUT = "[a line was left out here:"
"""How the note begins that stands in the place of a suspicious line."""
_SKETCH = 80
_GAPS = re.compile(r"\s+")
_BEGINNING = re.compile(r"[-*+•|>#] ?|\d{1,3}[.)] |\[a line was left out here:")
"""What begins an item, a row, a quote or a heading, or stands for a line that is gone."""
_MARKUP = re.compile(r"[*`~]+")
_WRITTEN_BREAK = re.compile(r"\\[nrt]")
_JOINED_WORDS = re.compile(r"(?<=[^\W_])[-_]+(?=[^\W_])")
_SPACED_LETTERS = re.compile(r"\b(?:[^\W\d_] ){3,}[^\W\d_]\b")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something suspicious."""

    reason: str
    """What it looks like, to be read after "it looks like"."""
    first: int
    """The first line, counted from one."""
    last: int
    excerpt: str


def screen(text: str) -> tuple[Finding, ...]:
    """Return what is suspicious in a text, in the order of its lines."""
    lines = text.split("\n")
    folded = [_folded(line) for line in lines]
    hidden = [
        Finding("text with invisible signs", number, number, _sketch(folded[number - 1]))
        for number, line in enumerate(lines, 1)
        if not line.isascii() and HIDDEN.search(line)
    ]
    # What the rules find, each place once.
    found: dict[tuple[str, int, int], Finding] = {}
    for number, line in enumerate(folded):
        for view in dict.fromkeys(_all_views(line)):
            for each in _found(LINE_RULES, [view], number):
                found.setdefault((each.reason, each.first, each.last), each)
    for start, stop in _runs(folded):
        views = dict.fromkeys(zip(*map(_all_views, folded[start:stop]), strict=True))
        for view in views:
            for each in _found(SPAN_RULES, list(view), start):
                found.setdefault((each.reason, each.first, each.last), each)
    findings = [*hidden, *found.values()]
    return tuple(sorted(findings, key=lambda each: (each.first, each.last, each.reason)))


def softened(text: str) -> tuple[str, tuple[Finding, ...]]:
    """Return the text with a visible note for each suspicious line, and what was found.

    A line is not dropped in silence: whoever reads the text sees that something was there.
    """
    found = screen(text)
    if not found:
        return text, ()
    reasons: dict[int, str] = {}
    for each in found:
        for number in range(each.first, each.last + 1):
            reasons.setdefault(number, each.reason)
    lines = [
        f"{LEFT_OUT} it looks like {reasons[number]}]" if number in reasons else line
        for number, line in enumerate(text.split("\n"), 1)
    ]
    return "\n".join(lines), found


def _runs(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where runs of lines begin and end in which a sentence may go on."""
    start = 0
    for number, line in enumerate(lines):
        if not line or _BEGINNING.match(line) or lines[number - 1].startswith(LEFT_OUT):
            if start < number:
                yield start, number
            start = number
    yield start, len(lines)


def _found(
    rules: tuple[tuple[str, re.Pattern[str]], ...], lines: list[str], offset: int
) -> Iterator[Finding]:
    joined = " ".join(lines)
    starts = [0, *accumulate(len(each) + 1 for each in lines)]
    for reason, pattern in rules:
        for match in pattern.finditer(joined):
            first = offset + bisect_right(starts, match.start())
            last = offset + bisect_right(starts, max(match.end() - 1, match.start()))
            yield Finding(reason, first, last, _sketch(match[0].strip()))


def _all_views(line: str) -> tuple[str, str, str]:
    """Return a line as it is, without its markup, and with look-alikes as what they feign."""
    bare = _JOINED_WORDS.sub(" ", _MARKUP.sub("", _WRITTEN_BREAK.sub(" ", line)))
    bare = _SPACED_LETTERS.sub(lambda spaced: spaced[0].replace(" ", ""), bare)
    return line, bare, bare if bare.isascii() else bare.translate(LOOK_ALIKES)


def _folded(line: str) -> str:
    """Return a line as the rules read it: in lower case, with plain blanks and signs."""
    if not line.isascii():
        line = unicodedata.normalize("NFKC", line)
        line = "".join(sign for sign in line if unicodedata.category(sign) not in {"Cf", "Mn"})
    return _GAPS.sub(" ", line).strip().lower().replace("\u2019", "'")


def _sketch(text: str) -> str:
    return text if len(text) <= _SKETCH else f"{text[: _SKETCH - 1]}…"
