from pathlib import Path

import pytest

from bench.talk import run
from bench.talk.conversations import LENGTH, Conversation, Session, cut, joined
from bench.talk.measure import Score, bars, even_share, measure
from bench.talk.policies import OURS, TAIL, ranked
from bench.talk.questions import Exchange, Question, answered, masked, probed, stands
from bench.talk.words import names, sentences, stem, word_places
from bench.windows import window_text

BOAT = Question(
    "masked", frozenset({"kittiwak"}), frozenset({"bought", "boat", "cousin", "summer"})
)


def held(text: str) -> bool:
    return stands(BOAT, word_places(text))


def test_evidence_stands_with_its_answer_and_half_of_what_it_is_about() -> None:
    assert held("Last summer I bought a boat, the Kittiwake, from my cousin.")
    assert held("user bought the Kittiwake (boat)")
    assert not held("Last summer I bought a boat from my cousin.")
    assert not held("Names: Kittiwake, Harbor Street, 1984")


def test_evidence_that_is_scattered_does_not_stand() -> None:
    assert not held("Kittiwake." + " The tide was low." * 40 + " A boat was bought last summer.")


def test_words_meet_without_their_endings() -> None:
    pairs = [("boats", "boat"), ("sailed", "sail"), ("movies", "movie"), ("Anna's", "anna")]
    assert [stem(one) == stem(other) for one, other in pairs] == [True] * len(pairs)


def test_names_numbers_and_dates_are_found_after_the_first_word() -> None:
    sentence = "Today I sailed with Anna Berg to the Isle of Crows for $40, it was 12:30."
    assert names(sentence) == ["Anna Berg", "Isle of Crows", "$40", "12:30"]
    assert sentences("I sail. Do you?\n- the mast\n") == ["I sail.", "Do you?", "the mast"]


def test_the_evidence_of_an_answer_is_the_shortest_passage_that_says_it() -> None:
    turns = [
        "Boats differ a lot. Ask at a yard.",
        "For a lake, take a dinghy. The mast of a dinghy is 5.2 meters high. It is made of ash.",
    ]
    found = answered("How high is the mast of a dinghy?", "5.2 meters", turns)
    assert found == Question(
        "asked", frozenset({"5.2", "meter"}), frozenset({"high", "mast", "dinghy"})
    )


def test_an_answer_that_nobody_said_is_no_question() -> None:
    assert answered("How old will I be?", "33", ["I am 32 now.", "A fine age."]) is None


DAYS = [
    Exchange(
        "2023-04-28",
        "Is there a film about sailing?",
        "A film about sailing around the world is Maiden. Shall I find more?",
    ),
    Exchange("2023-04-30", "I cooked soup with Olaf for the whole club.", "How was it?"),
    Exchange("2023-05-01", "Today I cooked soup with Anna Berg on the pier.", "That sounds nice."),
]


def test_a_probe_leads_to_the_sentence_that_tells_what_it_asks() -> None:
    found = probed("Which film about sailing did you recommend?", DAYS)
    assert found == Question(
        "asked", frozenset({"maiden"}), frozenset({"film", "sail", "around", "world"})
    )


def test_a_probe_that_names_a_day_leads_to_that_day() -> None:
    found = probed("On May 1st, who cooked soup with me?", DAYS)
    assert found == Question(
        "asked", frozenset({"anna", "berg"}), frozenset({"today", "cook", "soup", "pier"})
    )


def test_a_probe_that_leads_nowhere_is_no_question() -> None:
    assert probed("What did we talk about?", DAYS) is None


def test_a_masked_question_holds_out_the_rarest_name_that_a_user_said_of_themselves() -> None:
    turn = (
        "I rowed from Lower Quay to the Isle of Crows with my aunt. Have I told you of Anna Berg? "
        "The Romans built harbors in 43 too."
    )
    common = {"lower": 4, "quay": 5, "isl": 2, "crow": 1}
    assert list(masked(turn, common)) == [
        Question(
            "masked", frozenset({"isl", "crow"}), frozenset({"rowed", "lower", "quay", "aunt"})
        )
    ]


def test_haystacks_are_cut_between_sessions_and_a_short_rest_is_left_out() -> None:
    sessions = [Session(str(day), (("user", "x" * (LENGTH // 4)),)) for day in range(11)]
    dates = [[session.date for session in held] for held in cut(sessions, 0)]
    later = [[session.date for session in held] for held in cut(sessions, LENGTH // 2)]
    assert dates == [["0", "1", "2", "3"], ["4", "5", "6", "7"]]
    assert later == [["2", "3", "4", "5"], ["6", "7", "8", "9"]]


@pytest.fixture
def conversation() -> Conversation:
    said = (("user", "I bought the boat Kittiwake from my cousin."), ("assistant", "Lovely!"))
    idle = (("user", "What is the weather like?"), ("assistant", "It is mild and dry. " * 20))
    return joined("Harbor", [Session("2023-04-27", said), Session("2023-04-28", idle * 20)], [])


def test_dates_stand_in_the_messages_and_not_in_the_questions(conversation: Conversation) -> None:
    first = conversation.messages[0]
    assert first["content"] == "[2023-04-27] I bought the boat Kittiwake from my cousin."
    assert conversation.questions == (
        Question("masked", frozenset({"kittiwak"}), frozenset({"bought", "boat", "cousin"})),
    )


def test_ranked_turns_keep_what_is_rare_and_drop_questions(conversation: Conversation) -> None:
    kept = ranked(conversation.messages, 500)
    assert "Kittiwake" in kept
    assert "?" not in kept
    assert len(kept) <= 500


def test_every_window_is_within_its_size(conversation: Conversation) -> None:
    scores = measure(conversation)
    assert all(score.used <= 1 for score in scores)
    tail = [score for score in scores if score.policy == TAIL and score.kind == "masked"]
    assert [(score.size, score.asked, score.stood) for score in tail] == [
        (10, 1, 0),
        (20, 1, 0),
        (45, 1, 0),
    ]
    assert "Kittiwake" in window_text(conversation.messages)


def test_kinds_of_questions_count_the_same_whatever_their_number() -> None:
    scores = [
        Score("Harbor", "asked", 10, OURS, asked=2, stood=1, used=1),
        Score("Harbor", "masked", 10, OURS, asked=800, stood=0, used=1),
    ]
    assert even_share(scores) == 0.25


def test_the_promise_is_a_multiple_of_the_plain_tail() -> None:
    scores = [
        Score("Harbor", "asked", size, policy, asked=10, stood=stood, used=1)
        for size in (10, 20, 45)
        for policy, stood in ((TAIL, 4), (OURS, 6))
    ]
    assert [(bar.measured, bar.kept) for bar in bars(scores)] == [
        ("1.50x", False),
        ("1.50x", False),
        ("1.50x", True),
    ]


def test_without_conversations_there_is_nothing_to_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SHARED", str(tmp_path))
    assert run().tables == ()
