"""How strong a claim a user's sentence has to stay: who they are, names, places, rules.

Such a sentence is said once and holds for the whole conversation, however much is said after it.
Its cues are given for several languages. A cue that is missing costs a sentence its place before
others, never its place among the newest words.
"""

from __future__ import annotations

import re

from holdfast.summary.cues import is_question
from holdfast.summary.tracing import stems
from holdfast.summary.wording import SIGNS, Wording, words_in

__all__ = ["given_value", "is_said_of", "is_standing_rule", "is_value"]

# Who speaks, and how they want to be called.
_SELF = Wording(
    "name call go this am m soy bin suis sou sono heisse nenn llamo nombre llamame appelle nom "
    "chiamo chamo",
    r"\b(?:my name(?:'s| is)|call me|i go by|this is [A-Z]\w+ (?:from|of|at|here))\b"
    r"|\b(?i:i am|i'm|soy|ich bin|je suis|eu sou|sono) (?:(?:der|die|el|la) )?(?-i:[A-ZÀ-Þ])\w"
    r"|\b(?:mein name ist|ich hei(?:ß|ss)e|nenn mich|me llamo|mi nombre es|ll[aá]mame"
    r"|je m'appelle|mon nom est|mi chiamo|me chamo|meu nome é|меня зовут)\b"
    r"|我叫|我是|我的名字|叫我|私の名前|と申します|제 이름은",
)
# What is called how.
_CALLED = Wording(
    "called named known name heisst heissen namens nennen llama llaman llamado llamada appelle "
    "appellent chiama chama",
    r"\b(?:is|are|was|be|it's|he's|she's) (?:called|named|known as)\b|\bnamed? (?-i:[A-Z])"
    r"|\b(?:hei(?:ß|ss)t|hei(?:ß|ss)en|namens|nennen wir|se llaman?|llamad[oa]|s'appelle(?:nt)?"
    r"|nommée?|si chiama|se chama|называется|зовут)\b|名字[是叫]|叫做|名叫|名前は|という名|이름은",
)
# What is to be remembered, because the user says so.
_REMEMBER = Wording(
    "remember mind forget now record future dir denk jetzt sofort nun recuerda olvides cuenta "
    "ahora souviens oublie ricorda poi lembre agora",
    r"\b(?:remember|keep in mind|don't forget|from now on|for the record|for future reference"
    r"|merke? dir|denk daran|ab jetzt|ab sofort|von nun an|recuerda|no olvides|ten en cuenta"
    r"|a partir de ahora|souviens-toi|n'oublie pas|désormais|ricorda|d'ora in poi|lembre"
    r"|a partir de agora|запомни|не забудь|отныне)\b"
    r"|记住|记得|别忘|从现在(?:起|开始)|以后|今后|覚えて|これから|今後|기억해|앞으로",
)
# What the user likes and does not.
_LIKED = Wording(
    "prefer dislike hate rather stand like love allergic use mag bevorzuge lieber prefiero "
    "gusta gustan aime preferisco piace prefiro gosto",
    r"\bi (?:really |much |would |'d )*(?:prefer|dislike|hate|rather|can't stand|like|love"
    r"|am allergic)\b|\bi'm allergic\b|\bwe (?:prefer|use|only use)\b"
    r"|\b(?:ich mag|ich bevorzuge|mir ist lieber|prefiero|me gustan?|je préfère|j'aime"
    r"|preferisco|mi piace|prefiro|eu gosto|предпочитаю|мне нравится)\b"
    r"|我(?:不)?喜欢|我偏好|我更愿意|好きです|嫌いです|좋아해|싫어",
)
# What must be and what must not: said to the one who is to act, or of a thing. English stands
# apart from other languages: a sentence is in one of them, and both are long.
_MUST = Wording(
    "never always not don avoid sure only must mustn nobody no nothing circumstances stop "
    "stick whenever time first before answers replies leave most forbidden prohibited "
    "limits",
    r"(?:^|[,;:(] ?|\b(?:and|but|so|or|please|you|then|to|should) )"
    r"(?:please )?(?:never|always|do not|don't|avoid|make sure|only)\b"
    r"|\bmust (?:not|never|only)\b|\b(?:you|nobody|no one|they) may (?:not|never|only)\b"
    r"|\bmustn't|\bmust (?!have\b)\w"
    r"|\b(?:nobody|no one|nothing)(?: else)? (?:may|must|should|can)\b"
    r"|\b(?:under no circumstances|stop \w+ing|stick to|whenever i|every time i|each time i"
    r"|ask me (?:first|before)|before you|in your (?:answers|replies)|leave (?:out|alone)"
    r"|no more than|at most|(?:answers|replies) should)\b|^no \w+(?: \w+)? in\b"
    r"|\b(?:is|are) (?:forbidden|prohibited|off limits|not allowed|not to be|only to be)\b",
)
_MUST_ELSEWHERE = Wording(
    "darf nicht niemals keinen keinesfalls verboten bitte immer nie nur kein keine keinem keiner "
    "keinn keinm keinr nunca no prohibido hay tienes debe deben siempre ne toujours "
    "interdit faut vietato proibido proibida proibito",
    r"\b(?:d(?:arf|ürfen) (?:\w+ ){0,3}?(?:nicht|nie|niemals|keine?[nmr]?|nur)"
    r"|niemals|auf keinen fall|keinesfalls|verboten|bitte (?:nur|nie|immer|keine?[nmr]?))\b"
    r"|^(?:bitte )?(?!das|es|die|der|ich|wir|er|sie)[a-zäöü]{2,}e?(?: mir| uns| bitte)?"
    r" (?:immer|nie|niemals|nur|keine?[nmr]?)\b"
    r"|^(?:bitte )?(?:fass|rühr|änder|lösch|benutz|verwend|schreib|mach|nimm|entfern|ersetz|push"
    r"|committ|installier)\w* .{0,60}\b(?:nicht|nie|niemals|kein\w*)\b"
    r"|\b(?:nunca|jamás|prohibido|(?:hay|tienes) que)\b|\bdeben? (?!de\b)"
    r"|^(?:por favor )?\w+[ae] siempre\b|^siempre \w+[ae]\b|^no \w+[ae]s\b"
    r"|\bne \w+ (?:jamais|pas)\b|^\w+(?:ez|e) toujours\b|\b(?:interdit|il faut)\b"
    r"|\b(?:vietato|proibid[oa]|proibito)\b|\b(?:никогда|нельзя|запрещено|обязательно)\b"
    r"|不要|必须|禁止|不能|只能|务必|请勿|不得|不准|一定要|始终"
    r"|してはいけない|しないで|必ず|なければならない|하지 ?마|반드시|절대|금지",
)
# Whose it is.
_OWNED = Wording(
    "my our mein meine unser unsere mi nuestro nuestra mon ma notre meu minha",
    r"\b(?:my|our|meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|meu|minha|мо[йя]|наш\w?)\b"
    r".{1,60}\b(?:is|are|ist|sind|es|son|est|sont|é|runs?|lives?)\b|我的|我们的",
)
# Hours, days and prices: exact, though too short to count as names.
_EXACT = Wording(
    SIGNS,
    r"(?<![\d:])\d{1,2}:\d\d(?![\d:])|\b\d[\d.,]* ?(?:€|\$|£|euros?\b|dollars?\b|pounds?\b"
    r"|usd\b|eur\b|元|块|円)|[€$£] ?\d|\b\d{1,2}\.? ?(?:of )?[A-Za-zäöüéûç]{3,10}\.? \d{4}\b"
    r"|\d{1,2} ?月 ?\d{1,2} ?日|[\w.+-]+@[\w-]+\.\w|\b[A-Z]{1,4}-?\d{1,4}\b",
)
_LONGEST = 400
"""Characters of a sentence that are looked at: a longer one is no statement."""


