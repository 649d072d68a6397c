"""Phrases by which sentences give themselves away, in the languages that users write.

They find rules, values, decisions, consent, and what is done, dropped or put off. A language that
is missing here costs precision only: what users said is quoted word for word elsewhere.

A pattern is tried only on sentences that hold one of its words: to look for them in a set costs a
tenth of trying fifty alternatives at every letter.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from holdfast.summary.statements import is_dense
from holdfast.summary.tracing import folded, stems

_WORD_BYTES, _SIGN_BYTES = b"abcdefghijklmnopqrstuvwxyz0123456789_", b"0123456789@"
_TO_WORDS = bytes(byte if byte in _WORD_BYTES else 32 for byte in range(256))
_SIGN = b"0"
"""The word that stands for any digit and for the sign of a mail address."""


@lru_cache(maxsize=16_384)
def words_in(sentence: str) -> frozenset[bytes] | None:
    """Return the words of a sentence in lower case; None where it is not plain ASCII.

    Not every language parts its words, so sentences with other letters are tried in any case.
    """
    if not sentence.isascii():
        return None
    raw = sentence.lower().encode("ascii")
    words = raw.translate(_TO_WORDS).split()
    if len(raw.translate(None, _SIGN_BYTES)) < len(raw):
        words.append(_SIGN)
    return frozenset(words)


class Wording:
    """A pattern, and the words of which every match in a plain ASCII sentence holds one."""

    def __init__(self, needs: str, source: str) -> None:
        """Hold the pattern; it is compiled when it is first tried.

        Args:
            needs: The words, in lower case with spaces between; an apostrophe parts words.
            source: The pattern, in which case does not count.
        """
        self._source = source
        self.needed = frozenset(needs.encode("ascii").split())

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the compiled pattern."""
        return re.compile(self._source, re.IGNORECASE)

    def stands_in(self, sentence: str) -> bool:
        """Say whether the pattern is found in the sentence."""
        return self.found_in(sentence) is not None

    def found_in(self, sentence: str) -> re.Match[str] | None:
        """Return where the pattern is first found in the sentence, if it is."""
        words = words_in(sentence)
        if words is not None and self.needed.isdisjoint(words):
            return None
        plain = sentence if words is not None else sentence.replace("\u2019", "'")
        return self.pattern.search(plain)


