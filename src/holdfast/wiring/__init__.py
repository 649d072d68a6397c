"""Joins the parts: the one package that knows which concrete class stands behind each port.

Read in this order: `summarizers`, `compressor`, `configured`.
"""

from holdfast.wiring.compressor import Compressor, Knobs, compress, estimate_tokens
from holdfast.wiring.configured import counter_of, engine_of, policy_of
from holdfast.wiring.summarizers import Endpoint, summarizer_of

__all__ = [
    "Compressor",
    "Endpoint",
    "Knobs",
    "compress",
    "counter_of",
    "engine_of",
    "estimate_tokens",
    "policy_of",
    "summarizer_of",
]
