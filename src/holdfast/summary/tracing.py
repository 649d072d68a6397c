"""Whether words can be traced to what somebody said, in any language.

Quotations are looked up letter for letter. Paraphrases are compared by stems, and by pairs of
characters for scripts that do not part their words. Verbs with consequences must be there
themselves or by a word of the same kind: most words of an invented order can be borrowed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_WORD = re.compile(r"\w+")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]")
_TOKEN = re.compile(r"\w+(?:[-./]\w*\d\w*)*")
_TO_WORDS = bytes(code if chr(code).isalnum() or code == 95 else 32 for code in range(128)) * 2
_RUN, _STEM, _FEWEST = 4, 5, 3
_PASSAGE, _STRETCH, _READ = 120, 75, 40_000
_MOST_WORDS = 0.75
_SMALL = frozenset(
    """the and for that this with from into not but are was were has have had will would can could
    should about please user users asked asks wants want wanted requested request requests said told
    then also now still yet been being its their them they you your our what which when der die das
    den dem des und ein eine nicht mit von vom für auf ist soll bitte nutzer benutzer zum zur les
    des une est pas que qui pour dans sur avec utilisateur los las una que por para con del usuario
    uma para com não que usuário что как это для или пользователь чтобы""".split()
)
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝѵӏԍпгмтвнкαονικρτυεηıłɡɩօոսցᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑʋ",
    "aeopcyxijsdhqwvlgnrmtbhkaovikptuenilgionugabcdefghijklmnoprstuvwyzav",
)
"""Letters of other alphabets that look like Latin ones."""
_OTHERS = "".join(map(chr, LOOK_ALIKES))
_MIXED = re.compile(f"[a-z][{_OTHERS}]|[{_OTHERS}][a-z]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_ENDING = re.compile(r"(?:ations?|ions?|ies|ied|ying|ings?|ed|es|ly|[sey])$")

# Words whose consequences nobody may invent, by kind; a stem stands for all its forms.
_WEIGHTY_WORDS = (
    "delet remov drop erase wipe purge destr trunc lösch entfe suppr effac elimi borra apaga"
    " удали стере 删除 移除 清空 清除 削除 消去 삭제 제거",
    "deplo relea rollo ausro veröf déplo despl lanza депло разве опубл"
    " 部署 发布 上线 デプロ 公開 배포 게시",
    "push pushe merge commi force fusio запуш слей 推送 合并 提交 プッシ マージ 푸시 병합",
    "send sends sent mail email post schic sende envoy envia отпра 发送 寄送 送信 보내 전송",
    "pay pays paid buy bough purch bezah kaufe payer achet pagar compr плати купи"
    " 支付 付款 购买 支払 購入 결제 구매",
    "grant permi revok 授权 撤销 許可 허가",
    "disab deact bypas 禁用 绕过 無効 비활성",
)
_VERBS = re.compile(
    r"(?:^|[.!?,;:]\s*|\b(?:to|and|then|or|please|must|should|will|und|zu|et|de|y|и)\s+)(\w+)"
)
"""Where a verb stands that tells what is to be done."""
_WEIGHTY = {
    word[:_STEM]: kind for kind, words in enumerate(_WEIGHTY_WORDS) for word in words.split()
}


@lru_cache(maxsize=16_384)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry the meaning of a text."""
    return frozenset(_stems(folded(text)))


def _stems(plain: str) -> Iterator[str]:
    for word in (plain,) if plain.isalnum() else _WORD.findall(plain):
        if not word.isascii() and _DENSE.search(word):
            yield from (word[at : at + 2] for at in range(max(len(word) - 1, 1)))
        elif word not in _SMALL and (len(word) > 2 or word.isdecimal()):
            yield word[:_STEM] if word.isalpha() else word


@lru_cache(maxsize=16_384)
def _stems_of(word: str) -> tuple[str, ...]:
    return tuple(_stems(word))


@lru_cache(maxsize=16_384)
def marks(text: str) -> frozenset[str]:
    """Return what tells a subject from others: pairs of neighboring words, and names with digits.

    Single words are shared by too much. Where words are not parted, four characters are a pair.
    """
    found: set[str] = set()
    before = ""
    for token in _TOKEN.findall(folded(text)):
        if not token.isascii() and _DENSE.search(token):
            found.update(token[at : at + _RUN] for at in range(len(token) - _RUN + 1))
            before = ""
        elif token not in _SMALL and (len(token) > 2 or token.isdecimal()):
            word = token[:_STEM] if token.isalpha() else token
            if not token.isalpha() and not token.isdecimal():
                found.add(word)
            if before:
                found.add(f"{before} {word}")
            before = word
    return frozenset(found)


def folded(text: str) -> str:
    """Return a text as it is compared: without case, invisible signs and foreign look-alikes.

    A word that mixes alphabets is read as the Latin word that it feigns.
    """
    if text.isascii():
        return text.lower()
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).casefold())
    if not _MIXED.search(plain):
        return plain
    return _WORD.sub(
        lambda word: word[0].translate(LOOK_ALIKES) if _MIXED.search(word[0]) else word[0], plain
    )