# Who settles something, and the words that set it off from another choice or give its reason.
_SETTLER = (
    r"(?:^(?:deliberately )?(?:us(?:ed|ing)|kept|keeping|picked|left|switched|stayed)"
    r"|\b(?:i|we)(?:'ve|'ll|'re| have| will| are|)(?: now| also| only| therefore| deliberately|)"
    r" (?:us(?:e|ed|ing)|keep|kept|keeping|take|took|pick|picked|prefer|leave|left|stay|stayed"
    r"|switch|switched|put)"
    r"|\b(?:ich|wir) (?:nehm|nahm|verwend|benutz|nutz|behalt|behielt|lass|ließ|setz)\w*"
    r"|\b(?:nehm|verwend|benutz|nutz|behalt|lass|setz)en? (?:ich|wir)"
    r"|\b(?:j'|je |on |nous )(?:ai |avons |a )?(?:utilis|gard|pren|laiss|conserv)\w*"
    r"|\b(?:us(?:o|é|ei|amos|aré|aremos)|mant(?:engo|enemos|uve|enho|emos|ive)"
    r"|dej(?:o|é|amos)|deix(?:o|ei|amos))"
    r"|\b(?:использу(?:ем|ю)|берём|оставля(?:ем|ю)|оставил[аи]?))\b"
    r"|我们?(?:这里|就|会|将|先)?(?:使?用|保留|选)|使(?:い|う|っ)|残[しす]|사용|유지"
)
_AGAINST = (
    r"\b(?:instead of|rather than|in favou?r of|because|anstatt|statt(?:dessen)?|weil|sondern"
    r"|plutôt que|au lieu d[eu']|parce qu[e']|en (?:lugar|vez) de|ya que|porque"
    r"|em vez de|ao invés de|вместо|потому что|так как)\b"
    r"|而不是|而非|因为|代わりに|ではなく|なぜなら|대신|때문에"
)
SETTLED = Wording(
    "decided decision opted chose chosen settled going go keep stick settle entschieden"
    " entscheidung bleibe bleiben choisi decidi decidido decidimos quedamos escolhi escolhemos"
    " elegimos ficamos",
    r"\b(?:decided|opted (?:for|to)|settled on|(?:i|we)(?:'ve| have)? cho(?:se|sen)|was chosen"
    r"|(?:the|our|my) decision (?:is|was) (?:to|that)|decision(?= ?:)|(?:i'm|we're|are) going with"
    r"|(?:i|we)(?:'ll| will|) keep(?! \w+ing)|entschieden"
    r"|(?:i|we)(?:'ll| will) (?:go with|go for|stick to|stick with|settle on)"
    r"|entscheidung(?= ?:)|(?:ich bleibe|wir bleiben|bleiben wir) bei|décidé|décision(?= ?:)|choisi"
    r"|decid(?:í|i|ido|imos)|deci(?:sión|são)(?= ?:)|elegí|elegimos|nos quedamos con"
    r"|escolh(?:i|emos)|ficamos com|решил[аи]?|решено|решение принято)\b"
    r"|决定|采用|选用|改用|決定|採用|ことに(?:し|する)|결정|채택|하기로",
)
"""What somebody says who settles something outright."""
CHOSEN = Wording(
    "instead rather favor favour because statt anstatt stattdessen weil sondern lieu parce lugar"
    " vez ya porque que",
    rf"(?:{_SETTLER}).{{1,160}}?(?:{_AGAINST})|(?:{_AGAINST}).{{1,160}}?(?:{_SETTLER})",
)
"""What somebody says who takes one thing and names the other, or the reason."""
_HEDGED = re.compile(
    r"\b(?:might|could|should|would|may|can|if|whether|unless|bet|guess|likely|probably|perhaps"
    r"|maybe|suppose|assume|seems?|i'd|we'd|undecided|yours|könnten?|sollten?|würden?|falls|wenn"
    r"|vielleicht|wahrscheinlich|vermutlich|pourr\w+|devr\w+|peut-être|probablement|podría\w*"
    r"|debería\w*|quizás?|tal vez|talvez|probable?mente|provavelmente|poderia\w*|deveria\w*"
    r"|возможно|наверное|вероятно|может|если|бы)\b"
    r"|\b(?:not|never|nicht|pas|no|não|не)(?: \w+){0,2} ?$|n't(?: \w+){0,2} ?$"
    r"|可能|也许|或许|大概|如果|应该|[没未]有?$|かもしれ|でしょう|たぶん|おそらく|もし|べき"
    r"|아마|만약|수 ?있|것 ?같",
    re.IGNORECASE,
)
"""What stands before a choice that nobody made yet."""

CONSENT = re.compile(
    r"\b(?:yes|yep|yeah|ok|okay|sure|approved?|go ahead|lgtm|do it|proceed|confirm(?:ed)?|agreed?"
    r"|sounds good|looks good|ja|genau|einverstanden|mach das|passt|oui|d'accord|vas-y"
    r"|sí|si|vale|adelante|de acuerdo|sim|pode|certo|да|хорошо|давай|согласен|согласна|ладно)\b"
    r"|好的?|可以|同意|批准|行|是的|确认|没问题|はい|了解|お願い|承認|いいよ|네|예|좋아|그래|승인",
    re.IGNORECASE,
)
"""Words with which a user agrees."""

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
_REFUSES = re.compile(
    r"(?:no(?!,? (?:problem|worries|need|rush|questions?|idea|doubt|thanks?|that(?:'s| is) (?:all"
    r"|fine))\b)|nope|nah?|wrong|not (?:that|quite|really|what|true)|non|faux|pas (?:ça|comme)"
    r"|(?:stop|undo|revert|don't|do not|别|撤销)(?= ?(?:(?:do|that|this|it)\b|[.,!\uff0c。]|$))"
    r"|(?:that|this|it)(?:'s| is| was) (?:not|wrong)|i (?:undid|reverted|disagree)|nein|nee|falsch"
    r"|stimmt nicht|das (?:ist|war) falsch|lieber nicht|incorrecto|eso no|mejor no|não|errado"
    r"|melhor não|нет|неверно|не (?:так|надо|нужно))\b|不(?!错|客气)|错了"
    r"|别(?=这样|做)|いや|いいえ|違い?(?=ます|う(?:[。、]|$))|ちが|아니|틀",
    re.IGNORECASE,
)
"""How users begin who refuse or refute."""
_BRIEF = 60

