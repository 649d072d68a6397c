"""Join the passes into the one seam through which all derived text goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError
from holdfast.redaction.assignments import environment_pass, field_pass
from holdfast.redaction.commands import find_flags, flag_pass, user_flag_pass
from holdfast.redaction.contacts import mention_pass, phone_field_pass, phone_pass
from holdfast.redaction.custom import compiled, custom_spans
from holdfast.redaction.headers import authorization_pass, bearer_pass, cookie_pass
from holdfast.redaction.pem import private_key_pass
from holdfast.redaction.sites import find_sites
from holdfast.redaction.spans import Masked, Span, mask_spans
from holdfast.redaction.survey import survey
from holdfast.redaction.tokens import jwt_pass, short_token_pass, vendor_pass
from holdfast.redaction.urls import (
    find_addresses,
    login_pass,
    parameter_pass,
    signature_pass,
    webhook_pass,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    from holdfast.redaction.commands import Flag
    from holdfast.redaction.sites import Site
    from holdfast.redaction.survey import Survey

__all__ = ["Redactor", "redact"]

_BY_SHAPE: tuple[Callable[[Survey], list[Span]], ...] = (
    vendor_pass,
    short_token_pass,
    jwt_pass,
    private_key_pass,
    signature_pass,
    bearer_pass,
    mention_pass,
    phone_pass,
)
_BY_ADDRESS: tuple[Callable[[Survey, Sequence[int]], list[Span]], ...] = (
    login_pass,
    webhook_pass,
)
_BY_FLAG: tuple[Callable[[Survey, Sequence[Flag]], list[Span]], ...] = (flag_pass, user_flag_pass)
_BY_NAME: tuple[Callable[[Survey, Sequence[Site]], list[Span]], ...] = (
    authorization_pass,
    cookie_pass,
    parameter_pass,
    phone_field_pass,
)
_NOISY: tuple[Callable[[Survey, Sequence[Site]], list[Span]], ...] = (environment_pass, field_pass)


@dataclass(frozen=True, slots=True)
class Redactor:
    """The built-in passes and the user's own patterns, checked when this is made.

    Raises:
        ConfigError: A pattern is not valid, can take very long, or matches nothing at all.
    """

    extra_patterns: Sequence[str] = ()
    _compiled: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the patterns now: a text must never be the first to find a bad one."""
        if isinstance(self.extra_patterns, str):
            raise ConfigError("redaction.extra_patterns is one text; allowed: a list of patterns")
        object.__setattr__(self, "extra_patterns", tuple(self.extra_patterns))
        object.__setattr__(self, "_compiled", tuple(map(compiled, self.extra_patterns)))

    def redact(self, text: str, *, code_file: bool = False) -> str:
        """Return the text with its secrets masked; what is no secret is unchanged.

        Redacting twice is the same as once, and the time is linear in the text. Only a user's
        pattern that looks for masks could go on without end; it is followed for a few rounds.

        Args:
            text: Anything: prose, logs, code, JSON, also JSON inside JSON.
            code_file: Whether the text is source code, where a name and a value make no
                secret; the passes that go by names of variables and fields are left out.
        """
        for _ in range(_ROUNDS):
            spans = self._spans(text, code_file=code_file)
            if not spans:
                return text
            done = mask_spans(text, spans)
            text = done.text
            if not self._may_be_disturbed(done, code_file=code_file):
                return text
        return text

    def _spans(self, text: str, *, code_file: bool) -> list[Span]:
        spans = _built_in_spans(survey(text), code_file=code_file)
        for pattern in self._compiled:
            spans.extend(custom_spans(pattern, text))
        return spans

    def _may_be_disturbed(self, done: Masked, *, code_file: bool) -> bool:
        """Return whether masking may have uncovered something: it changes a mask's neighbors.

        Looking around the masks is enough, except that a key block may end far away. A find
        may be due to where the text was cut; the next round, which sees it whole, decides.
        """
        if any(stop - start > _LONGEST_MASK for start, stop in done.places):
            return True
        joined = _GAP.join(done.text[start:stop] for start, stop in _windows(done))
        return bool(self._spans(joined, code_file=code_file))


_ROUNDS = 12
_GAP = "\n\n\n"
_REACH = 512
_LONGEST_MASK = len("abcd...wxyz")
"""A longer one stands for a key block."""


def _windows(done: Masked) -> list[tuple[int, int]]:
    windows: list[tuple[int, int]] = []
    for start, stop in done.places:
        first, last = max(0, start - _REACH), min(len(done.text), stop + _REACH)
        if windows and first <= windows[-1][1]:
            windows[-1] = (windows[-1][0], last)
        else:
            windows.append((first, last))
    return windows


def _built_in_spans(view: Survey, *, code_file: bool) -> list[Span]:
    spans: list[Span] = []
    for find in _BY_SHAPE:
        spans += find(view)
    # Most texts have nothing for the passes below, and calling them in vain would cost more
    # than the search for their anchors.
    if addresses := find_addresses(view):
        for find in _BY_ADDRESS:
            spans += find(view, addresses)
    if flags := find_flags(view):
        for find in _BY_FLAG:
            spans += find(view, flags)
    if sites := find_sites(view):
        for find in _BY_NAME if code_file else _BY_NAME + _NOISY:
            spans += find(view, sites)
    return spans


def redact(text: str, *, code_file: bool = False) -> str:
    """Return the text with its secrets masked by the built-in passes."""
    return _DEFAULT.redact(text, code_file=code_file)


_DEFAULT = Redactor()
