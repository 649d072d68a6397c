"""The story: a numbered entry for each turn, with the ask, what was done and how it ended."""

from collections.abc import Iterable
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.statements import Rarity, Statement, StatementKind, units
from holdfast.summary.story import entry_text, narrates, read_entry, story_of
from holdfast.summary.turns import Turn, read_turns
from holdfast.transcript import Message
from holdfast.transcript.toolkit import Toolkit
from tests.summary.material import assistant, exchange, user


def rarity_of(turns: list[Turn]) -> Rarity:
    return Rarity(chain.from_iterable(units(ask) for turn in turns for ask in turn.asks))


def story(messages: list[Message], first: int = 1) -> list[Statement]:
    turns = read_turns(messages, Toolkit(), 600)
    return list(story_of(turns, first, rarity_of(turns)))


def entries(messages: list[Message]) -> list[str]:
    told = [each for each in story(messages) if each.section == "actions"]
    numbers = dict.fromkeys(each.entry for each in told)
    return [entry_text([each for each in told if each.entry == number]) for number in numbers]


def letters(texts: Iterable[str]) -> str:
    return "".join(sign for text in texts for sign in text if sign.isalnum())


WORK = [
    user("Make the retry of the upload configurable, please. The default is 3."),
    assistant("Let me look at it."),
    *exchange("Read", "x = 1", file_path="src/upload.py"),
    *exchange("Edit", "ok", file_path="src/upload.py", old_string="x = 1", new_string="x = 3"),
    *exchange("bash", "12 passed in 3s", command="pytest -q"),
    assistant("The retry of the upload is configurable now. The tests pass."),
    user("Ship it to everybody, as version 2 of the tool."),
    *exchange("bash", "ok", command="git push origin main"),
    assistant("Version 2 is shipped."),
]


def test_a_turn_is_told_as_ask_deeds_and_ending_in_order() -> None:
    first, second = entries(WORK)
    assert first.split("\n") == [
        'User: "Make the retry of the upload configurable, please. The default is 3."',
        "Noted: Let me look at it.",
        "READ src/upload.py [tool: Read]",
        "EDITED src/upload.py: x = 3 [tool: Edit]",
        'RAN pytest -q - passed "12 passed in 3s" [tool: bash]',
        "Assistant: The retry of the upload is configurable now. The tests pass.",
    ]
    assert second.split("\n")[0] == 'User: "Ship it to everybody, as version 2 of the tool."'
    assert second.split("\n")[-1] == "Assistant: Version 2 is shipped."


def test_entries_are_numbered_on_from_what_went_before() -> None:
    assert {each.entry for each in story(WORK, 41) if each.section == "actions"} == {41, 42}


def test_each_entry_of_work_has_its_ask_as_its_head() -> None:
    heads = [each for each in story(WORK) if each.is_head]
    assert [(each.entry, each.kind, each.order) for each in heads] == [
        (1, StatementKind.ASK, 1),
        (2, StatementKind.ASK, 1),
    ]


def test_what_is_left_out_between_told_words_leaves_a_gap() -> None:
    told = [each for each in story(WORK) if each.entry == 1 and each.label == "Assistant"]
    assert entry_text(told).count(" … ") == 0
    ends = [told[0], Statement(StatementKind.REPLY, "And more.", label="Assistant", order=99)]
    assert " … And more." in entry_text(ends)


def test_a_check_that_ran_again_in_a_turn_is_told_once_as_it_ended() -> None:
    failed = exchange("bash", "Exit code 1\n1 failed, 11 passed", command="pytest -q")
    passed = exchange("bash", "12 passed in 3s", command="pytest -q")
    (entry,) = entries([user("Mend the upload of large files"), *failed, *passed])
    assert "12 passed" in entry
    assert "1 failed" not in entry