# The query of an address asks nothing.
_ASKS = re.compile(r"\?(?![\w&=%/-])")


def is_acknowledgement(text: str) -> bool:
    """Say whether a user's short words only acknowledge: they ask nothing and request nothing.

    A bare "yes" is not meant here, because it may be what the assistant waits for.
    """
    words = text.strip()
    if len(words) >= _BRIEF or is_question(words) or not _PRAISE.match(words):
        return False
    return _REQUEST.search(words) is None


def is_decision(sentence: str, *, outright: bool = False) -> bool:
    """Say whether a sentence settles something: it says so, or somebody chooses, with the reason.

    What is only considered is no decision, nor is a contrast or a reason in what is described.

    Args:
        sentence: What the assistant said.
        outright: Whether only what says so counts: somebody at work chooses means all the time.
    """
    found = SETTLED.found_in(sentence) or (None if outright else CHOSEN.found_in(sentence))
    if found is None or is_question(sentence):
        return False
    # Where words are not parted, what weakens a verb follows it.
    before = sentence if is_dense(sentence) else sentence[: found.start()]
    return _HEDGED.search(before) is None


def settles(sentence: str) -> bool:
    """Say whether a user's sentence says that something is decided."""
    return len(sentence) <= _LONGEST and is_decision(sentence, outright=True)


def contradicts(words: str) -> bool:
    """Say whether a user's words refuse or refute what was said before them."""
    return _REFUSES.match(words[:_BRIEF].lstrip().replace("\u2019", "'")) is not None


def is_question(text: str) -> bool:
    """Say whether the text asks something."""
    asks = "?" in text and _ASKS.search(text) is not None
    return asks or "\uff1f" in text or text.rstrip().endswith(("吗", "呢", "か", "か。"))


