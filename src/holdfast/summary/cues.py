"""Phrases by which sentences give themselves away, in the languages that users write.

They find rules, decisions and consent. A language that is missing here costs precision only:
what users said is quoted word for word elsewhere.
"""

from __future__ import annotations

import re

from holdfast.summary.wording import Wording, words_in

__all__ = [
    "APPROVAL_CLAIM",
    "ASK_CLAIM",
    "CONSENT",
    "CONSTRAINT",
    "DECISION",
    "is_acknowledgement",
    "is_decision",
    "is_question",
    "is_rule",
    "rules_in",
    "sentences",
]

CONSTRAINT = Wording(
    "never always must mustn do don make prefer avoid instead only longer without should shouldn"
    " more least most niemal niemals immer nicht muss darf nur kein keine vermeide jamais toujours"
    " pas doit uniquement surtout nunca siempre uses toques cambies debe solamente evita sempre"
    " deve apenas somente evite",
    r"\b(?:never|always|must(?: not|n't)?|do not|don't|make sure|prefer|avoid|instead of"
    r"|only (?:use|change|edit|touch|modify|run|write|read|import|commit|in|with|when|if|after)"
    r"|(?:use|change|edit|touch|modify|run|write|import|commit|allowed) only|no longer than"
    r"|without (?:changing|touching|breaking)|should(?: not|n't)|no more than|at least|at most"
    r"|niemals?|immer|nicht|muss|darf|bitte nur|keine?|vermeide"
    r"|jamais|toujours|ne pas|doit|uniquement|évite[rz]?|surtout"
    r"|nunca|siempre|no (?:uses|toques|cambies)|debe|solamente|evita"
    r"|sempre|não|deve|apenas|somente|evite"
    r"|никогда|всегда|нельзя|должен|должна|должно|только|не (?:трогай|меняй|используй))\b"
    r"|不要|必须|禁止|不能|只能|始终|永远|务必|请勿|不得|不准|優先|优先"
    r"|してはいけない|しないで|必ず|常に|禁止|だけ使|なければならない|避けて"
    r"|하지 ?마|반드시|항상|절대|금지|만 사용|해야"
    r"|^only\b",
)
DECISION = Wording(
    "decided decision use go keep chose chosen opted going rather instead root because reason"
    " trade tradeoff turns entschieden entscheidung stattdessen weil ursache choisi parce cause"
    " decidido lugar porque causa decidimos escolhi vez",
    r"\b(?:decided|decision|we(?:'ll| will) (?:use|go|keep)|i(?:'ll| will) (?:use|go with|keep)"
    r"|chose|chosen|opted|going with|rather than|instead of|root cause|because|the reason"
    r"|trade-?off|turns out"
    r"|entschieden|entscheidung|stattdessen|weil|ursache"
    r"|décidé|décision|choisi|plutôt que|parce que|la cause"
    r"|decidí|decidido|decisión|elegí|en lugar de|porque|la causa"
    r"|decidimos|decisão|escolhi|em vez de|a causa"
    r"|решил[аи]?|решено|решение|вместо|потому что|причина)\b"
    r"|决定|采用|选择|而不是|因为|原因是|改用"
    r"|決定|採用|ことにし|代わりに|なぜなら|原因は"
    r"|결정|채택|대신|때문에|원인은|하기로",
)

CONSENT = re.compile(
    r"\b(?:yes|yep|yeah|ok|okay|sure|approved?|go ahead|lgtm|do it|proceed|confirm(?:ed)?|agreed?"
    r"|sounds good|looks good|ja|genau|einverstanden|mach das|passt|oui|d'accord|vas-y"
    r"|sí|si|vale|adelante|de acuerdo|sim|pode|certo|да|хорошо|давай|согласен|согласна|ладно)\b"
    r"|好的?|可以|同意|批准|行|是的|确认|没问题|はい|了解|お願い|承認|いいよ|네|예|좋아|그래|승인",
    re.IGNORECASE,
)
"""Words with which a user agrees."""

_AGREED = (
    r"(?:approved?s?|confirm(?:ed|s)|agreed|authori[sz]ed|consented|permitted|allowed|accepted"
    r"|signed off|gave (?:\w+ ){0,2}(?:permission|approval|consent|go-ahead))"
)
APPROVAL_CLAIM = re.compile(
    rf"\busers?(?:'s)?(?: (?:has|have|had|then|also|explicitly|already|previously|verbally))*"
    rf" {_AGREED}"
    rf"|\b{_AGREED}(?: \w+)? by (?:the )?user\b"
    r"|\b(?:with|after|per|got|received|given|has|have) (?:the )?user(?:'s)? "
    r"(?:approval|permission|consent|go-ahead|authori[sz]ation|confirmation)"
    r"|(?:be)?nutzer(?:in)? (?:\w+ ){0,3}(?:genehmigt|bestätigt|zugestimmt|erlaubt|freigegeben)"
    r"|utilisat(?:eur|rice) (?:\w+ ){0,3}(?:approuvé|confirmé|autorisé|accepté|validé)"
    r"|usuari[oa] (?:\w+ ){0,3}(?:aprob|confirm|autoriz|acept|aceit|aprov)\w+"
    r"|пользовател\w+ (?:\w+ ){0,3}(?:одобрил|подтвердил|разрешил|согласил)\w*"
    r"|(?:用户|使用者)[^\uff0c。,.]{0,6}(?:批准|同意|确认|確認|授权|允许)"
    r"|ユーザー?[がはの]?[^、。]{0,10}(?:承認|同意|許可|確認)"
    r"|사용자[가는의]?[^.]{0,10}(?:승인|동의|허가|확인)",
    re.IGNORECASE,
)
"""An entry that says a user agreed to something."""

