"""Breaks a stream of words into lines that fit the terminal, without knowing what comes next."""

from __future__ import annotations

from holdfast.views.words import cells

__all__ = ["Flow"]

_FENCE = "```"
_WIDE = 2


class Flow:
    """Lines of at most so many columns; code and other lines that are laid out stay as they are.

    A word is held back until it ends, which is never longer than a line. A word that is longer
    than a line is left to the terminal.
    """

    def __init__(self, width: int) -> None:
        """Begin at the start of a line."""
        self._width = width
        self._column = 0
        self._space = ""
        self._word = ""
        self._is_code = False
        self._is_laid_out = False

    def push(self, text: str) -> str:
        """Take in more of the text, and return what can be shown of it."""
        return "".join(map(self._taken, text))

    def finish(self) -> str:
        """Return what was held back, at the end of the text."""
        return self._flushed()

    def _taken(self, sign: str) -> str:
        if sign == "\n":
            shown = self._flushed()
            self._column, self._space, self._is_laid_out = 0, "", False
            return shown + sign
        if self._is_laid_out:
            return sign
        if sign.isspace():
            # Whoever indents a line has laid it out.
            self._is_laid_out = self._is_code or not (self._column or self._word)
            shown = self._flushed()
            self._space += "" if self._is_laid_out else sign
            return shown + (sign if self._is_laid_out else "")
        is_wide = cells(sign) == _WIDE
        shown = self._flushed() if is_wide else ""
        self._word += sign
        if is_wide or self._begins_code() or cells(self._word) >= self._width:
            shown += self._flushed()
        return shown

    def _begins_code(self) -> bool:
        """Decide about a line of code, or about its fence, as soon as its first word shows it."""
        if self._column:
            return False
        if self._word == _FENCE:
            self._is_code = not self._is_code
            self._is_laid_out = True
        elif self._is_code and not _FENCE.startswith(self._word):
            self._is_laid_out = True
        return self._is_laid_out

    def _flushed(self) -> str:
        """Return the word that was held back, on a line where it fits."""
        word, space = self._word, self._space
        if not word:
            return ""
        self._word = self._space = ""
        needed = self._column + cells(space) + cells(word)
        # The rest of a long word is no word: an address stays in one piece.
        may_break = bool(space) or cells(word[0]) == _WIDE
        if may_break and self._column and needed > self._width and not self._is_laid_out:
            self._column = cells(word)
            return f"\n{word}"
        self._column = needed
        return space + word
