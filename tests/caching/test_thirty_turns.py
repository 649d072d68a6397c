"""A whole session: prefixes only grow between compactions, and the books agree on every call."""

import pytest

from holdfast.caching import Automatic, Changed, Marked, Support, Why
from tests.caching.requests import MINUTE, Step, books, plain, session

RULES: dict[str, tuple[str, Support]] = {
    "anthropic": ("anthropic", Marked()),
    "anthropic, 4,096 at least": ("anthropic", Marked(minimum=4_096)),
    "openai, markers": ("openai", Marked(native=False)),
    "openai, automatic": ("openai", Automatic()),
}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Step]]:
    folder = tmp_path_factory.mktemp("sessions")
    return {
        dialect: list(session(folder / f"{dialect}.db", dialect))
        for dialect in ("openai", "anthropic")
    }


@pytest.mark.parametrize(("dialect", "support"), RULES.values(), ids=RULES)
def test_every_request_extends_the_one_before_but_right_after_a_compaction(
    dialect: str, support: Support, sessions: dict[str, list[Step]]
) -> None:
    steps = sessions[dialect]
    texts = [plain(step.sent(dialect, support)) for step in steps]
    broken = [
        number for number in range(1, len(texts)) if not texts[number].startswith(texts[number - 1])
    ]
    assert len(texts) == 90
    assert broken == [number for number, step in enumerate(steps) if step.compacted]
    assert 2 <= len(broken) <= 15


@pytest.mark.parametrize(("dialect", "support"), RULES.values(), ids=RULES)
def test_what_is_expected_is_what_a_provider_reports_on_every_call(
    dialect: str, support: Support, sessions: dict[str, list[Step]]
) -> None:
    kept = books(support)
    at, expected, came, reasons = 0, list[object](), list[object](), list[object]()
    for number, step in enumerate(sessions[dialect]):
        at += 7 * MINUTE if number % 20 == 19 else MINUTE // 2
        figures = kept.send(step.sent(dialect, support), at)
        expected.append(figures[0])
        came.append(figures[1])
        last = kept.accountant.tally.last
        assert last is not None
        assert isinstance(last.expected.link, Changed) == step.compacted
        if isinstance(last.expected.link, Changed):
            reasons.append(last.expected.link.why)
    assert expected == came
    assert set(reasons) == {Why.COMPACTION}
    assert kept.accountant.tally.hit_ratio > 0.5


def test_the_system_prompt_is_still_read_after_a_compaction(
    sessions: dict[str, list[Step]],
) -> None:
    support = Marked()
    kept = books(support)
    reads: list[int] = []
    for number, step in enumerate(sessions["anthropic"]):
        figures, _ = kept.send(step.sent("anthropic", support), number * MINUTE)
        if step.compacted:
            reads.append(figures[0])
    assert len(reads) >= 2
    assert min(reads) > 1_200
