import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.brief import (
    SAFETY,
    Piece,
    allot,
    answer_tokens,
    brief,
    chunks,
    derive_focus,
    fits,
    mark_for,
    user_words,
)
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tests.summary.material import assistant, count, exchange, user

SECRET = "sk-" + "a" * 40


def redact(text: str) -> str:
    return re.sub(r"sk-a{40}", "[REDACTED]", text)


def plain(text: str) -> str:
    return text


def test_turns_are_labelled_and_parted_at_seams() -> None:
    call = ToolCall("1", "bash", '{"command": "ls"}')
    messages = [
        user("look"),
        assistant("ok", call),
        Message(Role.TOOL, (ToolResult("1", (Text("a.py"), Media("image"))),)),
    ]
    assert brief(messages, plain) == (
        (Piece("1 user", "look"),),
        (
            Piece("2 assistant", "ok"),
            Piece("2 assistant calls bash", '{"command": "ls"}'),
            Piece("3 result of bash", "a.py\n(image)"),
        ),
    )


def test_summaries_thinking_and_our_own_notes_are_not_turns() -> None:
    messages = [
        Message(Role.USER, (Summary("old"), Text("new words"))),
        Message(Role.ASSISTANT, (Thinking("hm", "seal"), Text("  "), Text("done"))),
        Message(Role.USER, (Text("note"),), synthetic=Synthetic.NOTE),
        Message(Role.ASSISTANT, (Opaque("x", {}), Opaque("x", {}, "can be read"))),
        Message(Role.USER, (Media("file"),)),
    ]
    assert [piece for group in brief(messages, plain) for piece in group] == [
        Piece("1 user", "new words"),
        Piece("2 assistant", "done"),
        Piece("4 assistant", "can be read"),
        Piece("5 user", "(file)"),
    ]


def test_long_results_and_arguments_lose_their_middle() -> None:
    call = ToolCall("1", "cat]\n", "x" * 2_000)
    result = ToolResult("1", (Text("f" * 9_000 + "b" * 9_000),), is_error=True)
    ((asked, answered),) = brief(
        [Message(Role.ASSISTANT, (call,)), Message(Role.TOOL, (result,))], plain
    )
    assert asked == Piece(
        "1 assistant calls cat",
        "x" * 1_200 + "\n[600 characters left out]\n" + "x" * 200,
    )
    assert answered == Piece(
        "2 result of cat, failed",
        "f" * 4_000 + "\n[12,500 characters left out]\n" + "b" * 1_500,
    )


def test_of_results_and_arguments_of_long_ago_less_is_read_and_of_words_all() -> None:
    def at(age: int) -> tuple[int, int, int]:
        call = ToolCall("1", "bash", "x" * 2_000)
        messages = [
            assistant("w" * 9_000),
            Message(Role.ASSISTANT, (call,)),
            Message(Role.TOOL, (ToolResult("1", (Text("f" * 9_000),)),)),
            *[user("go on")] * age,
        ]
        (words,), (asked, answered), *_ = brief(messages, plain)
        return words.text.count("w"), asked.text.count("x"), answered.text.count("f")

    assert at(0) == at(37) == (9_000, 1_400, 5_501)
    assert at(50) == (9_000, 700, 2_751)
    assert at(90) == at(5_000) == (9_000, 350, 1_376)


def test_program_output_in_a_users_name_is_output() -> None:
    text = "<returncode>0</returncode>\n<output>" + "x" * 9_000 + "</output>"
    ((piece,),) = brief([user(text)], plain)
    assert piece.label == "1 output"
    assert "characters left out" in piece.text
    assert user_words([user(text), user("my words"), user(" ")]) == ("my words",)


def shown(text: str) -> str:
    """Return what the summarizer reads of a tool's answer."""
    return brief(exchange("bash", text, command="x"), redact)[0][-1].text


@given(st.integers(0, 16_000), st.integers(6_001, 40_000))
def test_no_cut_shows_half_a_secret(place: int, size: int) -> None:
    text = ("." * min(place, size) + SECRET).ljust(size, ".")
    assert "aaaaa" not in shown(text)


def test_many_secrets_before_a_cut_do_not_pull_a_half_one_in() -> None:
    text = SECRET * 1_000
    assert set(shown(text)) <= set(redact(SECRET) + "\n, 0123456789charterslfou")
    assert "aaaaa" not in shown(text[1:])[60:]