def roots(text: str) -> frozenset[str]:
    """Return the stems of a text without English endings: "retry" and "retries" are one."""
    found: set[str] = set()
    for word in _WORD.findall(folded(text).replace("_", " ")):
        is_english = word.isascii() and word not in _SMALL
        if is_english and len(bare := _ENDING.sub("", word)) >= _FEWEST:
            is_doubled = len(bare) > _FEWEST and bare[-1] == bare[-2]
            word = bare[:-1] if is_doubled else bare
        found.update(_stems(word))
    return frozenset(found)


def weighty(found: Iterable[str], text: str) -> frozenset[int]:
    """Return the kinds of weighty words in a text."""
    kinds = {_WEIGHTY[stem] for stem in found if stem in _WEIGHTY}
    if _DENSE.search(text):
        kinds |= {kind for word, kind in _WEIGHTY.items() if word in text and _DENSE.search(word)}
    return frozenset(kinds)


def is_weighty_order(text: str) -> bool:
    """Say whether a text orders something with consequences: a verb of them begins a clause."""
    plain = folded(text)
    verbs = {word[:_STEM] for word in _VERBS.findall(plain)}
    return bool(weighty(verbs, plain))


class Said:
    """What somebody said, ready to be compared with what others claim."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._letters = "\n".join(map(letters, texts))
        self._passages: list[tuple[frozenset[str], frozenset[int]]] = []
        """Stems that stand together, so that a long paste does not support everything."""
        for text in texts:
            read = text if len(text) <= 2 * _READ else text[:_READ] + "\n" + text[-_READ:]
            words = folded(read).split()
            step = _PASSAGE // 2
            for start in range(0, max(len(words) - step, 1), step):
                passage = " ".join(words[start : start + _PASSAGE])
                found = frozenset(_stems(passage))
                self._passages.append((found, weighty(found, passage)))

    def holds(self, quotation: str) -> bool:
        """Say whether the letters and digits of the words were said in this order."""
        return (said := letters(quotation)) != "" and said in self._letters

    def overlap(self, claim: str) -> float:
        """Return how much of the claim a single passage supports, from 0 to 1.

        A passage supports nothing of a claim that has a weighty word of a kind it lacks.
        """
        wanted = stems(claim)
        return self._share(wanted, weighty(wanted, folded(claim)))

    def resembles(self, claim: str) -> float:
        """Return how many of the claim's words a single passage has, weighty or not."""
        return self._share(stems(claim), frozenset())

    def _share(self, wanted: frozenset[str], kinds: frozenset[int]) -> float:
        if not wanted:
            return 1.0
        shares = (len(wanted & found) for found, known in self._passages if kinds <= known)
        return max(shares, default=0) / len(wanted)


def overlap(one: str, other: str) -> float:
    """Return how much of the shorter of two texts the other has, by stems, from 0 to 1."""
    first, second = stems(one), stems(other)
    shorter = min(len(first), len(second))
    return len(first & second) / shorter if shorter else 0.0


class Passages:
    """A text in which statements are looked for, word for word or reworded in one passage."""

    def __init__(self, text: str) -> None:
        # Lines of plain ASCII are read together, and the others do not slow them down.
        runs = groupby(text.split("\n"), str.isascii)
        words = [word for _, lines in runs for word in _words("\n".join(lines))]
        self._plain = "".join(words).replace("_", "")
        found: defaultdict[str, list[int]] = defaultdict(list)
        for stretch, at in enumerate(range(0, len(words), _STRETCH)):
            for word in {*words[at : at + _STRETCH]}:
                found[word].append(stretch)
        self._found: defaultdict[str, set[int]] = defaultdict(set)
        """The stretches in which each stem stands; a passage is one with the one after it."""
        for word, places in found.items():
            for stem in _stems_of(word):
                self._found[stem].update(places)

    def tell(self, statement: str) -> bool:
        """Say whether the letters of a statement stand there, or all its names and most words."""
        wanted = stems(statement)
        there = sum(map(self._found.__contains__, wanted))
        # To look for the letters costs most, and a text without the words has not got them.
        if there == len(wanted) and letters(statement) in self._plain:
            return True
        fewest = max(ceil(len(wanted) * _MOST_WORDS), _FEWEST)
        if there < fewest:
            return False
        found = {each: self._found.get(each, set[int]()) for each in wanted}
        places = sorted(found.values(), key=len)
        names = [found[each] for each in wanted if any(map(str.isdecimal, each))]
        # A passage that has that many of them has one of the rarest.
        rare = set[int]().union(*(names[:1] or places[: len(wanted) - fewest + 1]))
        return any(
            sum(at in each or at + 1 in each for each in places) >= fewest
            and all(at in each or at + 1 in each for each in names)
            for at in rare | {place - 1 for place in rare}
        )


def _words(text: str) -> list[str]:
    """Return the words of a text as it is compared; those of ASCII take a quarter of the time."""
    plain = folded(text)
    if plain.isascii():
        return plain.encode("ascii").translate(_TO_WORDS).decode("ascii").split()
    return _WORD.findall(plain)


def letters(text: str) -> str:
    """Return the letters and digits of a text as it is compared."""
    return "".join(_words(text)).replace("_", "")
