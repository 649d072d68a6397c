"""The known ways in which a text gives orders to a model, as patterns over lower-case words.

Each was weighed against honest text: project files say "never tell the user to run this" and name
placeholders such as `<user>`, and none of that may fire. Gaps are bounded, so time is linear.
"""

from __future__ import annotations

import re

from holdfast.wire.recalled import TAG

__all__ = ["HIDDEN", "RULES"]

_ORDERS = r"(?:instructions?|prompts?|directives?|guidelines?|rules|commands|constraints)"
_EARLIER = r"(?:previous|prior|preceding|earlier|above|foregoing|original|existing|system)"
_SECRET_WORDS = (
    r"(?:api[ _-]?keys?|passwords?|secrets?|credentials?|(?:access |auth )?tokens?|"
    r"environment variables|private keys?|ssh keys?|\.env\b)"
)
_SECRET_PLACES = (
    r"(?:\$\{?\w*(?:key|token|secret|passw|credential)\w*|\.env\b|id_(?:rsa|ed25519|ecdsa)|"
    r"\.aws/credentials|\.netrc|\.pgpass|/etc/(?:passwd|shadow)|\$\( ?(?:env|printenv|cat)\b)"
)
_SENDERS = r"\b(?:curl|wget|ncat|nc|invoke-webrequest|iwr|xh|httpie)\b"
_OVERRIDE = "an order to ignore what the model was told"
_ROLE = "a mark that ends a message or begins another speaker's"
_THEFT = "a way to send secrets elsewhere"

_WAYS: tuple[tuple[str, str], ...] = (
    (
        _OVERRIDE,
        rf"\b(?:ignore|disregard|forget|override|bypass|discard)\b(?: [\w']+){{0,3}}? {_EARLIER}"
        rf"(?: [\w']+){{0,2}}? {_ORDERS}\b",
    ),
    (
        _OVERRIDE,
        r"\b(?:ignore|disregard|forget|override|bypass) (?:(?:all|any|everything)(?: of)? )?"
        rf"(?:your|the assistant's|the model's)(?: [\w']+)? {_ORDERS}\b",
    ),
    (_OVERRIDE, r"\b(?:ignore|disregard|forget) (?:all|any) (?:instructions|prompts)\b"),
    (
        _OVERRIDE,
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything)(?: that)?(?: was)?"
        r"(?: you(?:'ve| have| were)?)? ?(?:been )?(?:said|told|above|before this)\b",
    ),
    (
        _OVERRIDE,
        r"\b(?:new|updated|real|actual) (?:system )?(?:prompt|instructions?) ?(?:from the "
        r"(?:system|developers?|administrator) ?)?: ",
    ),
    (
        _OVERRIDE,
        r"\b(?:ignoriere?|vergiss|missachte) (?:\w+ ){0,3}(?:vorherigen|bisherigen|obigen) "
        r"(?:\w+ )?(?:anweisungen|regeln)\b",
    ),
    (_OVERRIDE, r"\bignor(?:ez|e|a) (?:\w+ ){0,4}(?:instructions pr|instrucciones ant)"),
    (_OVERRIDE, r"忽略.{0,8}(?:之前|以上|先前|上面).{0,6}(?:指令|指示|提示|规则)"),
    (_OVERRIDE, r"игнорируй(?:те)? (?:\w+ ){0,3}(?:предыдущие|прежние) (?:\w+ )?инструкции"),
    (
        "an order to be somebody else",
        r"\byou are (?:now|no longer) (?:in )?(?:an? )?(?:dan\b|developer mode|god mode|jailbroken|"
        r"unrestricted|unfiltered|bound by|restricted|root\b)",
    ),
    (
        "an order to be somebody else",
        r"\b(?:act|behave|respond|answer|pretend)(?: as)? (?:if|though|that) you (?:have|had|are "
        r"under|were under) no (?:restrictions|rules|limits|guidelines|filters)\b",
    ),
    (
        "an order to keep something from the user",
        r"\b(?:do not|don't|never) (?:tell|inform|alert|notify|warn) the user"
        r"(?: (?:about|of|that you)|[.,;!]|$)",
    ),
    (
        "an order to keep something from the user",
        r"\b(?:hide|conceal|keep) (?:this|it|that|these)(?: [\w']+){0,3}? from the user\b|"
        r"\bwithout the user(?:'s)? (?:knowing|noticing|knowledge)\b|"
        r"\b(?:secretly|covertly) (?:send|post|upload|forward|email|copy|run|execute|add)\b",
    ),
    (_THEFT, rf"{_SENDERS}[^|;]{{0,200}}{_SECRET_PLACES}"),
    (_THEFT, rf"{_SECRET_PLACES}[^;]{{0,80}}\| ?(?:[\w-]+ ?\| ?)?{_SENDERS}"),
    (_THEFT, rf"\b(?:printenv|env|set) ?\| ?(?:[\w -]{{1,30}}\| ?)?(?:{_SENDERS}|base64\b)"),
    (_THEFT, r"\bcat [^ |;]{0,80}(?:\.ssh/id_|\.aws/credentials|\.netrc|\.pgpass|/etc/shadow)"),
    (_THEFT, r">> ?[^ ]{0,60}authorized_keys\b"),
    (
        _THEFT,
        r"\b(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|leak)\b[^.]{0,60}\b"
        rf"{_SECRET_WORDS}[^.]{{0,60}}\b(?:to|at) [^ ]{{0,20}}(?:https?://|@|\w\.\w)",
    ),
    (_THEFT, r"!\[[^\]]{0,80}\]\(https?://[^) ]{0,200}[?&][^) ]{0,80}=(?:\{|\$|<|%7b)"),
    (
        _THEFT,
        r"\b(?:reveal|disclose|leak|exfiltrate) (?:your|the) (?:system|hidden|initial) "
        r"(?:prompt|instructions)\b",
    ),
    (_ROLE, r"<\|? ?(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id) ?\|?>"),
    (_ROLE, r"<\|(?:system|user|assistant|end|endofprompt)\|>|\[/?inst\]|<</?sys>>"),
    (_ROLE, r"</? ?(?:system|assistant|system-reminder|system_prompt|system-prompt) ?>"),
    (_ROLE, r"(?:^| )\\n\\n(?:human|assistant): "),
    ("a tag of recalled memory", rf"< ?/? ?{TAG}\b"),
)
RULES = tuple((reason, re.compile(pattern)) for reason, pattern in _WAYS)
"""What each pattern finds looks like, and the pattern."""

HIDDEN = re.compile(
    "[\u200b\u2060-\u2064\u206a-\u206f\u180e\ufff9-\ufffb]"  # signs without width
    "|[\u202a-\u202e\u2066-\u2069]"  # signs that turn the direction of reading
    "|(?<!^)\ufeff"  # a byte order mark inside a text
    "|(?<=[\x21-\x7e])[\u200c\u200d\u00ad](?=[\x21-\x7e])"  # joiners between Latin letters
    "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]"  # tags without a flag
)
"""Signs that a person does not see; those that flags, emoji and other scripts need are fine."""