GOAL = Wording(
    "goal aim objective mission ziel but objectif objetivo",
    r"\b(?:the|our|my|overall|new|real|actual|final|main)(?: \w+)? (?:goal|aim|objective|mission)\b"
    r"|^(?:goal|aim|objective|ziel|objectif|objetivo|цель|目标|目標|목표) ?[:\uff1a]"
    r"|\b(?:das|unser|mein)e?s? (?:\w+ )?ziel\b|\b(?:le|notre|mon) but (?:est|:)|\bl'objectif\b"
    r"|\b(?:el|nuestro|mi) objetivo\b|\bo (?:nosso |meu )?objetivo\b|\b(?:наша|моя) цель\b"
    r"|目标(?=[是为\uff1a:改变]|不再)|目標[はを:\uff1a]|목표[는은:]",
)
"""What a user says of the goal of it all."""
DROPS = Wording(
    "never nevermind forget drop skip scrap cancel need bother longer any vergiss lass streich"
    " streiche brauchst brauchen oublie laisse olvida olvidate esquece",
    r"\b(?:never ?mind|(?<!n't )(?<!not )forget (?:about )?(?:the|that|it|this|what|my)\b"
    r"|(?:drop|skip|scrap|cancel) (?:the|that|it|this)\b|no need (?:to|for)|don't bother"
    r"|(?<!n't )(?<!not )(?:forget|drop|skip|scrap|cancel) (?:about )?(?-i:[A-Z][A-Z0-9]+)\b"
    r"|no longer (?:needed|necessary|want)|(?:don't|do not) need (?:\w+ ){1,3}any ?more"
    r"|vergiss|lass(?= (?:das|die|den|es|ihn|sie)\b.{0,60}\b(?:sein|weg)\b)|streiche?"
    r"|brauch(?:st|en) (?:\w+ ){0,4}nicht mehr|oublie|laisse tomber|olv[ií]da(?:te)?|esquece"
    r"|забудь|не надо|отмени)\b|不用再?(?:做|管|写|改|加|弄|了)|不再?需要了|算了|忘掉"
    r"|别再?(?:做|管|弄|写|加)(?=.{0,40}了)"
    r"|(?:^|[请就\uff0c,] ?)取消(?!的|了)|やめて|もういい|됐어",
)
"""What a user says to drop something."""
RECONSIDERS = Wording(
    "again thought thoughts think mind minds reconsidered actually scratch lieber anders nochmal"
    " finalement fait avis bien mejor idea opinion bem melhor ideia",
    r"\bthinking (?:about (?:it|this|that) )?again\b|\bon second thoughts?\b"
    r"|\bcome to think of it\b|\bchanged (?:my|our) minds?\b|\breconsidered\b"
    r"|\bactually,? (?:no\b|let'?s\b|let us\b)|\bscratch that\b"
    r"|\bdoch lieber\b|\banders überlegt\b|\bnoch ?mal überlegt\b"
    r"|^finalement\b|\bréflexion faite\b|\bchangé d'avis\b"
    r"|\bpensándolo (?:bien|mejor)\b|\bcambi(?:é|ado) de (?:idea|opinión)\b"
    r"|\bpensando (?:bem|melhor)\b|\bmudei de ideia\b|\b(?:передумал[аи]?)\b"
    r"|改(?:变)?主意|再想了?想|やっぱり|생각해 ?보니",
)
"""What a user says who wants something else now than before."""
REVOKES = Wording(
    "may can allowed fine ok okay free longer lifted need darfst kannst erlaubt gilt peux puedes"
    " pode",
    r"\byou (?:may|can) (?!not\b|never\b|only\b)(?=.{0,80}\b(?:now|again|after all)\b)"
    r"|\b(?:is|are) (?:now|again) (?:allowed|ok|okay|fine)"
    r"|\b(?:is|are) (?:allowed|ok|okay|fine) (?:now|again|from (?:now|here) on)\b"
    r"|\b(?:can|may) go back to\b"
    r"|\bfeel free to\b|\b(?:the )?(?:rule|ban|restriction)s? (?:about|on|for|against)\b"
    r"|\bno longer (?:applies|apply|holds?|a rule|forbidden)\b|\b(?:is|are) lifted\b"
    r"|\b(?:don't|do not) need to\b(?=.{0,60}\b(?:any ?more|any longer)\b)"
    r"|\bdarfst (?!.{0,80}\b(?:nicht|nie|niemals|kein\w*|nur)\b)(?=.{0,80}\b(?:jetzt|nun|wieder)\b)"
    r"|\bkannst (?:jetzt|nun|wieder)\b|\bist (?:jetzt|nun|wieder) erlaubt\b|\bgilt nicht mehr\b"
    r"|\bdie (?:regel|vorgabe|sperre) (?:zu[mr]?|für|über)\b|\btu peux maintenant\b|\bya puedes\b"
    r"|\b(?:agora pode|теперь можно)\b|现在可以(?!了)|的?(?:限制|规定|规则)(?:取消|解除|作废)了?"
    r"|不再(?:禁止|限制)|(?<!不)允许|してもいい|해도 돼",
)
"""What a user says to lift a rule."""
REPLACES = Wording(
    "correction korrektur wrong moved changed instead rather from longer not statt anstatt ab von"
    " nicht sondern geirrt verschoben lieu partir lugar vez ya",
    r"\b(?:correction|korrektur|corrección|correção|исправление) ?[:,]|\bi was wrong\b"
    r"|\b(?:has|have|was|were) (?:been )?(?:moved|changed) to\b|\b(?:instead of|rather than)\b"
    r"|\bfrom now on\b|\bno longer\b|\bnot (?:\w+ ){1,4}any ?more\b|\b(?:an)?statt\b|\bsondern\b"
    r"|\bab (?:jetzt|sofort)\b|\bvon nun an\b|\bnicht mehr\b|\bmich geirrt\b|\bverschoben auf\b"
    r"|\bau lieu d[e']|\bdésormais\b|suis trompée?\b|\b[aà] partir de (?:maintenant|ahora|agora)\b"
    r"|\be[nm] (?:lugar|vez) de\b|\bya no\b|\bme equivoqué\b|\bnão mais\b|вместо|отныне|больше не"
    r"|更正|改[为成用]|换成|而不是|不再|从现在(?:起|开始)|我[说搞弄]错了|訂正|代わりに|ではなく"
    r"|これからは|정정|대신|앞으로|더 ?이상",
)
"""What a user says to put something in the place of what was said before."""
DEFERS = Wording(
    "later afterwards back yet go continue proceed stuck blocked nicht hange plus luego depois"
    " tarde puedo nachher",
    r"\b(?:i|we)(?:'ll| will| can|'d| shall) .{0,80}\b(?:later|afterwards)\b"
    r"|\b(?:come|get) back to (?:that|this|it|you)\b|\bnot (?:known|sure|clear) yet\b"
    r"|\b(?:don't|do not) know (?:that |this )?yet\b|\bich\b.{0,80}\b(?:später|nachher)\b"
    r"|\b(?:später|nachher)\b.{0,30}\bich\b|\bje .{0,60}\bplus tard\b|\bmás tarde\b"
    r"|\b(?:luego lo|mais tarde|depois eu|позже)\b|稍后(?:再|处理|告诉|回答|回复|做|补|看|给)"
    r"|[我先].{0,12}(?:之后|以后|晚点|后面)再|あとで|後で|나중에"
    r"|\b(?:cannot|can't|can not) (?:go on|continue|proceed)\b"
    r"|\b(?:i'm|i am|we're) (?:stuck|blocked)\b|\bkomme (?:hier |da )?nicht weiter\b|\bhänge fest\b"
    r"|\bje suis bloquée?\b|\bno puedo (?:seguir|continuar)\b|(?:не могу продолж)|没法继续|无法继续"
    r"|卡住了|進められません",
)
"""What an assistant says that leaves an ask unfulfilled: it puts it off, or cannot go on."""
LEFT = Wording(
    "still not remain remains left todo isn hasn aren noch offen fehlt reste encore pendiente",
    r"\bstill (?:open|pending|missing|outstanding|left|to do|to be done|needs? to)\b"
    r"|\b(?:not|isn't|hasn't been|aren't) (?:yet )?(?:done|finished|started|implemented|complete)\b"
    r"|\bremains? (?:open|undone|to be done)\b|\bnoch (?:offen|nicht)\b|\b(?:steht|fehlt) noch\b"
    r"|\breste à\b|\bpas encore\b|\bpendiente\b|\b(?:aún|todavía) no\b|\b(?:ainda não|ещё не)\b"
    r"|还没|还未|尚未|未完成|まだ|아직",
)
"""What an assistant says of something that is not done."""
DONE = Wording(
    "done finished complete completed implemented fixed resolved place ready works added built"
    " written shipped merged committed fertig erledigt abgeschlossen eingebaut umgesetzt behoben"
    " funktioniert fini finie finis finies fait faite faits faites hecho terminado listo completado"
    " arreglado feito pronto concluido",
    r"\b(?:done|finished|completed?|implemented|fixed|resolved|in place|ready|added|built|written"
    r"|shipped|merged|committed|works (?:now|again|fine))\b"
    r"|\b(?:fertig|erledigt|abgeschlossen|eingebaut|umgesetzt|behoben|läuft (?:jetzt|wieder|nun)"
    r"|funktioniert (?:jetzt|wieder|nun))\b|\b(?:terminé|fini|fait|prêt|corrigé)e?s?\b"
    r"|\b(?:hecho|terminado|listo|completado|arreglado|feito|pronto|concluído)\b"
    r"|\b(?:готово|сделано?|закончено?|исправлено?)\b"
    r"|完成|做好了|就位|搞定|修好|已修复|可以了|跑通了|完了|できました|終わりました|완료|끝났",
)
"""What an assistant says of something that is done."""
ANSWERS = Wording(
    "question questions asked frage fragen gefragt preguntaste pergunta perguntou",
    r"\b(?:to|on|about|regarding) your (?:earlier )?questions?\b(?: (?:about|on|of|whether))?"
    r"|\byou (?:had )?asked(?: me)?(?: (?:about|for|whether))?"
    r"|\bzu deine[rn]? fragen?(?: (?:nach|zu|über))?|\bgefragt\b"
    r"|\bdu (?:hattest|hast)(?: nach)?(?= .{0,80}\bgefragt)|\bà ta question\b(?: sur)?"
    r"|\bpreguntaste(?: por)?|\bsobre tu pregunta|\bperguntou(?: sobre)?|(?:ты спрашивал)\w?"
    r"|(?:关于|对于)?你(?:之前|刚才|先前)?问(?:的|到|过)(?:关于)?|ご質問の|질문하신",
)
"""What an assistant says before it answers what was asked earlier."""

