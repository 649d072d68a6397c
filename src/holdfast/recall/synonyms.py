"""Words that mean nearly the same in everyday English, for questions that use another one.

Stemming joins `researched` and `researching`, but not `went` and `go`, nor `film` and `movie`. A
question seldom uses the words of its answer, so a loose match counts these too, at less than a
word that was asked for. The lists are closed and small: verbs that do not follow the rules, and
things and people that everyone has two names for.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.recall.stemming import stem

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["synonyms_of"]

_IRREGULAR = """
be was were been; become became; begin began begun; bite bit bitten; blow blew blown; break broke
broken; bring brought; build built; buy bought; catch caught; choose chose chosen; come came; cost
costs; cut cuts; deal dealt; draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten;
fall fell fallen; feed fed; feel felt; fight fought; find found; fly flew flown; forget forgot
forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went
gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew
known; lead led; learn learnt; leave left; lend lent; lose lost; make made; mean meant; meet met;
pay paid; read reads; ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see
saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot shot; sing
sang sung; sit sat; sleep slept; speak spoke spoken; spend spent; stand stood; steal stole stolen;
stick stuck; strike struck; swear swore sworn; swim swam swum; take took taken; teach taught; tear
tore torn; tell told; think thought; throw threw thrown; understand understood; wake woke woken;
wear wore worn; win won; write wrote written; child children; man men; woman women; person people;
foot feet; tooth teeth; mouse mice; wife wives; life lives; half halves; leaf leaves; knife knives;
"""
_NEAR_SYNONYMS = """
mother mom mum mommy; father dad daddy; grandmother grandma granny; grandfather grandpa granddad;
parents mom dad; sibling brother sister; kid child children son daughter; baby infant newborn;
husband wife spouse partner; boyfriend girlfriend partner; friend buddy pal; colleague coworker;
boss manager; doctor physician; lawyer attorney; movie film; television tv show series; photo
photograph picture pic; bike bicycle cycling; car vehicle; plane flight; phone telephone call;
mobile cellphone phone; job work career occupation; company firm employer business; house home
apartment flat; city town; country nation; store shop; restaurant cafe diner; meal food dish
cuisine; dinner supper; sick ill; illness disease; medicine medication drug; exercise workout gym
fitness; run jog; hike trek trail; trip travel vacation holiday journey; visit go; gift present;
party celebration; birthday bday; wedding marriage married; begin start; finish complete end; buy
purchase; like enjoy love; hobby interest pastime; favorite favourite prefer; happy glad; sad
upset; afraid scared fear; angry mad; nervous anxious worried; tired exhausted; big large; small
little tiny; quick fast; money cash; cheap inexpensive; expensive costly pricey; cost price; school
college university; study learn; class course lesson; teacher instructor; student pupil; exam test;
book novel; author writer; song music track; band group; concert gig show; picture painting; game
match; team club; pet dog cat; dog puppy; cat kitten; garden yard; beach sea ocean; mountain hill;
forest woods; autumn fall; clothes outfit clothing; shoe sneaker; bag purse; computer laptop pc;
bug defect error; fix repair; delete remove; create make; change modify update; folder directory;
setting option configuration; password credential; website site; picture image; document file;
"""


def _groups(text: str) -> list[list[str]]:
    return [group.split() for group in text.replace("\n", " ").split(";") if group.strip()]


def _table() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in _groups(_IRREGULAR + _NEAR_SYNONYMS):
        for word in group:
            found.setdefault(stem(word), {}).update(dict.fromkeys(group))
    return {
        word: tuple(each for each in group if stem(each) != word) for word, group in found.items()
    }


_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(_table())


def synonyms_of(word: str) -> tuple[str, ...]:
    """Return other words that may stand for a word; most have none."""
    return _SYNONYMS.get(stem(word.lower()), ())