ASK_CLAIM = re.compile(
    r"\busers?(?:'s)?(?: (?:has|have|had|then|also|explicitly|now|previously))* "
    r"(?:asked|asks|wants?|wanted|request(?:s|ed)?|instructed|told|demand(?:s|ed)|ordered|said"
    r"|insist(?:s|ed)?|need(?:s|ed)|prefers?|preferred)\b"
    r"|\b(?:asked|requested|instructed|ordered)(?: \w+)? by (?:the )?user\b"
    r"|(?:be)?nutzer(?:in)? (?:\w+ ){0,2}(?:will|möchte|bat|verlangt|gebeten|wünscht)"
    r"|utilisat(?:eur|rice) (?:\w+ ){0,2}(?:veut|demand|souhait)\w*"
    r"|usuari[oa] (?:\w+ ){0,2}(?:quiere|pidió|solicit|quer|pediu)\w*"
    r"|пользовател\w+ (?:\w+ ){0,2}(?:просит|попросил|хочет|требует)\w*"
    r"|(?:用户|使用者)[^\uff0c。,.]{0,4}(?:要求|希望|请求|想|让|说)"
    r"|ユーザー?[がはの]?[^、。]{0,8}(?:依頼|要求|希望|求め)"
    r"|사용자[가는]?[^.]{0,8}(?:요청|요구|원)",
    re.IGNORECASE,
)
"""An entry that says a user asked for something."""

_RULES_FOLLOW = re.compile(
    r"^[\s#*_>-]{0,8}(?:[\w-]{1,20} ){0,4}(?:rules?|constraints?|requirements?|restrictions?"
    r"|conventions?|guidelines?|regeln?|vorgaben|règles?|contraintes?|reglas?|requisitos?|regras?"
    r"|правила|требования|规则|规定|要求|規則|ルール|制約|규칙|제약)"
    r"(?: (?:for|to|of|that|here|on|in|für|pour|para|для)\b[^:\uff1a\n]{0,40})?"
    r"[*_]{0,4}[:\uff1a][*_ ]{0,4}(.*)$",
    re.IGNORECASE,
)
"""A line that announces rules: they stand after the colon, or as a list below it."""
_ITEM = re.compile(r"\s{0,12}(?:[-*•]|\d{1,3}[.)])\s+(.+)")

_PRAISE = re.compile(
    r"(?:(?:ok|okay|alright|ah|oh)[,.! ]{1,3})?(?:very |really |all |that'?s |looks |well )?"
    r"(?:good|great|nice|perfect|excellent|awesome|cool|fine|thanks|thank you|thx|done|right"
    r"|got it|i see|understood|wonderful|amazing|lovely|danke|gut|super|prima|toll|merci|parfait"
    r"|bien|gracias|perfecto|genial|obrigad[oa]|perfeito|ótimo|спасибо|отлично|хорошо"
    r"|谢谢|很好|不错|太好了|ありがとう|いいね|完璧|고마워|감사|좋네)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:now|please|pls|then|next|also|but|let'?s|can you|could you|go|do|run|make|add|fix|use"
    r"|commit|push|continue|proceed|try|write|change|remove|delete|update|check|test|merge|start"
    r"|stop|show|move|rename|deploy|jetzt|bitte|aber|maintenant|mais|ahora|pero|agora|mas"
    r"|теперь|но|пожалуйста)\b|现在|请|但|然后|继续|次|続け|けど|이제|계속|하지만",
    re.IGNORECASE,
)
_BRIEF = 60

# The query of an address asks nothing.
_ASKS = re.compile(r"\?(?![\w&=%/-])")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。\uff01\uff1f])|\n+")


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of the text, without bullets and blank ones."""
    parts = (part.strip().lstrip("-*•> ").strip() for part in _SENTENCE_END.split(text))
    return [part for part in parts if part]


def is_rule(sentence: str) -> bool:
    """Say whether a user's sentence states a rule; a question asks about one."""
    return CONSTRAINT.stands_in(sentence, words_in(sentence)) and not is_question(sentence)


def rules_in(text: str) -> list[str]:
    """Return the sentences of a user's text that state rules, and the items of lists of rules."""
    found: list[str] = []
    listed = False
    for line in text.split("\n"):
        has_colon = ":" in line or "\uff1a" in line
        if has_colon and (announced := _RULES_FOLLOW.match(line)):
            listed = True
            found += sentences(announced[1])
        elif listed and (item := _ITEM.match(line)):
            found.append(item[1].strip())
        else:
            listed = listed and not line.strip()
            found += filter(is_rule, sentences(line))
    return found


def is_acknowledgement(text: str) -> bool:
    """Say whether a user's short words only acknowledge: they ask nothing and request nothing.

    A bare "yes" is not meant here, because it may be what the assistant waits for.
    """
    words = text.strip()
    if len(words) >= _BRIEF or is_question(words) or not _PRAISE.match(words):
        return False
    return _REQUEST.search(words) is None


def is_decision(sentence: str) -> bool:
    """Say whether a sentence states a decision or its reason."""
    return DECISION.stands_in(sentence, words_in(sentence))


def is_question(text: str) -> bool:
    """Say whether the text asks something."""
    asks = "?" in text and _ASKS.search(text) is not None
    return asks or "\uff1f" in text or text.rstrip().endswith(("吗", "呢", "か", "か。"))
