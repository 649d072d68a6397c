"""Join the passes into the one seam through which all derived text goes, alone or many at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError
from holdfast.keywords import check_text, names_checked
from holdfast.redaction.assignments import environment_pass, field_pass, find_flags, flag_pass
from holdfast.redaction.contacts import mention_pass, phone_field_pass, phone_pass
from holdfast.redaction.file_formats import (
    command_pass,
    crypt_pass,
    dsn_pass,
    image_pass,
    key_file_pass,
    manifest_pass,
)
from holdfast.redaction.http import (
    authorization_pass,
    bearer_pass,
    cookie_pass,
    find_addresses,
    login_pass,
    parameter_pass,
    signature_pass,
    user_flag_pass,
    webhook_pass,
)
from holdfast.redaction.sites import Site, find_sites
from holdfast.redaction.spans import Masked, SecretSpan, TextViews, mask_spans, survey
from holdfast.redaction.tokens import jwt_pass, private_key_pass, short_token_pass, vendor_pass
from holdfast.redaction.user_patterns import Regexp, compiled, user_pattern_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.redaction.assignments import CommandFlag

_BY_SHAPE: tuple[Callable[[TextViews], list[SecretSpan]], ...] = (
    vendor_pass,
    short_token_pass,
    jwt_pass,
    private_key_pass,
    crypt_pass,
    image_pass,
    dsn_pass,
    signature_pass,
    bearer_pass,
    mention_pass,
    phone_pass,
)
_BY_ADDRESS: tuple[Callable[[TextViews, Sequence[int]], list[SecretSpan]], ...] = (
    login_pass,
    webhook_pass,
)
_BY_FLAG: tuple[Callable[[TextViews, Sequence[CommandFlag]], list[SecretSpan]], ...] = (
    flag_pass,
    user_flag_pass,
)
_BY_NAME: tuple[Callable[[TextViews, Sequence[Site]], list[SecretSpan]], ...] = (
    authorization_pass,
    cookie_pass,
    parameter_pass,
    phone_field_pass,
    key_file_pass,
    manifest_pass,
    command_pass,
)
_NOISY: tuple[Callable[[TextViews, Sequence[Site]], list[SecretSpan]], ...] = (
    environment_pass,
    field_pass,
)
_ROUNDS = 12
_GAP = "\n\n\n"
_REACH = 512
_LONGEST_MASK = len("abcd...wxyz")
"""A longer one stands for a key block."""
_MARK = "\x1e"
# Blank lines end every value that a name announces, and the brackets end the lines of a key.
_SEPARATOR = f"\n\n[{_MARK}]\n\n"
_TOGETHER = 200_000
"""Characters that are joined at most."""


@names_checked
@dataclass(frozen=True, slots=True)
class Redactor:
    """The built-in passes and the user's own patterns, checked when this is made.

    Raises:
        ConfigError: A pattern is not valid, can take very long, or matches nothing at all.
    """

    extra_patterns: Sequence[str] = ()
    _compiled: tuple[Regexp, ...] = field(init=False, repr=False, compare=False)

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
        check_text("text", text)
        for _ in range(_ROUNDS):
            spans = self._spans(text, code_file=code_file)
            if not spans:
                return text
            done = mask_spans(text, spans)
            text = done.text
            if not self._may_be_disturbed(done, code_file=code_file):
                return text
        return text

    def _spans(self, text: str, *, code_file: bool) -> list[SecretSpan]:
        view = survey(text)
        spans: list[SecretSpan] = []
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
        for pattern in self._compiled:
            spans.extend(user_pattern_spans(pattern, text))
        return spans

    def _may_be_disturbed(self, done: Masked, *, code_file: bool) -> bool:
        """Return whether masking may have uncovered something: it changes a mask's neighbors.

        Looking around the masks is enough, except that a key block may end far away. A find
        may be due to where the text was cut; the next round, which sees it whole, decides.
        """
        if any(stop - start > _LONGEST_MASK for start, stop in done.places):
            return True
        windows: list[tuple[int, int]] = []
        for start, stop in done.places:
            first, last = max(0, start - _REACH), min(len(done.text), stop + _REACH)
            if windows and first <= windows[-1][1]:
                windows[-1] = (windows[-1][0], last)
            else:
                windows.append((first, last))
        joined = _GAP.join(done.text[first:last] for first, last in windows)
        return bool(self._spans(joined, code_file=code_file))


@names_checked
def redact(text: str, *, code_file: bool = False) -> str:
    """Return the text with its secrets masked by the built-in passes."""
    return _DEFAULT.redact(text, code_file=code_file)


_DEFAULT = Redactor()


def redact_all(texts: Iterable[str], redact: Callable[[str], str]) -> list[str]:
    """Return the texts redacted, as if each had been redacted alone.

    Where something was found across two texts, or a text holds the mark that parts them, each of
    them is redacted on its own.
    """
    found: list[str] = []
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > _TOGETHER:
            found += _redacted(batch, redact)
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    return [*found, *_redacted(batch, redact)]


def redacting(texts: Iterable[str], redact: Callable[[str], str]) -> Callable[[str], str]:
    """Return a redaction that has the answer for these texts already."""
    ahead = list(dict.fromkeys(texts))
    known = dict(zip(ahead, redact_all(ahead, redact), strict=True))
    return lambda text: known[text] if text in known else redact(text)


def _redacted(batch: Sequence[str], redact: Callable[[str], str]) -> Sequence[str]:
    joined = _SEPARATOR.join(batch)
    if joined.count(_MARK) == len(batch) - 1:
        masked = redact(joined)
        if masked == joined:
            return batch
        parted = masked.split(_SEPARATOR)
        if len(parted) == len(batch):
            # What nothing was masked in stays the same object, which others know already.
            return [
                text if text == shown else shown for text, shown in zip(batch, parted, strict=True)
            ]
    return [redact(text) for text in batch]