# Who speaks, how they want to be called, and what is called how.
_NAMED = Wording(
    "name call go this am m soy bin suis sou sono heisse nenn llamo nombre llamame appelle nom"
    " chiamo chamo called named known heisst heissen namens nennen llama llaman llamado llamada"
    " appellent chiama chama",
    r"\b(?:my name(?:'s| is)|call me|i go by|this is [A-Z]\w+ (?:from|of|at|here))\b"
    r"|\b(?i:i am|i'm|soy|ich bin|je suis|eu sou|sono) (?:(?:der|die|el|la) )?(?-i:[A-ZÀ-Þ])\w"
    r"|\b(?:mein name ist|ich hei(?:ß|ss)e|nenn mich|me llamo|mi nombre es|ll[aá]mame|je m'appelle"
    r"|mon nom est|mi chiamo|me chamo|meu nome é|меня зовут)\b|我叫|我是|我的名字|叫我|私の名前"
    r"|と申します|제 이름은|\b(?:is|are|was|be|it's|he's|she's) (?:called|named|known as)\b"
    r"|\bnamed? (?-i:[A-Z])|\b(?:hei(?:ß|ss)t|hei(?:ß|ss)en|namens|nennen wir|se llaman?|llamad[oa]"
    r"|s'appelle(?:nt)?|nommée?|si chiama|se chama|называется|зовут)\b|名字[是叫]|叫做|名叫|名前は"
    r"|という名|이름은",
)
# What is to be remembered, because the user says so, and what they like or not.
_WANTED = Wording(
    "remember mind forget now record future dir denk jetzt sofort nun recuerda olvides cuenta ahora"
    " souviens oublie ricorda poi lembre agora prefer dislike hate rather stand like love allergic"
    " use mag bevorzuge lieber prefiero gusta gustan aime preferisco piace prefiro gosto",
    r"\b(?:(?<!\bto )(?<!\bi )remember|keep in mind|don't forget|from now on|for the record"
    r"|for future reference|merke? dir|denk daran|ab jetzt|ab sofort|von nun an|recuerda|no olvides"
    r"|ten en cuenta|a partir de ahora|souviens-toi|n'oublie pas|désormais|ricorda|d'ora in poi"
    r"|lembre|a partir de agora|запомни|не забудь|отныне)\b|记住|记得|别忘|从现在(?:起|开始)|以后"
    r"|今后|覚えて|これから|今後|기억해|앞으로"
    r"|\bi (?:really |much |would |'d )*(?:prefer|dislike|hate|rather|can't stand|like|love"
    r"|am allergic)\b|\bi'm allergic\b|\bwe (?:prefer|use|only use)\b"
    r"|\b(?:ich mag|ich bevorzuge|mir ist lieber|prefiero|me gustan?|je préfère|j'aime|preferisco"
    r"|mi piace|prefiro|eu gosto|предпочитаю|мне нравится)\b|我(?:不)?喜欢|我偏好|我更愿意|好きです"
    r"|嫌いです|좋아해|싫어",
)
# What must be and what must not: said to the one who is to act, or of a thing. English stands
# apart from other languages: a sentence is in one of them, and both are long.
_MUST = Wording(
    "never always not don avoid sure only must mustn nobody no nothing circumstances stop stick"
    " whenever time first before answers replies leave most forbidden prohibited limits",
    r"(?:^|[,;:(] ?|\b(?:and|but|so|or|please|you|then|to|should) )(?:please )?"
    r"(?:never(?! ?mind)|always|(?:do not|don't)(?! (?:like|know|think|believe|see)\b)|avoid"
    r"|make sure|only)\b|\bmust (?:not|never|only)\b|\bmustn't"
    r"|\b(?:you|nobody|no one|they) may (?:not|never|only)\b"
    r"|\bmust (?!have\b)\w|\b(?:nobody|no one|nothing)(?: else)? (?:may|must|should|can)\b"
    r"|\b(?:under no circumstances|stop \w+ing|stick to|whenever i|every time i|each time i"
    r"|ask me (?:first|before)|before you|in your (?:answers|replies)|leave (?:out|alone)"
    r"|no more than|at most|(?:answers|replies) should)\b|^no \w+(?: \w+)? in\b"
    r"|\b(?:is|are) (?:forbidden|prohibited|off limits|not allowed|not to be|only to be)\b",
)
_MUST_ELSEWHERE = Wording(
    "darf nicht niemals keinen keinesfalls verboten bitte immer nie nur kein keine keinem keiner"
    " keines keinn keinm keinr nunca no prohibido hay tienes debe deben siempre ne toujours"
    " interdit faut vietato proibido proibida proibito",
    r"\b(?:d(?:arf|ürfen) (?:\w+ ){0,3}?(?:nicht|nie|niemals|keine?[nmr]?|nur)|niemals"
    r"|auf keinen fall|keinesfalls|verboten|bitte (?:nur|nie|immer|keine?[nmr]?))\b"
    r"|^(?:bitte )?(?!das|es|die|der|ich|wir|er|sie)[a-zäöü]{2,}e?(?: mir| uns| bitte)?"
    r" (?:immer|nie|niemals|nur|keine?[nmr]?)\b"
    r"|^(?:bitte )?(?:fass|rühr|änder|lösch|benutz|verwend|schreib|mach|nimm|entfern|ersetz|push"
    r"|committ|installier)\w* .{0,60}\b(?:nicht|nie|niemals|kein(?:e[mnrs]?)?)\b"
    r"|\b(?:nunca|jamás|prohibido|(?:hay|tienes) que)\b|\bdeben? (?!de\b)"
    r"|^(?:por favor )?\w+[ae] siempre\b|^siempre \w+[ae]\b|^no \w+[ae]s\b"
    r"|^não (?:altere|apague|escreva|mexa|mude|remova|toque|use)\b|\bne \w+ (?:jamais|pas)\b"
    r"|^\w+(?:ez|e) toujours\b|\b(?:interdit|il faut)\b|\b(?:vietato|proibid[oa]|proibito)\b"
    r"|\b(?:никогда|нельзя|запрещено|обязательно)\b|不要|必须|禁止|不能|只能|务必|请勿|不得|不准"
    r"|一定要|始终|してはいけない|しないで|必ず|なければならない|하지 ?마|반드시|절대|금지",
)
# What holds for good, where a task may say "must" and "only", too.
_FOR_GOOD = Wording(
    "never always not don avoid mustn nobody no nothing circumstances whenever time forbidden "
    "prohibited limits future again",
    r"\b(?:never|always|do not|don't|must not|mustn't|may not|avoid|whenever|(?:every|each) time"
    r"|under no circumstances|nobody|no one|nothing|forbidden|prohibited|off limits|not allowed"
    r"|in (?:the )?future|again)\b",
)
# Whose it is.
_OWNED = Wording(
    "my our mein meine unser unsere mi nuestro nuestra mon ma notre meu minha",
    r"\b(?:my|our|meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|meu|minha|мо[йя]|наш\w?)\b"
    r".{1,60}\b(?:is|are|ist|sind|es|son|est|sont|é|runs?|lives?)\b|我的|我们的",
)
# Hours, days and prices: exact, though too short to count as names.
_EXACT = Wording(
    "0",
    r"(?<![\d:])\d{1,2}:\d\d(?![\d:])|\b\d[\d.,]* ?(?:€|\$|£|euros?\b|dollars?\b|pounds?\b"
    r"|usd\b|eur\b|元|块|円)|[€$£] ?\d|\b\d{1,2}\.? ?(?:of )?[A-Za-zäöüéûç]{3,10}\.? \d{4}\b"
    r"|\d{1,2} ?月 ?\d{1,2} ?日|[\w.+-]+@[\w-]+\.\w|\b[A-Z]{1,4}-?\d{1,4}\b",
)
_LONGEST = 400
"""Characters of a sentence that are looked at: a longer one is no statement."""


