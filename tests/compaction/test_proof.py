"""The names of shortened outputs stay beside the newest note, within what is spare."""

from holdfast.compaction import Means
from holdfast.compaction.proof import with_evidence
from holdfast.facts import gather, rank
from holdfast.testing.builders import assistant, call, tool, user
from holdfast.tokens import Scale

NOTE = "[bash: cat src/app.py (90 lines)]"
WINDOW = (user("go"), assistant("", call("a")), tool("a", NOTE), assistant("done"))
EVIDENCE = rank(
    gather((assistant("RetryPolicy in src/billing/retry.py, --max-attempts, parse_invoice()"),))
)


class Steep:
    """Charges more for words together than apart, as sampled estimates sometimes do."""

    name = "steep"

    def count(self, text: str) -> int:
        return len(text) // 4 + 12 * text.count("\n")


def means(scale: Scale) -> Means:
    return Means(scale=scale, redact=lambda text: text)


def test_the_best_names_stand_beside_the_newest_note() -> None:
    proven = with_evidence(WINDOW, EVIDENCE, 500, means(Scale()))
    text = proven[2].results[0].text
    assert text.startswith(f"{NOTE}\n[names in the outputs")
    assert "src/billing/retry.py" in text
    assert (*proven[:2], proven[3]) == (*WINDOW[:2], WINDOW[3])


def test_what_is_spare_is_never_exceeded() -> None:
    for spare in range(0, 120, 7):
        for scale in (Scale(), Scale(Steep())):
            proven = with_evidence(WINDOW, EVIDENCE, spare, means(scale))
            assert scale.total(proven) - scale.total(WINDOW) <= max(spare, 0)


def test_without_a_note_or_without_names_nothing_is_added() -> None:
    bare = (user("go"), assistant("", call("a")), tool("a", "short"))
    assert with_evidence(bare, EVIDENCE, 500, means(Scale())) == bare
    assert with_evidence(WINDOW, (), 500, means(Scale())) == WINDOW