@given(st.lists(st.text(alphabet="0123456789abcdef \n", max_size=60), max_size=5))
def test_a_mark_stands_in_no_text_and_is_the_same_for_the_same(texts: list[str]) -> None:
    mark = mark_for(texts)
    assert mark == mark_for(texts)
    assert all(mark not in text for text in texts)


def test_a_text_that_guesses_the_mark_gets_another() -> None:
    first = mark_for(["some text"])
    assert mark_for(["some text", first]) != first


def test_the_focus_is_what_the_user_said_last() -> None:
    turns = [user("build it"), assistant("done"), user("now make the retry policy configurable, 3")]
    assert derive_focus(turns, str) == "now make the retry policy configurable, 3"


def test_a_short_turn_names_no_topic() -> None:
    turns = [user("make the retry policy configurable, default 3"), user("go on")]
    assert derive_focus(turns, str) == "make the retry policy configurable, default 3"


def test_no_user_no_focus() -> None:
    assert derive_focus([assistant("hm")], str) == ""


def spoken(found: tuple[str, ...]) -> str:
    """Return the words in chunks without their labels."""
    return re.sub(r"(^|\n\n)\[\w+ \d \w+(, part \d+)?\]\n", "", "\n\n".join(found))


def pieces() -> st.SearchStrategy[Piece]:
    text = st.text(max_size=40) | st.builds(
        lambda word, times: word * times, st.text(min_size=1, max_size=9), st.integers(1, 900)
    )
    return st.builds(Piece, st.just("1 user"), text)


@given(st.lists(st.lists(pieces(), min_size=1, max_size=3), max_size=4), st.integers(24, 400))
def test_every_chunk_fits_and_no_letter_is_lost(groups: list[list[Piece]], room: int) -> None:
    found = chunks(groups, "0a0b0c0d", room, count)
    assert all(count(each) <= room for each in found)
    assert spoken(found) == "".join(piece.text for group in groups for piece in group)


def test_groups_stay_together_where_they_fit() -> None:
    groups = [[Piece("1 a", "x" * 40), Piece("2 b", "y" * 40)], [Piece("3 c", "z" * 40)]]
    first, second = chunks(groups, "m", 30, count)
    assert first == "[m 1 a]\n" + "x" * 40 + "\n\n[m 2 b]\n" + "y" * 40
    assert second == "[m 3 c]\n" + "z" * 40


def test_a_group_that_does_not_fit_is_parted_between_its_pieces() -> None:
    group = [Piece("1 a", "x" * 60), Piece("2 b", "y" * 60)]
    assert len(chunks([group], "m", 22, count)) == 2


def test_labels_that_differ_in_their_number_alone_are_weighed_once() -> None:
    asked: list[str] = []

    def noted(text: str) -> int:
        asked.append(text)
        return count(text)

    groups = [[Piece(f"{number} user", "x" * 40)] for number in (1, 2, 10, 11)]
    assert len(chunks(groups, "m", 400, noted)) == 1
    assert [text for text in asked if text.startswith("[")] == ["[m 1 user]\n", "[m 10 user]\n"]


def test_a_huge_piece_is_parted_at_words() -> None:
    text = " ".join(f"word{index}" for index in range(2_000))
    found = chunks([[Piece("1 user", text)]], "m", 100, count)
    assert found[0].startswith("[m 1 user, part 1]\nword0 word1 ")
    assert spoken(found) == text


def test_dense_text_in_the_middle_of_light_text_is_parted_too() -> None:
    text = "a" * 2_000 + "漢" * 2_000 + "a" * 2_000
    found = chunks([[Piece("1 user", text)]], "m", 80, count)
    assert spoken(found) == text
    assert max(map(count, found)) <= 80


@given(st.integers(0, 10_000_000), st.integers(1, 12_000), st.integers(0, 2_000))
def test_what_is_allotted_fits_with_a_quarter_to_spare(
    window: int, wanted: int, overhead: int
) -> None:
    room = allot(window, wanted, overhead, least=50)
    if room is None:
        assert window < SAFETY * (overhead + max(window // 8, 32)) + 2.55 * 51 + 1 or wanted < 50
        return
    assert 50 <= room.budget <= wanted
    assert room.material >= min(window // 8, 32)
    assert fits(overhead + room.budget + room.material, room.budget, window)


def test_an_answer_may_be_a_third_longer_than_its_target() -> None:
    assert answer_tokens(1_000) == 1_300