@lru_cache(maxsize=16_384)
def is_standing_rule(sentence: str) -> bool:
    """Say whether a user's sentence says what must be, must not be or is liked, beyond its turn."""
    if len(sentence) > _LONGEST or is_question(sentence):
        return False
    return any(cue.stands_in(sentence) for cue in (_WANTED, _MUST, _MUST_ELSEWHERE))


def is_lasting(sentence: str) -> bool:
    """Say whether a rule is told to hold for good, and not for the task at hand alone."""
    return any(cue.stands_in(sentence) for cue in (_WANTED, _FOR_GOOD, _MUST_ELSEWHERE))


@lru_cache(maxsize=16_384)
def is_value(sentence: str) -> bool:
    """Say whether a user's sentence tells who or what something is, in exact words."""
    if len(sentence) > _LONGEST or is_question(sentence):
        return False
    if _NAMED.stands_in(sentence) or given_value(sentence):
        return True
    # To look for the signs of a path costs a fraction of trying the pattern.
    is_path = "/" in sentence or ":\\" in sentence
    if is_path and _PLACED.search(sentence):
        return True
    return _OWNED.stands_in(sentence) and _EXACT.stands_in(sentence)


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
_ASIDE = re.compile(
    r"\b(?:the|an?|to|at|in|on|of|for|by|it|its|that|this|you|please|now|again|rules?|never|not|do"
    r"|(?:careful|note|attention|important|reminder|remember|achtung|wichtig|hinweis)(?= ?:)"
    r"|don't|no|must|touch|change|edit|modify|alter|forget|das|die|der|de[mnrs]|im|am|an|zum|zur|vom"
    r"|von|du|bitte|nie|niemals|nicht|jetzt|nun|wieder|fass|anfassen|ändere?|ändern|le|la|les|el|los"
    r"|las|d[eou]|l|à|ne|pas|touche[rz]?|modifie[rz]?|tocar|toques?|cambi(?:ar|es)|não|mude|mudar)\b"
    r"|不要|不能|禁止|请勿|不得|不准|[修更]改|改动|触碰|关于|现在|的(?=\s|$)|了(?=\W*$)",
    re.IGNORECASE,
)
"""What a rule and the words that lift it, or two names of a value, need not have in common."""