def test_what_failed_and_then_worked_is_told_as_it_worked() -> None:
    def edit(answer: str) -> list[Message]:
        return exchange("Edit", answer, file_path="keel.c", old_string="a", new_string="b")

    refused = "The user doesn't want to proceed with this tool use."
    failed = [
        user("Mend the keel, please"),
        *exchange("bash", "Exit code 1\nUnknown field: hull", command="gh pr view 5 --json hull"),
        *exchange("bash", "Exit code 1\nerror: no title", command="gh pr create"),
        *edit("Error: no match"),
        *edit("Error: two matches"),
        *exchange("bash", refused, command="./deploy.sh", failed=True),
    ]
    worked = [
        *exchange("bash", "title: Keel", command="gh pr view 5 --json title"),
        *edit("ok"),
        *exchange("bash", "ok", command="./deploy.sh"),
    ]
    (entry,) = entries(failed)
    assert "no match" not in entry
    for words in ("Unknown field", "no title", "two matches", "rejected by the user"):
        assert words in entry
    (entry,) = entries([*failed, *worked])
    for words in ("Unknown field", "no match", "two matches"):
        assert words not in entry
    for words in ("title: Keel", "no title", "rejected by the user", "EDITED keel.c"):
        assert words in entry


def test_a_decision_with_its_reason_stands_on_its_own() -> None:
    told = story(
        [
            user("Set up the billing service for the mill"),
            assistant("We decided to use SQLite because it needs no server of its own."),
            *exchange("bash", "ok", command="make install"),
        ]
    )
    (decision,) = [each for each in told if each.kind is StatementKind.DECISION]
    assert decision.section == "decisions"
    assert decision.text == "We decided to use SQLite because it needs no server of its own."


def test_a_decision_is_known_in_a_language_that_does_not_part_words() -> None:
    told = story(
        [
            user("请修复登录页面并且写一个测试来证明它真的有效"),
            assistant("我们决定使用 SQLite，因为它不需要服务器。"),
            *exchange("bash", "ok", command="make install"),
        ]
    )
    assert [each.section for each in told if "决定" in each.text] == ["decisions"]


def test_an_interrupted_turn_says_so() -> None:
    (entry, _) = entries(
        [
            user("Delete the old backups of the ledger"),
            *exchange("bash", "ok", command="ls backups"),
            user("[Request interrupted by user]"),
            user("Wait with that until tomorrow"),
        ]
    )
    assert "interrupted by the user" in entry


def test_calls_that_were_not_read_are_counted() -> None:
    messages = [m for n in range(40) for m in exchange("bash", "ok", command=f"step {n}")]
    turns = read_turns([user("Do all forty steps of the plan"), *messages], Toolkit(), 10)
    told = list(story_of(turns, 1, rarity_of(turns)))
    assert "30 earlier calls" in entry_text(told)
    turns = read_turns([user("Do all forty steps of the plan"), *messages], Toolkit(), 39)
    entry = entry_text(list(story_of(turns, 1, rarity_of(turns))))
    assert "Noted: 1 earlier call\n" in entry


def test_a_turn_of_listings_alone_tells_one_of_them() -> None:
    listed = exchange("bash", "quay/boats/\n" * 60, command="ls -l")
    assert entries([*listed, *listed]) == ["RAN ls -l [tool: bash]"]
    (entry,) = entries([user("Look around in the harbor"), *listed])
    assert "ls -l" not in entry


def test_words_that_only_announce_are_known_in_several_languages() -> None:
    announced = ("Let me look at it.", "Now I'll run it.", "Now the tests:", "Ich schaue nach")
    assert all(map(narrates, (*announced, "Jetzt prüfe ich es.", "Сейчас проверю.", "让我看")))
    concluded = ("The parser is mended.", "Done.", "Perfect! Now the workflow is clear.")
    others = ("Es ist fertig.", "Jetzt läuft alles.", "Vous pouvez l'ouvrir.", "现在测试都通过了。")
    assert not any(map(narrates, (*concluded, *others, "Сейчас всё работает.")))


def test_a_word_of_the_user_is_told_only_with_what_came_of_it() -> None:
    messages = [user("yes"), *WORK[1:4], user("Rename the class Ledger.")]
    yes, *_, rename = story(messages)
    assert yes.density < 0.3 < 1 < rename.density
    assert yes.is_head


def test_the_same_outcome_of_several_calls_is_told_once() -> None:
    messages = [m for _ in range(4) for m in exchange("frob", "No exact match found.", at="x")]
    (entry,) = entries([user("Change x wherever it stands"), *messages])
    assert entry.count("No exact match found.") == 1


