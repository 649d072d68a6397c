"""Transcripts on the wire: one codec and one set of rules for each provider's dialect.

Read in this order: `common`, `markers`, `message_text`, then any dialect.
Decoding keeps everything: what the vocabulary does not know rides in extras, filed under the
dialect, so that the same dialect writes it back exactly and no other one sees it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.wire import anthropic, gemini, openai_chat, responses, sharegpt
from holdfast.wire.common import Body, Codec, Dialect, SharedPrefix, with_originals
from holdfast.wire.provenance import without_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DIALECTS", "Body", "Codec", "Dialect", "SharedPrefix", "with_originals"]

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        name: Codec(name, without_labels(name, codec.decode), codec.encode, codec.validate)
        for name, codec in (
            ("openai", openai_chat),
            ("responses", responses),
            ("anthropic", anthropic),
            ("gemini", gemini),
            ("sharegpt", sharegpt),
        )
    }
)
"""Every dialect by its name."""
