"""Tell from the name of a variable, field, header or flag what kind of secret it holds.

The last word decides: `token_count` counts and `key_file` is a path, but `GITHUB_TOKEN` and
`clientSecret` hold secrets. `key` alone says nothing; it needs a word that makes it one.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

__all__ = ["Kind", "kind_of"]


class Kind(Enum):
    """What a name promises about its value."""

    NOTHING = "nothing"
    PASSWORD = "password"
    SECRET = "secret"
    TOKEN = "token"
    KEY = "key"
    AUTH = "auth"
    COOKIE = "cookie"
    PHONE = "phone"


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

# Words after the one that decides: `API_KEY_PROD`, `password2`, `SECRET_KEY_BASE`.
_AFTER = frozenset(
    """base b64 base64 value plain plaintext string str raw prod production dev development
    staging stage live sandbox default old new primary secondary backup main admin root db
    database github gitlab openai anthropic aws azure gcp slack stripe rw ro readonly read write
    a b v""".split(),
)
_NOT_SECRET = frozenset("public publishable csrf xsrf fake no not without has is use".split())
_TOKEN_OF_TEXT = frozenset(
    """page next prev previous continuation continue cursor sync eos bos pad unk sep cls mask
    start end stop special first last current num max min total per input output prompt
    completion cached reasoning image cancellation abort lookahead anti authenticity change
    resume pagination each this that peek any other""".split(),
)
_KEYS = frozenset(
    """api access secret private auth signing sign encryption encrypt decryption master account
    client app application service license licence storage shared ssh gpg pgp hmac webhook deploy
    deployment registration ingest ingestion write admin root server subscription functions
    function integration instrumentation bot jwt session cookie crypto aes wallet consumer
    developer prod live sandbox restricted personal security vault authentication authorization
    user rest management project org partner merchant billing payment tunnel join bootstrap
    sas connection bearer host cloud
    ibm sl softlayer iam cos cloudant okta openai anthropic stripe aws
    azure gcp google github gitlab slack twilio sendgrid mailgun mailchimp datadog dd newrelic
    relic sentry algolia airtable heroku netlify vercel cloudflare digitalocean shopify square
    postman doppler grafana fastly dynatrace linear notion figma discord telegram huggingface hf
    cohere mistral groq gemini replicate pinecone langsmith deepseek openrouter perplexity tavily
    serper elevenlabs deepgram asana jira confluence atlassian bitbucket npm pypi nuget rubygems
    docker dockerhub artifactory jfrog snyk sonar codecov circleci travis buildkite sumo sumologic
    splunk launchdarkly contentful mapbox maps plaid coinbase binance kraken infura alchemy
    etherscan meraki adafruit beamer clojars finicity freshbooks rapidapi intercom zendesk hubspot
    mailjet messagebird nexmo vonage plivo pusher pubnub supabase firebase""".split(),
)
_ENDINGS: tuple[tuple[str, Kind], ...] = (
    ("password", Kind.PASSWORD),
    ("passwd", Kind.PASSWORD),
    ("passphrase", Kind.PASSWORD),
    ("passcode", Kind.PASSWORD),
    ("pwd", Kind.PASSWORD),
    ("secret", Kind.SECRET),
    ("authtoken", Kind.TOKEN),
    ("token", Kind.TOKEN),
    ("credentials", Kind.TOKEN),
    ("credential", Kind.TOKEN),
    ("creds", Kind.TOKEN),
)
_WHOLE_WORDS = {
    "pass": Kind.PASSWORD,
    "pw": Kind.PASSWORD,
    "cred": Kind.TOKEN,
    "auth": Kind.AUTH,
    "authorization": Kind.AUTH,
    "authentication": Kind.AUTH,
    "cookie": Kind.COOKIE,
    "phone": Kind.PHONE,
    "phones": Kind.PHONE,
}


@lru_cache(maxsize=8192)
def kind_of(name: str) -> Kind:
    """Return the kind of secret that a name announces."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _AFTER):
        words.pop()
    if not words or not _NOT_SECRET.isdisjoint(words):
        return Kind.NOTHING
    last = words[-1]
    if last in {"number", "no"} and words[-2:-1] == ["phone"]:
        return Kind.PHONE
    if last in _WHOLE_WORDS:
        return _WHOLE_WORDS[last]
    if last.endswith("key"):
        return Kind.KEY if _is_secret_key(words) else Kind.NOTHING
    for ending, kind in _ENDINGS:
        if last.endswith(ending):
            is_text = kind is Kind.TOKEN and _is_token_of_text(words)
            return Kind.NOTHING if is_text else kind
    return Kind.NOTHING


def _is_secret_key(words: list[str]) -> bool:
    joined = words[-1][: -len("key")]
    if not joined:
        return len(words) > 1 and words[-2] in _KEYS
    return joined in _KEYS or any(
        joined.endswith(word) for word in ("api", "access", "secret", "private", "auth", "account")
    )


def _is_token_of_text(words: list[str]) -> bool:
    """Return whether a token is a piece of text or a place in a list, and no credential."""
    return words[-1] == "token" and len(words) > 1 and words[-2] in _TOKEN_OF_TEXT