@given(
    st.lists(
        st.tuples(st.text(max_size=80), st.text(max_size=80), st.booleans()),
        min_size=1,
        max_size=4,
    )
)
def test_an_entry_that_was_written_reads_back_as_what_it_told(
    said: list[tuple[str, str, bool]],
) -> None:
    messages: list[Message] = []
    for number, (ask, reply, works) in enumerate(said):
        deed = exchange("bash", "ok", command=f"{ask} {number}") if works else []
        messages += [user(ask), *deed]
        messages.append(assistant(reply))
    told = [each for each in story(messages) if each.section == "actions"]
    for number in {each.entry for each in told}:
        members = [each for each in told if each.entry == number]
        back = read_entry(entry_text(members), "actions", Rarity(()))
        assert letters(each.text for each in back) == letters(each.text for each in members)


def test_an_ending_reads_back_with_its_short_beginning() -> None:
    entry = 'User: "Mend it"\nAssistant: Done. The pump of `mill.kt` runs again. … It is oiled.'
    said = [each for each in read_entry(entry, "actions", Rarity(())) if each.label == "Assistant"]
    assert [(each.kind, each.text) for each in said] == [
        (StatementKind.RESULT, "Done. The pump of `mill.kt` runs again."),
        (StatementKind.DETAIL, "It is oiled."),
    ]


def test_an_ending_that_begins_with_consent_stays() -> None:
    said = "Got it, the valve stays as it is. Which wheel is to turn?"
    told = story([*WORK, user("Leave the valve, please."), assistant(said)])
    endings = [each.text for each in told if each.kind is StatementKind.RESULT]
    assert endings[-1] == "Got it, the valve stays as it is."


def test_what_was_done_reads_back_with_its_tool() -> None:
    parts = list(read_entry(entries(WORK)[0], "actions", Rarity(())))
    assert [(each.kind, each.label) for each in parts if "|" in each.label] == [
        (StatementKind.LOOK, "READ|Read"),
        (StatementKind.CHANGE, "EDITED|Edit"),
        (StatementKind.CHANGE, "RAN|bash"),
    ]
    assert [each.kind for each in parts if each.label == "User"] == [
        StatementKind.ASK,
        StatementKind.ASK,
    ]


def test_commands_read_back_one_by_one_and_those_that_only_looked_are_no_changes() -> None:
    said = [
        user("Look around, then release it"),
        *exchange("bash", "a.py b.py", command="ls src"),
        *exchange("bash", "port: 8000; host: here", command="yq . conf/a.yaml"),
        *exchange("bash", "To origin\n main -> main", command="git push"),
    ]
    back = list(read_entry(entries(said)[0], "actions", Rarity(())))
    assert [(each.kind, each.text) for each in back if "|" in each.label] == [
        (StatementKind.LOOK, 'ls src - "a.py b.py"'),
        (StatementKind.LOOK, 'yq . conf/a.yaml - "port: 8000; host: here"'),
        (StatementKind.CHANGE, 'git push: "To origin main -> main"'),
    ]


def test_what_a_change_contained_is_never_told_of_another_change() -> None:
    told = story(
        [
            user("Set the retries of both parts of the upload"),
            *exchange("Edit", "ok", file_path="src/a.py", old_string="x", new_string="retries = 1"),
            *exchange("Edit", "ok", file_path="src/b.py", old_string="x", new_string="retries = 2"),
        ]
    )
    changes = [each for each in told if each.kind is StatementKind.CHANGE]
    details = [each for each in told if each.kind is StatementKind.DETAIL]
    assert "src/b.py: retries = 2" in entry_text(told)
    assert "retries = 2" not in entry_text([changes[0], details[1]])
    assert "retries = 1" not in entry_text([details[0], changes[1]])


def test_what_a_plan_says_is_told_beside_its_title() -> None:
    plan = "# Plan: count the boats\n\nVerify by hand with `make count` in the north basin."
    (entry,) = entries([user("Plan it"), *exchange("ExitPlanMode", "approved", plan=plan)])
    assert "\nPlan: Verify by hand with `make count` in the north basin." in f"\n{entry}"
    (again,) = {
        each.label for each in read_entry("Plan: Verify by hand.", "actions", rarity_of([]))
    }
    assert again == "Plan"


