"""Lasting words: what users said of themselves, of names and of rules, carried on."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.lasting import lasting_words, own_words
from holdfast.transcript import Message, Role, Text

TALK = tuple(f"The boats of day {number} can leave now." for number in range(20))


def user(words: str) -> Message:
    return Message(Role.USER, (Text(words),))


def assistant(words: str) -> Message:
    return Message(Role.ASSISTANT, (Text(words),))


def found(*messages: Message, carried: tuple[str, ...] = TALK) -> list[str]:
    """Return what lasts of the messages, as if they came late in a conversation."""
    return [each.words for each in lasting_words((), carried, messages)][len(carried) :]


def test_a_statement_lasts_and_the_talk_around_it_does_not() -> None:
    words = (
        "The rain has stopped at last, and everybody is glad of it. Never open the vents in a"
        " storm. What would you check first? I wonder about the lamp. It was dark again."
    )
    assert found(user(words)) == ["Never open the vents in a storm."]


def test_a_short_message_of_statements_is_quoted_whole() -> None:
    words = "I'm Ada Quist. The code is in ~/work/mill. Run it by hand."
    assert found(user(words)) == [words]


def test_an_abbreviation_and_a_day_do_not_end_a_sentence() -> None:
    words = (
        "Es regnet. Wir warten. Die Prüferin ist Frau Dr. Edda Brinkmann. Es wird spät."
        " Der Umzug ist am 14. März 2027. Das war es. Mehr ist da leider gar nicht zu sagen. "
        + "Danach gehen wir alle nach Hause. "
        * 6
    )
    assert found(user(words)) == [
        "Die Prüferin ist Frau Dr. Edda Brinkmann.",
        "Der Umzug ist am 14. März 2027.",
    ]


def test_only_what_users_said_lasts() -> None:
    assert found(assistant("Never open the vents. My name is Ada Quist.")) == []


def test_every_brief_statement_lasts_while_a_conversation_opens() -> None:
    messages = (user("We are on the third floor."), user("Where is the lamp?"), user("thanks!"))
    assert found(*messages, carried=()) == ["We are on the third floor."]
    assert found(*messages) == []


def test_what_opened_a_conversation_has_the_stronger_claim_in_every_later_one() -> None:
    first, *_, last = lasting_words((), TALK, [user(TALK[0]), user("We open at 6:30.")])
    assert (first.words, last.words) == (TALK[0], "We open at 6:30.")
    assert first.strength > last.strength


def test_a_confirmed_statement_lasts_with_a_note_of_who_made_it() -> None:
    stated = assistant("I see. The queue is called parcels_inbound.")
    (kept,) = found(stated, user("Yes, exactly."))
    assert kept == (
        "Yes, exactly.\n(said after the assistant wrote: The queue is called parcels_inbound.)"
    )
    assert own_words(kept) == "Yes, exactly."
    assert found(carried=(*TALK, kept)) == []


def test_a_yes_to_a_question_or_a_proposal_does_not_last() -> None:
    for asked in (
        "The queue is called parcels_inbound. Shall I delete it?",
        "I will drop the table parcels_inbound.",
        "Let me push to release_candidate.",
    ):
        assert found(assistant(asked), user("Yes.")) == []


def test_names_in_what_was_pasted_are_no_statements() -> None:
    log = "\n".join(f"at step_{number} in /srv/mill/part_{number}.py" for number in range(200))
    assert found(user(log)) == []
    assert found(user(f"{log}\nNever run this on a Friday.")) == ["Never run this on a Friday."]


@given(st.lists(st.text(min_size=1)), st.lists(st.text()))
def test_what_was_carried_is_carried_on_word_for_word(carried: list[str], said: list[str]) -> None:
    kept = lasting_words((), carried, [user(words) for words in said])
    assert [each.words for each in kept][: len(carried)] == carried


@given(st.lists(st.text(alphabet="aA1 .,?/\n", min_size=1)))
def test_every_word_that_lasts_was_said(said: list[str]) -> None:
    spoken = " ".join(said).split()
    for each in lasting_words((), (), [user(words) for words in said]):
        assert set(each.words.split()) <= set(spoken)
