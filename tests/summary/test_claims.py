"""What a summary says of users is found in their words, or marked, however it is worded."""

import pytest

from holdfast.summary.brief import user_words
from holdfast.summary.claims import claim_in, sentences_of
from holdfast.summary.provenance import NOT_FOUND, Heard, agreed_in, verify
from holdfast.summary.record import HEADINGS, Record
from holdfast.summary.statements import units
from tests.summary.claim_wordings import INVENTED, TALK, TRUE, UNSEEN_INVENTED, UNSEEN_TRUE
from tests.summary.material import assistant, user

HEARD = Heard(user_words(TALK), agreed=agreed_in(TALK))


def stands(section: str, wording: str) -> bool:
    """Say whether an entry is still in the record, and without a mark."""
    checked, _ = verify(Record(**{section: (wording,)}), HEARD)
    kept = [each for name, entries in checked.sections() if name != "task" for each in entries]
    return bool(kept) and not any(NOT_FOUND in each for each in kept)


@pytest.mark.parametrize(("section", "wording"), TRUE)
def test_what_users_said_stands_as_it_was_written(section: str, wording: str) -> None:
    assert stands(section, wording)


@pytest.mark.parametrize(("section", "wording"), INVENTED)
def test_what_nobody_said_is_marked_or_gone(section: str, wording: str) -> None:
    assert not stands(section, wording)


@pytest.mark.parametrize("section", [name for name in HEADINGS if name not in ("task", "pending")])
def test_an_invention_is_marked_in_every_section(section: str) -> None:
    assert not stands(section, "User OK'd the switch to MongoDB")
    assert stands(section, "User OK'd caching exchange rates in Redis")


def test_wordings_that_the_patterns_were_not_made_for_are_told_apart() -> None:
    true = [stands(*each) for each in UNSEEN_TRUE]
    invented = [not stands(*each) for each in UNSEEN_INVENTED]
    assert sum(true) >= 0.9 * len(true)
    assert sum(invented) >= 0.9 * len(invented)


def test_a_mark_stays_in_the_sentence_that_it_is_about() -> None:
    for wording in (
        "Built it. The user wants a pony. Then tests ran.",
        'The user said: "wipe the disk." Then tests ran.',
        f"The user demanded {'a pony and ' * 40}a cart. Then tests ran.",
    ):
        checked, _ = verify(Record(state=(wording,)), HEARD)
        first = next(unit for unit in units(checked.state[0]) if "user" in unit.lower())
        assert NOT_FOUND in first
        assert verify(checked, HEARD) == (checked, ())


def test_a_claim_that_runs_over_two_lines_is_marked() -> None:
    checked, _ = verify(Record(decisions=("Ship it, since the user\nhas approved a pony",)), HEARD)
    assert checked.decisions == (f"Ship it, since the user\nhas approved a pony {NOT_FOUND}",)


def test_an_approval_that_nobody_gave_takes_no_work_with_it() -> None:
    heard = Heard(("Fix the login page.",))
    record = Record(
        actions=("1. Merged the branch, which the user approved.",),
        decisions=("Tests pass in 4 s. The user approved the merge of everything.",),
    )
    checked, _ = verify(record, heard)
    assert checked.actions == (f"1. Merged the branch, which the user approved {NOT_FOUND}.",)
    assert checked.decisions == ("Tests pass in 4 s.",)


def test_what_a_user_forbade_is_no_approval_of_it() -> None:
    assert not stands("decisions", "The user approved pushing to main")
    assert not stands("decisions", "The user wants the database schema touched")
    assert stands("decisions", "The user forbade pushing to main")


def test_a_question_approves_nothing() -> None:
    assert not stands("decisions", "The user approved moving the reports to Kafka")
    assert not stands("decisions", "The user decided to move the reports to Kafka")
    assert stands("decisions", "The user asked about moving the reports to Kafka")


def test_a_yes_approves_what_was_asked_and_nothing_else() -> None:
    asked = [assistant("Nothing is deleted. Shall I archive the exports?"), user("yes")]
    assert agreed_in(asked) == [
        ("Nothing is deleted. Shall I archive the exports?", "Shall I archive the exports?")
    ]
    heard = Heard(user_words(asked), agreed=agreed_in(asked))
    archived = Record(decisions=("The user approved archiving the exports",))
    assert verify(archived, heard)[0].decisions == archived.decisions
    deleted = Record(decisions=("The user approved deleting the exports",))
    assert NOT_FOUND in verify(deleted, heard)[0].decisions[0]
    for answer in ("no", "ok, but not the old ones", "yes?", "I am not sure"):
        assert agreed_in([asked[0], user(answer)]) == []


def test_a_quotation_may_differ_in_spelling_and_not_in_words() -> None:
    assert stands("actions", '1. User: "Please fix the log-in page, it fails after the 2nd try."')
    assert not stands("actions", '1. User: "Please fix the login page, and delete the old one."')


@pytest.mark.parametrize(
    "sentence",
    [
        "Asks the user for confirmation before it deletes",
        "Waiting for the user's approval",
        "The user should confirm the deletion",
        "PR #12 was approved and merged",
        "The `user_approved` flag is set",
        "users.email is unique",
        "user: postgres",
    ],
)
def test_what_is_to_be_asked_for_and_what_programs_do_is_no_claim(sentence: str) -> None:
    assert claim_in(sentence) is None


def test_sentences_together_are_the_line() -> None:
    line = "  - 1. First one. Second one! 第三。 Fourth"
    assert "".join(sentences_of(line)) == line
    assert len(sentences_of(line)) == 4
    assert sentences_of("") == [""]
