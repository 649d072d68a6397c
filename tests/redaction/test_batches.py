"""Many texts redacted at once come out as if each had been redacted alone."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction import redact
from holdfast.redaction.redactor import redact_all, redacting

KEY = "-----BEGIN PRIVATE KEY-----\n" + "MC4CAQAwBQYDK2VwBCIEIA" * 3
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
SNIPPETS = (
    f"export GITHUB_TOKEN={TOKEN}",
    f"key {TOKEN}",
    "password:",
    '"hunter2-Hunter2"',
    "db_password = 'Tr0ub4dor&3'",
    "Authorization: Bearer",
    f"{TOKEN}\n",
    "\n\n",
    KEY,
    "-----END PRIVATE KEY-----",
    "--password",
    "s3cr3t-V4lue-99",
    "plain words about nothing",
    "curl -u admin:Pa55word! https://example.org",
    "[\x1e]",
)


@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=30), max_size=8))
def test_texts_are_redacted_as_if_alone(texts: list[str]) -> None:
    assert redact_all(texts, redact) == [redact(text) for text in texts]


def test_a_text_that_holds_the_mark_is_redacted_alone() -> None:
    texts = ["a\n\n[\x1e]\n\nsecret", "secret"]
    masked = redact_all(texts, lambda text: text.replace("secret", "***"))
    assert masked == ["a\n\n[\x1e]\n\n***", "***"]


def test_what_is_found_across_two_texts_is_looked_for_in_each() -> None:
    def greedy(text: str) -> str:
        start, end = text.find("<"), text.rfind(">")
        return text if start < 0 or end < start else f"{text[:start]}***{text[end + 1 :]}"

    assert redact_all(["a <b", "c> d", "<e>"], greedy) == ["a <b", "c> d", "***"]


def test_what_nothing_is_masked_in_stays_the_same_object() -> None:
    texts = [" ".join(["plain", "words"]), "a secret"]
    plain, masked = redact_all(texts, lambda text: text.replace("secret", "***"))
    assert plain is texts[0]
    assert masked == "a ***"


def test_short_texts_share_a_pass_and_long_ones_do_not() -> None:
    passes: list[int] = []

    def noted(text: str) -> str:
        passes.append(len(text))
        return text

    texts = ["short"] * 100 + ["x" * 150_000] * 3
    assert redact_all(texts, noted) == texts
    assert len(passes) == 3


def test_answers_that_are_known_are_not_worked_out_again() -> None:
    asked: list[str] = []

    def noted(text: str) -> str:
        asked.append(text)
        return text.replace("secret", "***")

    masked = redacting(["a secret", "b"], noted)
    asked.clear()
    assert (masked("a secret"), masked("b"), masked("c secret")) == ("a ***", "b", "c ***")
    assert asked == ["c secret"]
