"""What can go wrong between a conversation and its model, the same for every SDK."""

from dataclasses import dataclass

from holdfast.errors import (
    ModelDenied,
    ModelError,
    ModelMissing,
    ModelOverflow,
    ModelUnavailable,
)
from tests.providers.provider import Reply, error


@dataclass(frozen=True)
class Case:
    reply: Reply
    error: type[ModelError]
    says: str
    retry_after: float | None = None


LLAMA = (
    '{"error": {"code": 400, "message": "request (15306 tokens) exceeds the available context '
    'size (8192 tokens), try increasing it", "type": "exceed_context_size_error", '
    '"n_prompt_tokens": 15306, "n_ctx": 8192}}'
)

CASES = {
    "401": Case(error(401, "bad key"), ModelDenied, "check the key in HOLDFAST_API_KEY"),
    "403": Case(error(403, "not yours"), ModelDenied, "HTTP 403: not yours"),
    "404": Case(error(404, "no model m"), ModelMissing, "HTTP 404: no model m"),
    "400 about the model": Case(
        error(400, "The model `m` does not exist"), ModelMissing, "does not exist"
    ),
    "400": Case(error(400, "odd request"), ModelError, "HTTP 400: odd request"),
    "400 for its length": Case(
        error(400, "This model's maximum context length is 8192 tokens."),
        ModelOverflow,
        "maximum context length is 8192 tokens",
    ),
    "400 for a long prompt": Case(
        error(400, "prompt is too long: 212000 tokens > 200000 maximum"),
        ModelOverflow,
        "> 200000 maximum",
    ),
    "400 of llama.cpp": Case(Reply(400, LLAMA), ModelOverflow, "context size (8192 tokens)"),
    "413": Case(error(413, "Request too large"), ModelOverflow, "HTTP 413: Request too large"),
    "408": Case(error(408, "too slow"), ModelUnavailable, "HTTP 408"),
    "429": Case(error(429, "slow down"), ModelUnavailable, "HTTP 429: slow down"),
    "429 with seconds": Case(
        error(429, "slow down", retry_after="77"), ModelUnavailable, "HTTP 429", 77.0
    ),
    "500": Case(error(500, "oops"), ModelUnavailable, "HTTP 500: oops"),
    "502 in HTML": Case(
        Reply(502, "<html>bad gateway", {"content-type": "text/html"}),
        ModelUnavailable,
        "HTTP 502",
    ),
    "529": Case(error(529, "overloaded"), ModelUnavailable, "HTTP 529: overloaded"),
    "no stream": Case(Reply(body='{"a": 1}'), ModelUnavailable, "ended in the middle"),
    "nothing": Case(Reply(), ModelUnavailable, "ended in the middle"),
    "no JSON": Case(
        Reply(body="event: message_start\ndata: {nope\n\n"), ModelUnavailable, "not JSON"
    ),
}
