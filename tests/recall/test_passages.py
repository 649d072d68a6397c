"""The pieces of messages that answer a query are chosen by rare words, closeness and speaker."""

from holdfast.recall import parse
from holdfast.recall.passages import MessagePiece, Source, best_pieces, ends_meant, pieced

PADDING = "Nothing of interest happened here and the day went on as days do. " * 30


def texts(sources: list[Source], query: str) -> list[str]:
    found = best_pieces(sources, parse(query))
    return [sources[each.source].text[each.start : each.end].strip() for each in found]


def said(*messages: str, weight: float = 1.0) -> list[Source]:
    return [
        Source(session="s", position=10 * place, text=text, weight=weight)
        for place, text in enumerate(messages)
    ]


def test_a_long_message_is_cut_around_what_matched() -> None:
    text = f"{PADDING}\n\nThe billing service listens on port 8443.\n\n{PADDING}"
    first = texts(said(text), "billing port")[0]
    assert "The billing service listens on port 8443." in first
    assert len(first) < 900


def test_pieces_end_at_lines_or_sentences() -> None:
    text = f"{PADDING}The zebra is striped. {PADDING}\n{PADDING}"
    for piece in texts(said(text), "zebra striped"):
        assert piece.startswith(("Nothing", "The zebra"))
        assert piece.endswith(".")


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    common = [f"the deploy number {each} went well" for each in range(20)]
    assert texts(said(*common, "the zebra went away"), "zebra deploy")[0] == "the zebra went away"


def test_words_close_together_count_more_than_scattered_ones() -> None:
    scattered = f"The port was fine. {PADDING[:300]} Later we spoke of billing."
    close = f"The billing port was fine. {PADDING[:300]} Later we spoke of lunch."
    assert texts(said(scattered, close), "billing port")[0].startswith("The billing port")


def test_what_a_person_said_comes_before_what_a_tool_printed() -> None:
    sources = [*said("port 8443 is used by billing", weight=0.6), *said("billing has port 8443")]
    assert texts(sources, "billing port")[0] == "billing has port 8443"


def test_what_repeats_a_better_piece_is_left_out() -> None:
    text = "the zebra has stripes on its back and legs and neck and head and eats dry grass all day"
    other = "a zebra was seen"
    assert sorted(texts(said(text, f"{text} long", other), "zebra")) == sorted(
        [texts(said(text, f"{text} long"), "zebra")[0], other]
    )


def test_a_short_answer_without_the_words_is_quoted_beside_its_question() -> None:
    question = Source(session="s", position=4, text="Which database engine shall we use?")
    answer = Source(session="s", position=5, text="Postgres, please.")
    far = Source(session="s", position=50, text="Thanks.")
    assert texts([question, answer, far], "database engine") == [question.text, answer.text]


def test_any_script_is_found() -> None:
    assert texts(said("我们决定使用数据库", "别的事情"), "数据库") == ["我们决定使用数据库"]


def test_an_ellipsis_stands_for_what_is_left_out() -> None:
    text = "one\ntwo\nthree\nfour"
    assert pieced(text, [MessagePiece(0, 8, 14)]) == "… three …"
    assert pieced(text, [MessagePiece(0, 14, 18), MessagePiece(0, 0, 4)]) == "one\n…\nfour"
    assert pieced(text, []) == ""


def test_a_question_may_be_about_the_beginning_or_the_end() -> None:
    assert ends_meant(parse("What did the user ask for first?")) == (True, False)
    assert ends_meant(parse("Quelle était la dernière demande du client ?")) == (False, True)
    assert ends_meant(parse("first last")) == (False, False)
