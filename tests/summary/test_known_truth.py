"""The record that needs no model tells the truth, in three languages, fold after fold.

Sessions are generated with what is true after each step. Everything here goes through the front
door: chat messages in, the text of the summary out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.summary import Checkpoint, Record, render_checkpoint
from tests.summary import truth_rules as rules
from tests.summary.truth import EVENTS, FOLDS, PROMPT, Messages, Session, session
from tests.summary.truth_phrases import LANGUAGES
from tests.summary.truth_rules import HARMLESS, RULES, Rule, Told, View, view, words_of
from tests.summary.truth_state import Truth

WINDOW = 16_000
ROOM = 1_000
"""Half of what the record may weigh in such a window, in tokens."""
FITS = (1_000, 1_500, 2_500, 4_000, 8_000)
# Folds take a while, so every rule is tried on the same sessions; a soak has more of them.
SEEDS = settings().max_examples // 5

drawn = given(st.sampled_from(LANGUAGES), st.integers(0, SEEDS - 1))
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)


@cache
def written(language: str, seed: int) -> Session:
    return session(language, seed)


def begun(told: Session, stages: int) -> tuple[Messages, Truth, Told]:
    """Return a session up to one of its folds, as if it had never been folded."""
    parts = list(islice(told.stages(), stages))
    messages = [each for part, _ in parts for each in part]
    return [system(), *messages], parts[-1][1], told_in(told, messages)


def system() -> dict[str, object]:
    return {"role": "system", "content": PROMPT}


def told_in(told: Session, messages: Messages) -> Told:
    source = "\n".join(map(words_of, messages))
    said = [each["content"] for each in messages if each["role"] == "user"]
    return Told(source, said[-1], told.phrases)


@cache
def folded_once(language: str, seed: int) -> tuple[Truth, View]:
    messages, truth, told = begun(written(language, seed), 1 + seed % FOLDS)
    result = holdfast.compress(messages, context_length=WINDOW, force=True)
    return truth, view(result, told)


def folds(told: Session) -> Iterator[tuple[Truth, View]]:
    """Fold a session again and again while it goes on, and yield each window."""
    live: Messages = [system()]
    said: Messages = []
    for messages, truth in told.stages():
        said += messages
        result = holdfast.compress([*live, *messages], context_length=WINDOW, force=True)
        live = result.messages
        yield truth, view(result, told_in(told, said))


@cache
def folded_ten_times(language: str, seed: int) -> tuple[tuple[Truth, View], ...]:
    return tuple(folds(written(language, seed)))


@cache
def fitted(language: str, seed: int) -> tuple[Truth, View] | None:
    """Return a session in a fixed number of tokens; None where they hold no summary."""
    messages, truth, told = begun(written(language, seed), 1 + seed % FOLDS)
    result = holdfast.compress(messages, fit=FITS[seed % len(FITS)])
    seen = any(each.summary for each in result.outcome.transcript)
    return (truth, view(result, told)) if seen else None


def assert_kept(breaches: Iterable[str]) -> None:
    found = list(breaches)
    assert not found, "\n".join([f"{len(found)} breaches", *found[:8]])


@each_rule
@drawn
def test_one_fold_keeps_the_rule(rule: Rule, language: str, seed: int) -> None:
    assert_kept(rule(*folded_once(language, seed)))


@each_rule
@drawn
@example("English", 21)  # a later edit changes what an entry of the record before tells
def test_ten_folds_in_a_row_keep_the_rule(rule: Rule, language: str, seed: int) -> None:
    windows = folded_ten_times(language, seed)
    assert len(windows) == FOLDS
    assert_kept(
        f"fold {place}: {breach}"
        for place, window in enumerate(windows, 1)
        for breach in rule(*window)
    )


@pytest.mark.parametrize("rule", HARMLESS, ids=lambda rule: rule.__name__)
@drawn
def test_a_record_that_is_short_of_room_is_not_wrong(rule: Rule, language: str, seed: int) -> None:
    window = fitted(language, seed)
    assert_kept(rule(*window) if window else ())


OF_EVENT: dict[str, tuple[Rule, ...]] = {
    "finished": (rules.nothing_finished_is_told_as_open, rules.answers_belong_to_their_questions),
    "deferred": (rules.everything_open_is_told, rules.nothing_open_is_told_as_finished),
    "lingering": (rules.everything_open_is_told, rules.nothing_open_is_told_as_finished),
    "dropped": (rules.nothing_finished_is_told_as_open,),
    "reopened": (rules.everything_open_is_told, rules.nothing_open_is_told_as_finished),
    "interrupted": (rules.everything_open_is_told, rules.nothing_open_is_told_as_finished),
    "question": (rules.everything_open_is_told, rules.answers_belong_to_their_questions),
    "bounded": (rules.revoked_rules_are_not_listed, rules.rules_that_hold_are_listed),
    "corrected": (
        *(rules.nothing_superseded_is_told_as_current, rules.values_that_hold_are_told),
        rules.the_evidence_tells_nothing_outdated,
    ),
    "aimed": (rules.the_current_goal_is_named, rules.nothing_superseded_is_told_as_current),
    "planned": (rules.everything_open_is_told, rules.nothing_open_is_told_as_finished),
    "blocked": (rules.blockers_are_told, rules.nothing_open_is_told_as_finished),
    "committed": (rules.changed_files_are_told_from_committed_ones,),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_of_one_kind_alone_is_told_as_it_is(kind: str, language: str) -> None:
    assert_kept(
        f"fold {place}, {rule.__name__}: {breach}"
        for place, window in enumerate(folds(session(language, 1, (kind,))), 1)
        for rule in OF_EVENT[kind]
        for breach in rule(*window)
    )


@drawn
def test_a_record_that_knows_the_truth_keeps_every_rule_in_little_room(
    language: str, seed: int
) -> None:
    for truth, window in folded_ten_times(language, seed):
        checkpoint = Checkpoint(record_of(truth))
        text = render_checkpoint(checkpoint)
        messages = [
            {**each, "content": (each["content"] or "").replace(window.text, text)}
            for each in window.messages
        ]
        ideal = replace(window, checkpoint=checkpoint, text=text, messages=messages)
        assert_kept(breach for rule in RULES for breach in rule(truth, ideal))
        assert holdfast.estimate_tokens(text) < ROOM


def record_of(truth: Truth) -> Record:
    """Return what a writer would say that knows what is true."""
    return Record(
        task=(truth.waiting,) if truth.waiting else (),
        goal=(truth.goal.now,) if truth.goal else (),
        constraints=tuple(each.words for each in truth.bounds if not each.revocation),
        state=(f"Not committed: {', '.join(truth.changed)}",) if truth.changed else (),
        blocked=tuple(f"{each.command}: {each.error}" for each in truth.blockers),
        resolved=tuple(f'"{each.request}" - {each.exact}' for each in truth.answers[-8:]),
        pending=tuple(each.request for each in truth.asks),
        remaining=truth.items_left(),
        critical=tuple(f"{each.topic}: {each.now}" for each in truth.facts),
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_event_happens_and_is_true_at_some_fold(language: str) -> None:
    sessions = [written(language, seed) for seed in range(SEEDS)]
    assert {kind for each in sessions for kind in each.events} == set(EVENTS)
    truths = [truth for each in sessions for _, truth in each.stages()]
    seen = [
        [truth for truth in truths if truth.waiting],
        [truth for truth in truths if not truth.waiting],
        [truth for truth in truths if truth.goal and truth.goal.past],
        [truth for truth in truths if any(not ask.returned for ask in truth.asks[:-1])],
        [truth for truth in truths if any(ask.returned for ask in truth.asks[:-1])],
        [truth for truth in truths if truth.dropping],
        [truth for truth in truths if any(each.exact.startswith("/") for each in truth.answers)],
        [truth for truth in truths if any(fact.past for fact in truth.facts)],
        [truth for truth in truths if any(bound.revocation for bound in truth.bounds)],
        [truth for truth in truths if any(not bound.revocation for bound in truth.bounds)],
        [truth for truth in truths if truth.items_left() and len(truth.items_left()) < 4],
        [truth for truth in truths if truth.blockers],
        [truth for truth in truths if any("gauge" in words for words in truth.closed)],
        [truth for truth in truths if truth.changed and truth.commits],
    ]
    assert min(map(len, seen)) >= 5


@drawn
def test_events_are_folded_and_not_left_in_the_window(language: str, seed: int) -> None:
    (_, first), *_, (_, last) = folded_ten_times(language, seed)
    said = set(last.told.source.split("\n"))
    left = {line for words in last.beside for line in words.split("\n")}
    assert len(said & left) < len(said) / 3
    assert len(first.messages) < first.told.source.count("\n")
    assert sum(each["content"] == PROMPT for each in last.messages) == 0


def test_a_small_fit_has_a_summary_nearly_always() -> None:
    windows = [fitted(language, seed) for language in LANGUAGES for seed in range(SEEDS)]
    assert len(list(filter(None, windows))) > len(windows) * 0.9


def test_a_seed_is_a_session() -> None:
    assert session("German", 3) == session("German", 3)
    assert session("German", 3) != session("German", 4)