@lru_cache(maxsize=16_384)
def named_in(sentence: str) -> tuple[str, ...]:
    """Return what a rule, what lifts it or what has a value names: "a.py" and "a.js" are two."""
    plain = folded(sentence).replace("\u2019", "'")
    taking = (cue.pattern for cue in (REVOKES, DROPS, REPLACES, RECONSIDERS))
    for aside in (*taking, _CORRECTS, _ASIDE):
        plain = aside.sub(" ", plain)
    return tuple(re.findall(r"\w(?:[^\s,;!?\uff0c。\uff1b\uff01\uff1f]*[\w+#])?", plain))


@lru_cache(maxsize=16_384)
def given_value(sentence: str) -> tuple[str, str, bool] | None:
    """Return what has a value, as in "端口是 80", the value, and whether that is all it says."""
    words = words_in(sentence)
    if len(sentence) > _LONGEST or (words is not None and _SIGN not in words):
        return None
    if not (found := _GIVEN.search(sentence)):
        return None
    subject = _CORRECTS.sub(" ", sentence[: found.start()])
    is_all = not stems(sentence[found.end() :])
    return (subject, found[1], is_all) if stems(subject) else None


@lru_cache(maxsize=16_384)
def takes_back(sentence: str) -> bool:
    """Say whether a user's sentence lifts, drops or replaces something that was said before."""
    return any(cue.stands_in(sentence) for cue in (REVOKES, DROPS, REPLACES, RECONSIDERS))


def is_said_of(sentence: str) -> bool:
    """Say whether a user's sentence states a rule or a value, which another may take back."""
    return is_standing_rule(sentence) or is_value(sentence)
