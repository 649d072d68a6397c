"""How strong a claim a user's sentence has to stay: who they are, names, places, rules.

Such a sentence is said once and holds for the whole conversation, however much is said after it.
Its cues are given for several languages. A cue that is missing costs a sentence its place before
others, never its place among the newest words.
"""

from __future__ import annotations

import re

from holdfast.facts.rules import Kind, Strength, read_run, runs, strength
from holdfast.summary.cues import CONSTRAINT, is_question, is_rule
from holdfast.summary.wording import SIGNS, Wording, Words, words_in

__all__ = ["CUES", "LASTS", "claim", "worded_claim"]

LASTS = 2
"""The claim from which on a sentence outlasts its turn."""

_MOST_NAMES = 3
# Who speaks, and how they want to be called.
_SELF = Wording(
    "name call go this am m soy bin suis sou sono heisse nenn llamo nombre llamame appelle nom "
    "chiamo chamo",
    r"\b(?:my name(?:'s| is)|call me|i go by|this is [A-Z]\w+ (?:from|of|at|here))\b"
    r"|\b(?i:i am|i'm|soy|ich bin|je suis|eu sou|sono) (?:(?:der|die|el|la) )?(?-i:[A-ZÀ-Þ])\w"
    r"|\b(?:mein name ist|ich hei(?:ß|ss)e|nenn mich|me llamo|mi nombre es|ll[aá]mame"
    r"|je m'appelle|mon nom est|mi chiamo|me chamo|meu nome é|меня зовут)\b"
    r"|我叫|我是|我的名字|叫我|私の名前|と申します|제 이름은",
    worth=4,
)
# What is called how.
_CALLED = Wording(
    "called named known name heisst heissen namens nennen llama llaman llamado llamada appelle "
    "appellent chiama chama",
    r"\b(?:is|are|was|be|it's|he's|she's) (?:called|named|known as)\b|\bnamed? [A-Z]"
    r"|\b(?:hei(?:ß|ss)t|hei(?:ß|ss)en|namens|nennen wir|se llaman?|llamad[oa]|s'appelle(?:nt)?"
    r"|nommée?|si chiama|se chama|называется|зовут)\b|名字|叫做?|名前は|という名|이름은",
    worth=3,
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
    worth=4,
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
    worth=3,
)
# What must be and what must not: said to the one who is to act, or of a thing. English stands
# apart from other languages: a sentence is in one of them, and both are long.
_MUST = Wording(
    "never always not don avoid sure only must mustn nobody no nothing circumstances stop "
    "stick whenever time first before answers replies leave most forbidden prohibited "
    "limits",
    r"(?:^|[,;:(] ?|\b(?:and|but|so|or|please|you|then|to|should) )"
    r"(?:please )?(?:never|always|do not|don't|avoid|make sure|only)\b"
    r"|\b(?:must|may) (?:not|never|only)\b|\bmustn't|\bmust (?!have\b)\w"
    r"|\b(?:nobody|no one|nothing)(?: else)? (?:may|must|should|can)\b"
    r"|\b(?:under no circumstances|stop \w+ing|stick to|whenever i|every time i|each time i"
    r"|ask me (?:first|before)|before you|in your (?:answers|replies)|leave (?:out|alone)"
    r"|no more than|at most|(?:answers|replies) should)\b|^no \w+(?: \w+)? in\b"
    r"|\b(?:is|are) (?:forbidden|prohibited|off limits|not allowed|not to be|only to be)\b",
    worth=4,
)
_MUST_ELSEWHERE = Wording(
    "darf niemals keinen keinesfalls verboten bitte immer nie nur kein keine keinem keiner "
    "keinn keinm keinr nunca no prohibido hay tienes debe deben siempre ne toujours "
    "interdit faut vietato proibido proibida proibito",
    r"\b(?:d(?:arf|ürfen) (?:\w+ ){0,3}?(?:nicht|nie|niemals|keine?[nmr]?|nur)"
    r"|niemals|auf keinen fall|keinesfalls|verboten|bitte (?:nur|nie|immer|keine?[nmr]?))\b"
    r"|^(?:bitte )?(?!das|es|die|der|ich|wir|er|sie)[a-zäöü]{2,}e?(?: mir| uns| bitte)?"
    r" (?:immer|nie|niemals|nur|keine?[nmr]?)\b"
    r"|\b(?:nunca|jamás|prohibido|(?:hay|tienes) que)\b|\bdeben? (?!de\b)"
    r"|^(?:por favor )?\w+[ae] siempre\b|^siempre \w+[ae]\b|^no \w+[ae]s\b"
    r"|\bne \w+ (?:jamais|pas)\b|^\w+(?:ez|e) toujours\b|\b(?:interdit|il faut)\b"
    r"|\b(?:vietato|proibid[oa]|proibito)\b|\b(?:никогда|нельзя|запрещено|обязательно)\b"
    r"|不要|必须|禁止|不能|只能|务必|请勿|不得|不准|一定要|始终"
    r"|してはいけない|しないで|必ず|なければならない|하지 ?마|반드시|절대|금지",
    worth=4,
)
# Whose it is.
_OWNED = Wording(
    "my our mein meine unser unsere mi nuestro nuestra mon ma notre meu minha",
    r"\b(?:my|our|meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|meu|minha|мо[йя]|наш\w?)\b"
    r".{1,60}\b(?:is|are|ist|sind|es|son|est|sont|é|runs?|lives?)\b|我的|我们的",
    worth=1,
)
# Hours, days and prices: exact, though too short to count as names.
_EXACT = Wording(
    SIGNS,
    r"(?<![\d:])\d{1,2}:\d\d(?![\d:])|\b\d[\d.,]* ?(?:€|\$|£|euros?\b|dollars?\b|pounds?\b"
    r"|usd\b|eur\b|元|块|円)|[€$£] ?\d|\b\d{1,2}\.? ?(?:of )?[A-Za-zäöüéûç]{3,10}\.? \d{4}\b"
    r"|\d{1,2} ?月 ?\d{1,2} ?日|[\w.+-]+@[\w-]+\.\w|\b[A-Z]{1,4}-?\d{1,4}\b",
    worth=2,
)
CUES = (
    (_SELF,),
    (_CALLED,),
    (_REMEMBER,),
    (_LIKED,),
    (_MUST, _MUST_ELSEWHERE),
    (_OWNED,),
    (_EXACT,),
)
"""What gives a sentence its claim; those that say the same in other words count once."""

