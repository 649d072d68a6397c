"""Only users speak for users: asks and approvals in a record are traced to their words.

Summaries invent requests, and agents then act on them. An entry that puts words into a user's
mouth is kept when they can be found there, and otherwise marked or removed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from holdfast.summary.brief import shortened
from holdfast.summary.claims import UserClaim, claim_in, sentences_of
from holdfast.summary.cues import CONSENT, is_question
from holdfast.summary.record import Record, words_of
from holdfast.summary.statements import units
from holdfast.summary.tracing import Said, folded, is_weighty_order, roots, stems, weighty
from holdfast.transcript import Role, said_at
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.transcript import Message

NOT_FOUND = "(not found in the user's words)"
"""What follows a claim that nobody can be shown to have made."""
UNVERIFIED = "Unverified summary"
"""Who says what a summary of unknown authorship puts into a user's mouth."""

_TRACED = 0.5
_LIKELY = 0.25
_SUPPORTED, _SUPPORTED_WEIGHTY = 0.6, 0.75
"""The share of a claim that must stand in a user's words; of one with consequences, more."""
_BRIEF_CONSENT = 80
_LONGEST_INPUT = (4_000, 3_000, 900)
_TOGETHER = 3
"""How many sentences of a message may support a claim together."""
_NEARLY, _LONGEST_QUOTE = 0.9, 1_000
"""The share of a quotation's letters that a user's sentence has, and letters of one to compare."""
_WHOLE = 360
"""Characters of a sentence that a record tells whole, with a mark at its end."""

_QUOTED = re.compile(
    r"\"([^\"\n]{2,})\"|“([^”]{2,})”|«([^»]{2,})»|「([^」]{2,})」|『([^』]{2,})』"
    r"|(?<!\w)['\u2018]([^'\u2019\n]{2,}(?:['\u2019]\w[^'\u2019\n]*){0,9})['\u2019](?!\w)"
)
_GAP = re.compile(r"…|\.\.\.")
_ENDS = re.compile(r"([.!?。\uff01\uff1f]*)([\"')\]*`”»」]*)(\s*)$")
_PAUSE, _ITEM = re.compile(r"[.:;!?]\s*$|^\s*$"), re.compile(r"\s*(?:[-*•+|]|\d{1,3}[.)]) ?")
_CODE = re.compile(r"[{};=]|//|\(\)|^\s*#")
_BANS = (
    r"\b(?:never|don't|do not|must not|mustn't|should not|shouldn't|cannot|can't|stop|avoid|won't"
    r"|forb\w+|ruled? out|rejected|refused|declined|nicht|keine?\w?|nie|niemals|jamais|ne \w+ pas"
    r"|nunca|jamás|não|нельзя|никогда|не)\b|不要|不能|不得|别|禁止|勿|しないで|ない|하지 ?마|말아"
)
_BAN = re.compile(_BANS)
_NEGATED = re.compile(
    rf"{_BANS}|\b(?:no|not|without|against|instead|rather|nobody|none|nothing|but|unverändert|ohne"
    r"|aber|sans|sin|sem|без|\w+n't)\b|不|没|未|않|안 |없"
)
_CLAUSES = re.compile(r"[,;:\uff0c\uff1b、]|\b(?:and|but|so|und|aber|et|mais|y|pero|и|но)\b")
_REQUESTS = re.compile(
    r"\b(?:(?:can|could|would|will) (?:you|we|u)|please|pls|kannst|könntest|können wir|bitte|peux"
    r"|pourrais|peut-on|puedes|podrías|podemos|pode|podes|poderia|можешь|можете|можно)\b"
    r"|能不能|可以|请|くれ|ください|주"
)
_WILLS = re.compile(
    r"\b(?:want|wish|decid|decis|instruct|order|request|chos|pick|prefer|insist|need|requir|demand"
    r"|direct|mandat|will|möchte|verlang|veut|exig|quier|quer|хоч|треб)\w*|要求|决定|希望|求め|요구"
)
"""Words for a will, which nobody has who only asks."""
_GENERIC = roots(
    "plan approach proposal change design idea solution fix work implementation step next"
)
"""Words for what was talked about last, which tell nothing of it."""


class _Sentence(NamedTuple):
    """A sentence that a user said."""

    text: str
    roots: frozenset[str]
    weighty: frozenset[int]


