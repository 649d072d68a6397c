"""Sentences that say what a user approved, wanted or said, in the languages that users write.

A summary is free in its words, so many are looked for: verbs and nouns of consent and of wishing
beside a word for the user, passive forms, and forms that name nobody ("approved: ...", "as
requested"). Texts are compared folded: without case, markup, invisible signs and look-alikes.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from holdfast.summary.tracing import LOOK_ALIKES, folded, roots

_WHO = (
    r"(?<![\w./@-])(?:users?|humans?|requeste?ors?|requesters?|stakeholders?|product owners?)"
    r"(?![\w/@]|\.\w|-\w)"
)
_THE = r"(?:the |our |this |a )?"
_ADVERB = (
    r"(?:,? (?:has|have|had|was|were|is|are|been|then|also|now|later|once|just|only|again|still"
    r"|since|both|even|did|do|does|not|never|didn't|doesn't|don't|all|already|today|yesterday"
    r"|earlier|themselves|himself|herself|\w+ly))*,?"
)
_AGREES = (
    r"(?:approv(?:ed|es|ing)|confirm(?:ed|s)|agree[ds]?|authori[sz](?:ed|es)|consent(?:ed|s)"
    r"|permit(?:ted|s)|allow(?:ed|s)|accept(?:ed|s)|ok(?:ay)?(?:'?e?d|s)|green-?li(?:t|ghted|ghts)"
    r"|sign(?:ed|s)[- ]off|endorse[ds]|sanction(?:ed|s)|bless(?:ed|es)|clear(?:ed|s)"
    r"|ratified|validated|waive[ds]|grant(?:ed|s)|nod(?:ded|s)|rubber-?stamped|gave|given|gives"
    r"|(?:fine|ok|okay|good|happy|comfortable|cool|satisfied|content|on board|in favou?r)"
    r"(?: with| of| to)?\b|said (?:yes|ok|okay|go)\b|no objections?|didn't object|not object(?:ed)?"
    r"|(?:thumbs? up|lgtm)(?:'?ed)?)"
)
_CONSENT = (
    r"(?:approvals?|permissions?|consent|go-?ahead|go ahead|green-?light|green light"
    r"|sign-?offs?|sign off|blessing|authori[sz]ations?|confirmations?|clearance|okay|ok|thumbs? up"
    r"|all-clear|carte blanche|agreement|nod|yes)\b"
    r"(?! (?:dialog|prompt|modal|screen|page|button|step|flow|e?mail|message|form|popup|check"
    r"|box|mechanism|required|needed|logic|rules?|middleware|tests?|system|bits?|model))"
)
_WISHES = (
    r"(?:ask(?:ed|s|ing)|want(?:s|ed|ing)?|request(?:s|ed|ing)?|instruct(?:ed|s)|told|tells"
    r"|demand(?:s|ed)|order(?:ed|s)|sa(?:id|ys)|insist(?:s|ed)?|need(?:s|ed)(?! to be\b)|like[ds]?"
    r"|prefer(?:s|red)?|would (?:like|prefer|rather)|wish(?:es|ed)|expect(?:s|ed)|mention(?:s|ed)"
    r"|state[ds]|note[ds]|clarif(?:ied|ies)|specif(?:ied|ies)|suggest(?:s|ed)|propose[ds]"
    r"|require[ds]|remind(?:s|ed)|complain(?:s|ed)|report(?:s|ed)|explain(?:s|ed)|point(?:s|ed) out"
    r"|emphasi[sz]e[ds]|stress(?:es|ed)|hope[ds]|desire[ds]|reject(?:s|ed)|decline[ds]|refuse[ds]"
    r"|rule[ds] out|forbade|forbids|forbidden|prohibit(?:s|ed)|banned|warn(?:s|ed)|chose|chosen"
    r"|chooses|decide[ds]|pick(?:s|ed)|select(?:s|ed)|opt(?:s|ed)|settled|favou?r(?:s|ed)|hate[ds]"
    r"|dislike[ds]|direct(?:s|ed)|command(?:s|ed)|mandate[ds]|task(?:s|ed)|urge[ds]|encourage[ds]"
    r"|advise[ds]|answer(?:s|ed)|replie[ds]|respond(?:s|ed)|wrote|stipulate[ds]|correct(?:s|ed)"
    r"|wonder(?:s|ed)|after\b|looking for|intend(?:s|ed)|promise[ds]|love[ds]|care[ds]|cho?ose)"
)
_WISH = (
    r"(?:requests?|wish(?:es)?|preferences?|instructions?|orders?|demands?|decisions?|choices?"
    r"|feedback|corrections?|guidance|directions?|directives?|requirements?|desires?|statements?"
    r"|words?|remarks?|intent(?:ion)?s?|insistence|suggestions?|proposals?|comments?"
    r"|clarifications?|rules?|expectations?|answers?|say-so|behest|mandate|call|boss|idea|views?|opinion"
    r"|verdict|stance|vote|judge?ment|pick|will|interest)\b"
    r"(?! (?:page|table|model|api|endpoint|service|store|file|module|schema|class|object|form"
    r"|handler|list|id|payload|queue|count|limit|data|screen|component|tab|panel|dialog|route))"
)
# Most verbs with a person before them tell what the person has in mind. What people do with a
# program or a repository is no such thing, and neither is what a program says of its users.
_ACTS = (
    r"(?:edit|commit|push|pull|ran|reset|restart|open|clos|creat|delet|remov|upload|paste|past|shar"
    r"|provid|interrupt|stopp|test|tri|instal|fix|chang|mov|copi|add|updat|renam|sav|log|click|enter"
    r"|typ|select|submit|start|switch|merg|rebas|amend|stash|clon|check|review|view|load|us|call"
    r"|relat|fac|nam|bas|defin|generat|own|suppli|visit|search|authenticat|register|attach"
    r"|invok|trigger|execut|launch|kill|abort|cancel|undid|revert|connect|need)(?:t?ed|s)?\b"
)
_DID = rf"(?!{_ACTS})(?!signed (?:in|up|out)\b)\w+ed\b(?! by)"
_MINDED = (
    r"(?:came|went|let|left|put|felt|thought|meant|took|stood|saw|knew|brought|kept"
    r"|held|spoke|swore|trusts?|minds?|thinks?|believes?|feels?|backs?|supports?|welcomes?"
    r"|tolerates?|knows?|assumes?|considers?|finds?|sees?|leaves?|lets?|opposes?|objects?|keen"
    r"|eager|willing|ready|convinced|sure|certain|against|worried|indifferent|relaxed)\b"
)
_UNMINDED = (
    r"(?:doesn't|does not|don't|didn't|did not|won't|isn't|is not) "
    r"(?!exist|have|match|belong|authenticat|log|found|available|need|see|appear|show|get|receiv)\w+"
)
_DONE = r"(?:given|granted|received|obtained|secured|confirmed|on record|on file|in place|in hand)"
_CALLED = r"(?:approved|authori[sz]ed|green-?lit|okayed|ok'd|signed off|sanctioned)"

_APPROVALS = (
    rf"{_WHO}{_ADVERB} {_AGREES}",
    rf"{_WHO}(?: [\w',]+){{0,6}} (?:and|but|then|who) (?:(?:the )?\w+ )?{_AGREES}\b",
    rf"\b{_AGREES}(?: (?!or\b|and\b)\w+){{0,4}} (?:by|from) {_THE}{_WHO}",
    rf"{_WHO}-?(?:'s)? ?(?:[^.;:]{{0,30}} )?{_CONSENT}",
    rf"\b{_CONSENT}[^.;]{{0,40}} (?:by|from|of) {_THE}{_WHO}",
    rf"\busers?-(?:{_CALLED}|confirmed|sanctioned)",
    rf"\b(?:you|they|he|she){_ADVERB} (?:approved|agreed|authori[sz]ed|consented|signed off"
    r"|ok'd|okayed|greenlit|confirmed|gave (?:\w+ ){0,2}(?:permission|approval|consent|go-ahead))",
)
_NAMELESS = (
    rf"\b{_CONSENT},? (?:(?:was|is|has been|been|were|already|now) )*{_DONE}",
    r"\b(?:have|has|had|got|received|obtained|given|with|under) "
    rf"(?:(?:the|an?|full|explicit|clear|written|verbal|prior) )*{_CONSENT}",
    rf"^(?:pre-?)?(?:{_CALLED}|cleared|permitted)(?: (?:to|for|as)\b|[:,]|$)",
    r"\b(?:was|is|were|are|been|got|fully|already|explicitly|formally) (?:pre-?)?"
    rf"(?:{_CALLED}|cleared (?:to|for))\b(?! (?:by|via|with|through)\b)",
)
_WISHED = (
    rf"{_WHO}{_ADVERB} {_WISHES}\b",
    rf"{_WHO}(?: [\w',]+){{0,6}} (?:and|but|then|who) {_WISHES}\b",
    rf"{_WHO}{_ADVERB} made (?:it|this|that|clear|plain|known|the (?:call|decision|choice))",
    rf"\b(?:says|said|asked|wrote|insists|insisted|thinks|confirmed) {_THE}{_WHO}",
    rf"\b{_WISHES}(?: (?!or\b|and\b)\w+){{0,4}} by {_THE}{_WHO}",
    rf"(?:^|[,;:(] ?|\b(?:the|and|but|since|because|as|which|that|so|while|after|what) ){_WHO}"
    rf"(?:{_ADVERB} {_MINDED}|(?: (?:has|have|had|then|also|later|\w+ly))* {_DID}| {_UNMINDED})",
    rf"\b(?:per|according to|following|as per) {_THE}{_WHO}",
    rf"{_WHO}(?:'s?)? (?:\w+ ){{0,2}}?{_WISH}",
    rf"(?:^|[-(;,] |\b(?:said|by|from) {_THE}){_WHO}(?: \([^)]*\))?: ?(?=[\"'“«「]|\w+ \w+ \w+)",
    r"\busers?-(?:requested|mandated|specified|preferred|imposed|demanded|driven decision)",
    rf"\bagreed with {_THE}{_WHO}",
    r"\bas (?:approved|authori[sz]ed|requested|instructed|asked|ordered|agreed|directed|told"
    r"|demanded|wished)\b",
    r"\b(?:per|by|on|upon|at|as per) (?:the |your |their )?(?:request|instructions?|orders?)\b",
    rf"\b(?:you|they|he|she){_ADVERB} (?:asked|wanted|wants?|requested|told|insist(?:ed|s)?"
    r"|prefer(?:red|s)?|instructed|demanded)\b",
    r"\b(?:was|were|been) (?:asked|told|instructed|ordered|requested) to\b",
    r"^(?:asked|told|instructed|requested) (?:me|us|to)\b",
)
_APPROVED_ELSEWHERE = (
    r"(?:be)?nutzer(?:in|s)?\b[^.;:]{0,40}\b(?:genehmigt|bestätigt|zugestimmt|erlaubt|freigegeben"
    r"|eingewilligt|einverstanden|grünes licht|freigabe|zustimmung|erlaubnis|genehmigung|abgenickt"
    r"|stimmt(?:e)? .{0,30}zu|gestattet|in ordnung)|\b(?:genehmigt|bestätigt|freigegeben|erlaubt"
    r"|abgenickt|zustimmung|erlaubnis|freigabe|genehmigung|einverständnis|okay"
    r"|segen) (?:\w+ ){0,2}(?:vom|durch den|des|der|von) (?:be)?nutzer",
    r"utilisat(?:eur|rice)\b[^.;:]{0,30}(?:approuv|confirm|autoris|accept|valid|d'accord|feu vert"
    r"|(?:son|l') ?(?:accord|aval|autorisation)|permis)\w*"
    r"|(?:approuv|autoris|valid|accept|permis|confirm)\w* par l'utilisat"
    r"|(?:accord|aval|autorisation|permission|feu vert|approbation) de l'utilisat",
    r"(?:usuari[oa]|usuári[oa]|utilizador)\b[^.;:]{0,30}(?:aprob|confirm|autoriz|acept|aceit|aprov"
    r"|luz verde|visto bueno|permiso|permiti|aval|consinti|de acuerdo|sinal verde|concord)\w*"
    r"|(?:aprob|autoriz|confirm|acept|permit|aprov|aceit)\w* p(?:or el|elo|ela|or la) usu"
    r"|(?:permiso|autorización|aprobación|visto bueno|consentimiento|permissão|aprovação|aval"
    r"|acuerdo|luz verde) d(?:el|e la|o|a) usu",
    r"utente\b[^.;:]{0,30}(?:approvat|conferm|autorizz|accett|via libera|acconsent)\w*"
    r"|(?:approvat|autorizzat|confermat)\w* dall'utente",
    r"пользовател\w+[^.;:]{0,30}(?:одобр|подтверд|разреш|согла[сш]|дал[аи]? добро|не против)\w*"
    r"|(?:одобрен|разрешен|согласован|подтвержд[её]н|утвержд[её]н|разрешени|соглас|одобрени)\w*"
    r" (?:\w )?пользовател",
    r"(?:用户|使用者|用戶)[^\uff0c。,.]{0,12}(?:批准|同意|确认|確認|授权|允许|许可|許可|认可|点头|拍板"
    r"|放行|答应|不介意|无所谓|没意见|不反对|首肯|准许|默许)|(?:批准|同意|授权|允许|许可)[^\uff0c。,.]{0,4}(?:来自|由)?(?:用户|使用者)"
    r"|已获(?:得)?(?:批准|授权|许可|同意)",
    r"ユーザー?[^、。]{0,20}(?:承認|同意|許可|確認|了承|快諾|認め|ゴーサイン|了解)",
    r"(?:사용자|유저)[^.]{0,20}(?:승인|동의|허가|허락|확인|승낙)",
)
_WISHED_ELSEWHERE = (
    r"(?:be)?nutzer(?:in|s)?\b[^.;:]{0,25}\b(?:will|wollte|möchte|bat|bittet|verlangt|gebeten"
    r"|wünscht|gewünscht|sagt|sagte|gesagt|fordert|gefordert|bevorzugt|braucht|entschieden|meint"
    r"|besteht|erwartet|angewiesen|lehnt|abgelehnt|vorgegeben|angeordnet)"
    r"|\b(?:be)?nutzer-?(?:wunsch|vorgabe|anweisung|entscheidung|freigabe|zustimmung|anforderung)"
    r"|\b(?:laut|gemäß|nach|vom|auf (?:wunsch|bitte|anweisung)|wunsch|anweisung|vorgabe)"
    r" (?:\w+ )?(?:be)?nutzers?\b",
    r"utilisat(?:eur|rice)\b[^.;:]{0,20}(?:veut|voulait|demand|souhait|préf|dit\b|exig|insist|décid"
    r"|choisi|refus|rejet)\w*|(?:selon|d'après|à la demande de|conformément à) l'utilisat"
    r"|demandée?s? par l'utilisat",
    r"(?:usuari[oa]|usuári[oa]|utilizador)\b[^.;:]{0,20}(?:quier|quis|pidió|pide|solicit|quer|pediu"
    r"|dijo|dice|disse|prefier|prefer|exig|decid|insist|rechaz|rejeit|orden)\w*"
    r"|(?:según|segundo|conforme|a petición d|a pedido d|por orden d)\w* (?:el |la |o |a )?usu"
    r"|(?:pedid|solicitad|exigid|queri)\w* p(?:or el|elo) usu",
    r"utente\b[^.;:]{0,20}(?:vuole|voleva|chiest|chiede|dett|preferi|desider|richiest|decis)\w*"
    r"|(?:secondo|su richiesta del) ?l'utente",
    r"пользовател\w+[^.;:]{0,20}(?:прос[иея]|попрос|хоч|хотел|требу|потреб|сказал|предпоч|велел"
    r"|реши|указал|настаив|отказ|запрет|запрещ)\w*"
    r"|(?:по просьбе|по требованию|по указанию|по желанию|по словам|согласно) пользовател",
    r"(?:用户|使用者|用戶)[^\uff0c。,.]{0,10}(?:要求|希望|请求|想|让|说|表示|指示|喜欢|偏好|决定|选择"
    r"|告诉|吩咐|叮嘱|强调|拒绝|提出|需求|意愿|需要)",
    r"ユーザー?[^、。]{0,25}(?:依頼|要求|希望|求め|指示|言っ|述べ|望[みむん]|要望|決め|選[びん])",
    r"(?:사용자|유저)[^.]{0,25}(?:요청|요구|원하|원함|원했|말했|지시|바라|바람|선호|결정|희망)",
)
_APPROVAL = [re.compile(each) for each in (*_APPROVALS, *_NAMELESS, *_APPROVED_ELSEWHERE)]
_QUOTING = (
    rf"(?:{_WHO}|(?:be)?nutzer|utilisat|usuari|usuári|utente|пользовател|用户|使用者|ユーザ|사용자)"
    r"[^\"“”«»「」『』()]{0,40}[\"“«「『]"
)
_SAYING = [re.compile(each) for each in (*_WISHED, *_WISHED_ELSEWHERE, _QUOTING)]
# What is still to be asked for, or asked of those who use a program, was not said by anybody.
_ASKED_FOR = re.compile(
    r"\b(?:requir\w+|await\w*|wait\w* (?:for|on)|needs?|pending|without|ask(?:s|ing)?|prompt\w*"
    r"|seek\w*|no|missing|lack\w*|before|until|unless|if|whether|once|when(?:ever)?|must|should"
    r"|would|will|can|may|let'?s|lets?|whose|each|every|any|validates?|handles?)\b[^.;:]{0,40}$"
)
_REVIEWED = re.compile(r"#\d")
_WORDS = re.compile(
    rf"{_WHO}(?:'s?)?|\busers?-|\b(?:yes|sure|ok|okay)\b|\b{_AGREES}|\b{_WISHES}\b|\b{_CONSENT}"
    rf"|\b{_WISH}|\b(?:explicit|verbal|standing|per|according|follow\w*|given|gave|give[sn]?"
    r"|granted|received|obtained|secured|record|rule[ds]? out|request\w*|initial\w*|again|whether"
    r"|question\w*|does|did|doesn't)\b|\b(?:be)?nutzers?\b|\b(?:möchte|bat|darum|wie|vom|verlangt"
    r"|will|wollte|gebeten|wunsch|wünscht|gewünscht|laut|genehmigt|zustimmung)\b|l'utilisat\w+"
    r"|\b(?:veut|demande|souhaite)\b|\busu[aá]ri[oa]\b|\b(?:quiere|pidió|según)\b|пользовател\w+"
    r"|\b(?:попросил|просит|хочет|просьбе)\w*|用户|使用者|要求|希望|请求|同意|批准|确认|授权|允许"
    r"|许可|表示|指示|根据|按照?|已经?|ユーザー?[はがのを]?|依頼|要求|希望|するよう|よう"
    r"|사용자[가는의]?|요청|달라고|승인"
)
_CLAUSE = re.compile(
    r"[;\uff1b\u2014\u2013\u2192(){}|]|\*\*|(?<=\s)-{1,2}>?(?=\s)|, (?:so|then|which)\b"
)
_MARKUP = re.compile(r"\*+|__+|~~|`[^`\n]*`")
_GAPS = re.compile(r"\s+")
_END = re.compile(r"(?<=[.!?])[\"')\]*`]{0,3}\s+(?=[^a-z\s])|(?<=[。\uff01\uff1f])(?!$)")
_BEGINNING = re.compile(r"\s*(?:[-*•+>]\s+|\d{1,3}[.)]\s+)*")


@dataclass(frozen=True, slots=True)
class UserClaim:
    """That a user said something, as a sentence claims it."""

    clause: str
    """The part of the sentence that claims it; folded."""
    content: str
    """What the user is to have said, without the words that claim it; folded."""
    is_approval: bool


def sentences_of(line: str) -> list[str]:
    """Return a line in its sentences, which together are the line."""
    start = len(line) - len(_BEGINNING.sub("", line, count=1))
    ends = [start, *(found.end() for found in _END.finditer(line, start)), len(line)]
    parts = [line[one:other] for one, other in pairwise(ends) if one < other]
    return [line[:start] + parts[0], *parts[1:]] if parts else [line]


def claim_in(sentence: str) -> UserClaim | None:
    """Return what a sentence claims that a user said, or nothing."""
    text = _BEGINNING.sub("", folded(sentence).replace("\u2019", "'"), count=1)
    plain = _GAPS.sub(" ", _BEGINNING.sub("", _MARKUP.sub(" ", text), count=1)).strip()
    found = _found(plain)
    if found is None and not plain.isascii():
        # A word may consist of look-alikes alone.
        signs = unicodedata.normalize("NFKD", plain)
        bare = "".join(sign for sign in signs if unicodedata.category(sign) != "Mn")
        found = _found(bare.translate(LOOK_ALIKES))
    if found is None:
        return None
    words, is_approval = found
    # The clause in which the words stand; all of the text where that says nothing else.
    first = re.search(r"\W+".join(map(re.escape, re.findall(r"\w+", words)[:3])), text)
    at = first.start() if first else 0
    breaks = list(_CLAUSE.finditer(text))
    start = max((each.end() for each in breaks if each.end() <= at), default=0)
    end = min((each.start() for each in breaks if each.start() > at), default=len(text))
    clause, content = text[start:end], _WORDS.sub(" ", text[start:end])
    if not roots(content):
        clause, content = text, _WORDS.sub(" ", text)
    return UserClaim(clause, content, is_approval)


def _found(plain: str) -> tuple[str, bool] | None:
    """Return the words that make a claim, and whether they claim an approval."""
    for pattern in _APPROVAL:
        if pattern.pattern in _NAMELESS and _REVIEWED.search(plain):
            continue
        for match in pattern.finditer(plain):
            if pattern is _APPROVAL[0] or not _ASKED_FOR.search(plain[: match.start()]):
                return match[0], True
    said = next(filter(None, (pattern.search(plain) for pattern in _SAYING)), None)
    return (said[0], False) if said else None
