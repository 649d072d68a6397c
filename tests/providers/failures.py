"""What can go wrong on the wire and which error it must become, the same for every SDK."""

from dataclasses import dataclass

from holdfast.errors import (
    SummarizerDenied,
    SummarizerError,
    SummarizerMisread,
    SummarizerMissing,
    SummarizerUnavailable,
)
from tests.providers.provider import Reply, error


@dataclass(frozen=True)
class Case:
    reply: Reply
    error: type[SummarizerError]
    says: str
    retry_after: float | None = None


LONG = '{"id": "' + "x" * 5_000 + '"}'

CASES = {
    "401": Case(error(401, "bad key"), SummarizerDenied, "HTTP 401: bad key"),
    "403": Case(error(403, "not yours"), SummarizerDenied, "HTTP 403: not yours"),
    "404": Case(error(404, "no model m"), SummarizerMissing, "HTTP 404: no model m"),
    "400 about the model": Case(
        error(400, "The model `m` does not exist"), SummarizerMissing, "does not exist"
    ),
    "400": Case(error(400, "odd request"), SummarizerError, "HTTP 400: odd request"),
    "408": Case(error(408, "too slow"), SummarizerUnavailable, "HTTP 408"),
    "429": Case(error(429, "slow down"), SummarizerUnavailable, "HTTP 429: slow down"),
    "429 with seconds": Case(
        error(429, "slow down", retry_after="77"), SummarizerUnavailable, "HTTP 429", 77.0
    ),
    "429 with milliseconds": Case(
        error(429, "slow down", retry_after_ms="1500"), SummarizerUnavailable, "HTTP 429", 1.5
    ),
    "500": Case(error(500, "oops"), SummarizerUnavailable, "HTTP 500: oops"),
    "502 in HTML": Case(
        Reply(502, "<html>bad gateway", {"content-type": "text/html"}),
        SummarizerUnavailable,
        "HTTP 502",
    ),
    "503 with seconds": Case(
        error(503, "busy", retry_after="9"), SummarizerUnavailable, "HTTP 503: busy", 9.0
    ),
    "529": Case(error(529, "overloaded"), SummarizerUnavailable, "HTTP 529: overloaded"),
    "garbage": Case(Reply(body="{nope"), SummarizerMisread, "not JSON"),
    "no body": Case(Reply(), SummarizerMisread, "not JSON"),
    "not UTF-8": Case(Reply(body='{"a": "\udcff"}'), SummarizerMisread, "not JSON"),
    "closed early": Case(Reply(body=LONG, cut=40), SummarizerMisread, "cut off"),
    "a page": Case(
        Reply(body="<html>", headers={"content-type": "text/html"}), SummarizerMisread, "has no"
    ),
    "a list": Case(Reply(body="[1]"), SummarizerMisread, "has no"),
    "an error in a 200": Case(
        Reply(body='{"error": {"message": "boo"}}'), SummarizerMisread, "has no"
    ),
}