def test_what_an_assistant_is_about_to_do_decides_nothing() -> None:
    told = story(
        [
            user("Mend it"),
            assistant("I\u2019m reading the file again because it may have changed since."),
            *exchange("Read", "x", file_path="a.py"),
            assistant("I'll use `sed` for the edit because the file is rather long."),
            *exchange("Read", "x", file_path="b.py"),
            assistant("I'll keep the old signature, which the plugins of others call."),
            *exchange("Read", "x", file_path="c.py"),
            assistant("The lookup in it is fast now. I'll use SQLite because it needs no server."),
        ]
    )
    decided = [each.text for each in told if each.section == "decisions"]
    assert decided == [
        "I'll keep the old signature, which the plugins of others call.",
        "I'll use SQLite because it needs no server.",
    ]


def test_what_the_user_contradicts_decides_nothing() -> None:
    claim = "We decided to read the light palette first, which has another blue."
    said = [
        user("Why do the two maps differ?"),
        *WORK[2:4],
        assistant(f"I looked at both of the maps now. {claim}"),
    ]
    told = story([*said, user("no, both of them read the dark palette"), *WORK[4:]])
    assert [each.text for each in told if each.section == "decisions"] == []
    assert claim in [each.text for each in told]


def test_what_the_user_refused_is_settled() -> None:
    reply = assistant(
        "The mill runs again, on both wheels. Want me to change its default valve as well?"
    )
    told = story([*WORK[:3], reply, user("na, leave it"), *WORK[4:]])
    assert [each.text for each in told if each.section == "decisions"] == [
        'The user said "na, leave it" to: Want me to change its default valve as well?'
    ]


def test_of_a_long_message_later_sentences_count_less() -> None:
    long = " ".join(f"Part {at} of basin {at} has a boat." for at in range(90))
    told = [each for each in story([user(long), *exchange("Read", "x", file_path="a.py")])]
    asks = [each.density for each in told if each.label == "User"]
    assert asks[-1] > asks[60] < asks[2] / 2


def test_of_an_ask_the_question_counts_and_not_what_was_pasted_around_it() -> None:
    pasted = (
        "'/tmp/shot 2026-01-02.png'\n\nwhy do the lamps differ on both quays?\n\n$ echo $LAMP\nwtf"
    )
    path, question, prompt, last = [
        each.density for each in story([user(pasted), *WORK[1:]]) if each.label == "User"
    ][:4]
    assert question > 1 > max(path, prompt, last)
    assert last < 0.8


def test_a_block_of_code_in_an_entry_stays_one_statement() -> None:
    code = "- src/a.py\n  ```go\n  func a() {\n    return 1\n  }\n  ```\n  and more of it"
    texts = [each.text for each in read_entry(code, "files", rarity_of([]))]
    assert texts == ["src/a.py", "`func a() { return 1 }`", "and more of it"]


def test_a_conclusion_in_the_words_that_the_talk_is_about_is_told_too() -> None:
    about = user("How does the reader open the cache before the writer closes it?")
    reply = assistant("The change of the timeout is made now. The reader does open the cache.")
    told = story([*[about, assistant("It waits for it.")] * 12, *WORK[:-1], reply])
    plain = next(each for each in told if each.text == "The reader does open the cache.")
    assert plain.kind is StatementKind.REPLY
    assert plain.density >= 0.2


def test_what_an_assistant_says_of_the_user_is_told_as_its_words() -> None:
    claim = "We decided to drop the old ledger because the user approved it this morning."
    told = story([user("Mend the mill, please."), assistant(f"The mill is mended. {claim}")])
    (found,) = [each for each in told if each.text == claim]
    assert (found.section, found.label) == ("actions", "Assistant")


def test_an_ending_is_what_it_says_and_not_what_announces_it() -> None:
    said = "The flow is now:\n\nYou start with a key.\n\nThe second agent joins with that key."
    asked = user("How does the flow work with two agents?")
    told = story([*WORK, asked, assistant(said)])
    endings = [each.text for each in told if each.kind is StatementKind.RESULT]
    assert endings[-1] == "The flow is now: You start with a key."
    code = (
        "So the flow is:\n\n```\n" + "start --key a8f3 --wait 60\n" * 12 + "```\nNo key is reused."
    )
    told = story([*WORK, asked, assistant(code)])
    assert [each.text for each in told if each.kind is StatementKind.RESULT][-1] == (
        "No key is reused."
    )


def test_each_ask_comes_from_its_own_message() -> None:
    messages = [user("Review the change, please."), user("Never touch the schema."), *WORK[1:]]
    places = {each.text: each.message for each in story(messages) if each.label == "User"}
    assert places["Review the change, please."] == 0
    assert places["Never touch the schema."] == 1