def is_standing_rule(sentence: str) -> bool:
    """Say whether a user's sentence says what must be, must not be or is liked, beyond its turn."""
    if len(sentence) > _LONGEST or is_question(sentence):
        return False
    words = words_in(sentence)
    return any(
        cue.stands_in(sentence, words) for cue in (_REMEMBER, _LIKED, _MUST, _MUST_ELSEWHERE)
    )


def is_value(sentence: str) -> bool:
    """Say whether a user's sentence tells who or what something is, in exact words."""
    if len(sentence) > _LONGEST or is_question(sentence):
        return False
    words = words_in(sentence)
    if any(cue.stands_in(sentence, words) for cue in (_SELF, _CALLED)):
        return True
    if given_value(sentence) is not None or _PLACED.search(sentence):
        return True
    return _OWNED.stands_in(sentence, words) and _EXACT.stands_in(sentence, words)


_PLACED = re.compile(
    r"\b(?:is|are|lives?|ist|sind|liegt|liegen|está|están|est|sont|находится)\b(?: \w+){0,3}? "
    r"[\"'`]?(?:[a-z]+://|~?/|[A-Z]:\\)[\w./~-]{3,}|(?:在|は)\s?[\"'`]?~?/[\w./-]{3,}"
)
"""What says where something is."""
_GIVEN = re.compile(
    r"(?:\b(?:is|ist|gilt|es|est|é|равен|равна)(?: (?:now|jetzt|ahora|maintenant))?"
    r"(?: [a-zäöü]{2,12}){0,2}?(?: (?:at|in|on|by|to|um|auf|unter|bei|à|en|em|a las))?"
    r"|(?<!不)[是为])"
    r" ?[\"'`]?([\w./:@+-]{0,60}\d[\w./:@%+-]{0,60})(?<![.:])[\"'`]?"
    r"(?: [A-Za-z%€$£°]{1,8})?(?: (?:now|jetzt|ahora|maintenant))?了?(?=[.,;!\uff0c。\uff1b]|$)",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"^(?:no|nein|non|correction|actually|sorry|korrektur|doch|corrección|нет|不对|不是|更正|いいえ"
    r"|아니) ?[,:\uff0c\uff1a]|\b(?:(?:has|have) changed|hat sich geändert|a changé|ha cambiado"
    r"|jetzt|now)\b|改了|变了|现在|変わ",
    re.IGNORECASE,
)
"""What says that a value is another one now; it is no part of what has the value."""


def given_value(sentence: str) -> tuple[str, str] | None:
    """Return what a sentence gives a value to, and the value: "the port is 80", "端口是 80"."""
    if len(sentence) > _LONGEST or (found := _GIVEN.search(sentence)) is None:
        return None
    subject = _CORRECTS.sub(" ", sentence[: found.start()])
    return (subject, found[1]) if stems(subject) else None


def is_said_of(sentence: str) -> bool:
    """Say whether a user's sentence states a rule or a value, which another may take back."""
    return is_standing_rule(sentence) or is_value(sentence)