_KINDS = frozenset(
    {Kind.PATH, Kind.URL, Kind.PORT, Kind.VERSION, Kind.IDENTIFIER, Kind.NUMBER, Kind.COMMIT}
)
# The first word of a sentence has a capital whatever it is.
_FULL_NAME = re.compile(
    r" (?<=[^\s.!?:\n] )[A-ZÀ-Þ][\w'-]+(?: (?:de|da|del|di|van|von|of|der|la)){0,2} [A-ZÀ-Þ][\w'-]+"
)
_LONGEST = 400
"""Characters of a sentence that are looked at: a longer one is no statement."""


def claim(sentence: str) -> int:
    """Return how strong a claim the sentence has: 0 for a question or small talk.

    Cues of who, how called and must count most; each exact name in it adds to them.
    """
    if is_question(sentence):
        return 0
    beginning = sentence[:_LONGEST]
    # What is left of a long sentence may end like a question.
    worded = _worded(beginning) if beginning == sentence else worded_claim(beginning)
    names = min(_exact_names(beginning), _MOST_NAMES)
    return worded + 2 * names + 2 * bool(_FULL_NAME.search(beginning))


def worded_claim(sentence: str) -> int:
    """Return the part of the claim that the wording makes, whatever names are in it."""
    if is_question(sentence):
        return 0
    if len(sentence) <= _LONGEST:
        return _worded(sentence)
    return _cued(sentence[:_LONGEST], words_in(sentence[:_LONGEST])) or int(is_rule(sentence))


def _worded(sentence: str) -> int:
    words = words_in(sentence)
    return _cued(sentence, words) or int(CONSTRAINT.stands_in(sentence, words))


def _cued(sentence: str, words: Words) -> int:
    """Return what the cues in the sentence are worth, of each group the first that is found."""
    worth = 0
    for group in CUES:
        for cue in group:
            # Nearly always the words rule a cue out, which must not take a call.
            if (words is None or not cue.needed.isdisjoint(words)) and cue.stands_in(
                sentence, words
            ):
                worth += cue.worth
                break
    return worth


def _exact_names(sentence: str) -> int:
    facts = {fact for run in runs(sentence) for fact in read_run(run) if fact.kind in _KINDS}
    return sum(strength(fact) is not Strength.CALLED for fact in facts)
