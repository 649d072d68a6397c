"""Transcripts on the wire: one codec and one set of rules for each provider's dialect.

Read in this order: `body`, `fields`, `markers`, `words`, then any dialect with its rules.
Decoding keeps everything: what the vocabulary does not know rides in extras, filed under the
dialect, so that the same dialect writes it back exactly and no other one sees it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.wire import (
    anthropic,
    anthropic_rules,
    gemini,
    gemini_rules,
    openai_chat,
    openai_chat_rules,
    responses,
    responses_rules,
    sharegpt,
    sharegpt_rules,
)
from holdfast.wire.body import Body, Codec, Dialect, Strand, with_originals

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DIALECTS", "Body", "Codec", "Dialect", "Strand", "with_originals"]

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        codec.name: codec
        for codec in (
            Codec("openai", openai_chat.decode, openai_chat.encode, openai_chat_rules.validate),
            Codec("responses", responses.decode, responses.encode, responses_rules.validate),
            Codec("anthropic", anthropic.decode, anthropic.encode, anthropic_rules.validate),
            Codec("gemini", gemini.decode, gemini.encode, gemini_rules.validate),
            Codec("sharegpt", sharegpt.decode, sharegpt.encode, sharegpt_rules.validate),
        )
    }
)
"""Every dialect by its name."""
