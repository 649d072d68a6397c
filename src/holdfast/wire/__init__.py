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
from holdfast.wire.provenance import without_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DIALECTS", "Body", "Codec", "Dialect", "Strand", "with_originals"]

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        name: Codec(name, without_labels(name, codec.decode), codec.encode, rules.validate)
        for name, codec, rules in (
            ("openai", openai_chat, openai_chat_rules),
            ("responses", responses, responses_rules),
            ("anthropic", anthropic, anthropic_rules),
            ("gemini", gemini, gemini_rules),
            ("sharegpt", sharegpt, sharegpt_rules),
        )
    }
)
"""Every dialect by its name."""
