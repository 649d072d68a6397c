"""The demonstration says what matters before it fills its window."""

from holdfast.agent.rehearsal import DETAIL, FACTS, REHEARSAL


def test_every_fact_is_said_once_before_the_window_is_full_and_the_last_turn_is_a_task() -> None:
    for fact in (*FACTS, DETAIL):
        said = [turn for turn in REHEARSAL if all(words in turn for words in fact.words)]
        assert len(said) == 1
        assert said[0] in REHEARSAL[:6]
    assert "newest task" in REHEARSAL[-1]


def test_a_value_is_said_before_it_is_corrected() -> None:
    for fact in FACTS:
        if fact.outdated:
            first = next(at for at, said in enumerate(REHEARSAL) if fact.outdated in said)
            second = next(at for at, said in enumerate(REHEARSAL) if fact.words[0] in said)
            assert first < second
