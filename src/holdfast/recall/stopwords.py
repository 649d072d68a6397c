"""Words that stand in every sentence, so that a question is searched by the others.

They count only where a query has other words: `to be or not to be` is still searched as it is.
"""

# ruff: noqa: RUF001 - Russian words are not misspelled Latin ones
from __future__ import annotations

__all__ = ["is_filler"]

_ENGLISH = """
a about all also am an and any are as at be been being but by can could did do does doing don for
from had has have having he her hers him his how i if in into is it its let ll may me might mine
must my of on or our ours s shall she should so some such t than that the their them then there
these they this those to us ve was we were what when where which who whom whose why will with
would you your yours re d m ever
"""
_GERMAN = """
aber als am an auch auf aus bei bin bist da das dass dein dem den der des die dir du ein eine
einem einen einer er es euch für habe haben hast hat hatte ich ihr im in ist kann man mein mich
mir mit nach nicht noch oder schon sein sich sie sind so um und uns unser von vor war waren was
welche welchen welcher welches wann warum wem wen wer wie wir wird wo wurde zu zum zur über
"""
_FRENCH = """
à au aux avec ce ces cette dans de des du elle en est et eu il ils je la le les leur lui ma mais
me mes moi mon ne nous on ou où par pas pour quand que quel quelle quels qui quoi sa se ses son
sont sur ta te tes toi ton tu un une vos votre vous y été était comment pourquoi d l j qu c n
"""
_SPANISH = """
a al como con cuando cuál cuándo cómo de del dónde el ella en era es esta este está fue ha han
hay la las le lo los me mi mis no nos o para pero por qué que quién se ser si sin sobre son su sus
te tu tus un una y ya
"""
_RUSSIAN = """
а без бы был была были было быть в вам вас вы где да для до его ее её если есть ещё же за и из или
им их к как какая какие какой когда кто ли мне мой моя мы на над нас не него нее нет ни но о об он
она они от по под почему при с со так там то ты у уже чем что чтобы это я
"""

_FILLERS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_RUSSIAN}".split())


def is_filler(word: str) -> bool:
    """Say whether a word says next to nothing about what is looked for."""
    return word.lower() in _FILLERS