class Heard:
    """What users are known to have said, indexed once for many records."""

    def __init__(
        self,
        user_words: Sequence[str],
        unverified: Sequence[str] = (),
        agreed: Sequence[tuple[str, str]] = (),
        goals: Sequence[str] = (),
    ) -> None:
        """Index the words, the newest of which come last.

        Args:
            user_words: What users said.
            unverified: What only somebody claims of them.
            agreed: What users agreed to: the end of what the assistant wrote, and its question.
            goals: Goals that only somebody claims, and that may be told as such.
        """
        self.said = Said(user_words)
        self._unverified, self._goals = Said(unverified), Said(goals)
        self.newest = user_words[-1] if user_words else ""
        self.consented = any(
            len(words) <= _BRIEF_CONSENT and CONSENT.search(words) for words in user_words
        )
        self._words = user_words
        self._agreed = [(roots(told), _sentence(asked).weighty) for told, asked in agreed]

    def traces(self, entry: str) -> bool:
        """Say whether users said what an entry says, in its words or in most of them."""
        return self.said.overlap(entry) >= _TRACED or self.quotes(entry)

    def is_borrowed(self, entry: str) -> bool:
        """Say whether only a summary of unknown authorship says what an entry says."""
        return self._unverified.overlap(entry) >= _TRACED and not self.traces(entry)

    def knows_goal(self, entry: str) -> bool:
        """Say whether a goal of unknown authorship, which may be told as such, is this one."""
        return self._goals.overlap(entry) >= _TRACED and not is_weighty_order(entry)

    def quotes(self, entry: str) -> bool:
        """Say whether the entry is what a user said, whole or by all its quotations."""
        quotes = _quotations(entry)
        return self.said.holds(entry) or (bool(quotes) and all(map(self.said.holds, quotes)))

    def supports(self, sentence: str, claim: UserClaim) -> bool:
        """Say whether users said what a sentence claims that they said.

        A quotation must be theirs. Other words count by how many of them one of their messages
        has close together, where what it forbids is not what the claim allows, and a question
        approves nothing. What they agreed to counts by what they were asked.
        """
        known = _sentence(claim.content).weighty
        quotes = [piece for each in _quotations(sentence) for piece in _GAP.split(each)]
        quotes = [each for each in quotes if stems(each) and not _is_yes(each, _BRIEF_CONSENT // 4)]
        if quotes:
            if not all(self.said.holds(each) or self._has_nearly(each) for each in quotes):
                return False
            if known <= _sentence(" ".join(quotes)).weighty:
                return True
        wanted = roots(claim.content)
        if wanted <= _GENERIC:
            return self.consented if claim.is_approval else bool(self._words)
        if not (
            claim.is_approval or _WILLS.search(claim.clause) or is_weighty_order(claim.content)
        ):
            # What somebody only tells has no consequences.
            known = frozenset[int]()
        fewest = (_SUPPORTED_WEIGHTY if known else _SUPPORTED) * len(wanted)
        if any(known <= kinds and len(wanted & told) >= fewest for told, kinds in self._agreed):
            return True
        return any(
            _allows(some, wanted, claim)
            for some in self._stretches
            if len(wanted & frozenset().union(*(each.roots for each in some))) >= fewest
            and known <= frozenset().union(*(each.weighty for each in some))
        )

    def _has_nearly(self, quotation: str) -> bool:
        """Say whether a sentence has the letters of a quotation but for a few: models spell."""
        wanted, names = "".join(folded(quotation).split()), roots(quotation)
        if len(wanted) > _LONGEST_QUOTE:
            return False
        matches = SequenceMatcher(b=wanted, autojunk=False)
        for sentence in (some[0] for some in self._stretches):
            if len(names & sentence.roots) * 2 >= len(names):
                matches.set_seq1("".join(sentence.text.split()))
                blocks = matches.get_matching_blocks()
                if sum(each.size for each in blocks if each.size > 2) >= _NEARLY * len(wanted):
                    return True
        return False

    @cached_property
    def _stretches(self) -> list[list[_Sentence]]:
        """Return every few sentences that stand together in a user's message."""
        messages = [list(map(_sentence, units(words))) for words in self._words]
        return [
            message[start : start + _TOGETHER]
            for message in messages
            for start in range(len(message))
        ]


def _sentence(text: str) -> _Sentence:
    plain = folded(text).replace("\u2019", "'")
    found = roots(text)
    return _Sentence(plain, found, weighty(found | stems(text), plain))


def _is_yes(words: str, longest: int = _BRIEF_CONSENT) -> bool:
    """Say whether words are a bare yes, which tells nothing of what it was said to."""
    return len(words) <= longest and CONSENT.match(words.strip()) is not None


def _allows(some: Sequence[_Sentence], wanted: frozenset[str], claim: UserClaim) -> bool:
    """Say whether the sentence that has most of a claim's words can mean what the claim says."""
    best = max(some, key=lambda each: len(wanted & each.roots))
    if is_question(best.text) and not _REQUESTS.search(best.text):
        return not claim.is_approval and _WILLS.search(claim.clause) is None
    clause = max(_CLAUSES.split(best.text), key=lambda each: len(wanted & roots(each)))
    if _BAN.search(clause) and not _NEGATED.search(claim.clause):
        return False
    return not (_BAN.search(claim.clause) and not _NEGATED.search(best.text))


def agreed_in(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return what users agreed to in few words: the end of what the assistant wrote, and its ask.

    A yes approves the question that it answers and nothing else; where none was asked, the last
    sentence.
    """
    found: list[tuple[str, str]] = []
    before = ""
    for index, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            before = message.text or before
        elif message.role is Role.USER and (words := said_at(messages, index)):
            said = units(before)[-2:]
            is_refused = is_question(words) or _NEGATED.search(folded(words))
            if said and _is_yes(words) and not is_refused:
                asked = [unit for unit in said if is_question(unit)] or said[-1:]
                found.append((" ".join(said), " ".join(asked)))
            before = ""
    return found


def verify(record: Record, heard: Heard) -> tuple[Record, tuple[str, ...]]:
    """Return the record without asks and approvals that no user made, and what was changed."""
    check = _Check(heard)
    kept = {"task": check.task(record.task), "pending": list(map(check.pending, record.pending))}
    borrowed: list[str] = []
    for name, entries in record.sections():
        if name in {"task", "pending"}:
            continue
        kept[name] = told = list[str]()
        for entry in entries:
            if name not in {"goal", "constraints"} or not heard.is_borrowed(entry):
                told.append(check.claims(entry, name))
            else:
                # What is wanted is told also where nobody knows who said so; a rule would bind.
                if not entry.startswith(UNVERIFIED):
                    check.warn("told as unverified what only an earlier summary says", entry)
                is_told = name == "goal" and heard.knows_goal(entry)
                (told if is_told else borrowed).append(unverified(entry))
    kept["critical"] += borrowed
    checked = Record(**{name: tuple(entries) for name, entries in kept.items()})
    return checked, tuple(check.warnings)


def unverified(words: str) -> str:
    """Return words in one line, which says of itself that nobody knows who wrote it."""
    return f"{UNVERIFIED}: {' '.join(words.split()).removeprefix(f'{UNVERIFIED}: ')}"


class _Check:
    """One record held against the users' words, and what was found not to be in them."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self.warnings: list[str] = []

    def task(self, entries: Iterable[str]) -> list[str]:
        """Return the task snapshot with nothing in it but what the user said."""
        entries = [entry for entry in entries if NOT_FOUND not in entry]
        for entry in entries:
            if not self._heard.traces(entry):
                self.warn("replaced a task that no user gave", entry)
        verbatim = [entry for entry in entries if self._heard.quotes(entry)]
        traced = [entry for entry in entries if self._heard.traces(entry)]
        if verbatim or not self._heard.newest:
            return verbatim
        # Only a huge input loses its middle.
        return [*traced, *shortened([(self._heard.newest, _LONGEST_INPUT)], str)]

    def pending(self, entry: str) -> str:
        """Return an ask, marked when it cannot be traced; nothing when it is clearly invented."""
        if NOT_FOUND in entry or self._heard.traces(entry):
            return entry
        if self._heard.said.resembles(entry) < _LIKELY:
            self.warn("removed an ask that no user made", entry)
            return ""
        return self._marked(entry)

    def claims(self, entry: str, section: str) -> str:
        """Return an entry of any section; what its sentences say of the user must be traceable."""
        is_code = False
        kept: list[str] = []
        for line in entry.split("\n"):
            is_code ^= line.lstrip().startswith(("```", "~~~"))
            parts = [] if is_code and _CODE.search(line) else sentences_of(line)
            told = "".join(self._claim(each, section, line) for each in parts) if parts else line
            if line and not told.strip():
                continue
            before = kept[-1] if kept else ""
            both = f"{before.strip()} {told.strip()}"
            ends = _PAUSE.search(before) or _ITEM.match(told) or NOT_FOUND in both
            if not ends and claim_in(before) is None and claim_in(told) is None:
                # A claim that one line begins and the next one ends.
                claim = claim_in(both)
                if claim is not None and not self._heard.supports(both, claim):
                    told = self._marked(told, both)
            kept.append(told)
        return "\n".join(kept)

    def _claim(self, sentence: str, section: str, line: str) -> str:
        if NOT_FOUND in sentence or (claim := claim_in(sentence)) is None:
            return sentence
        if not roots(claim.content):
            # What was approved stands in the sentences around it, if anywhere.
            claim = replace(claim, content=folded(line.replace(sentence, " ")))
        if words_of(sentence.strip()).startswith(UNVERIFIED) and not claim.is_approval:
            return sentence
        if self._heard.said.holds(sentence) or self._heard.supports(sentence, claim):
            return sentence
        if claim.is_approval and not self._heard.consented and section != "actions":
            self.warn("removed an approval that no user gave", sentence)
            return ""
        # A bare "yes" was said to something else, and what was done is told in any case.
        return self._marked(sentence)

    def _marked(self, sentence: str, claim: str = "") -> str:
        """Return a sentence with the mark in it, where nothing will part the two."""
        self.warn("marked what no user said", claim or sentence)
        body, end, closing, blank, _ = _ENDS.split(sentence, maxsplit=1)
        if (end and closing) or len(sentence) > _WHOLE:
            words = words_of(sentence.lstrip())
            return f"{sentence.removesuffix(words)}{NOT_FOUND} {words}"
        return f"{body}{closing} {NOT_FOUND}{end}{blank}"

    def warn(self, change: str, entry: str) -> None:
        """Note what was changed in an entry."""
        self.warnings.append(f"{change}: {flat(entry, 120)}")


def _quotations(entry: str) -> list[str]:
    return ["".join(groups) for groups in _QUOTED.findall(entry)]
