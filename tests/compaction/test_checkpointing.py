"""What a summary says beside its record."""

import re

import holdfast
from holdfast.testing.builders import assistant, call, tool, user
from holdfast.wire import DIALECTS

MESSAGES: list[dict[str, object]] = [
    {"role": role, "content": f"{role} said number {number} " * 30}
    for number in range(60)
    for role in ("user", "assistant")
]
MESSAGES.append({"role": "user", "content": "go on"})


def window(rules: tuple[str, ...], **knobs: int) -> str:
    compressor = holdfast.Compressor(**knobs)  # type: ignore[arg-type]
    compressor.host = holdfast.LiveState(goal="ship", rules=rules)
    return str(compressor.compress(MESSAGES).messages)


def test_rules_stay_where_they_fit() -> None:
    rules = tuple(f"rule {number}: never touch table_{number}" for number in range(30))
    found = window(rules, context_length=8_000)
    assert all(rule in found for rule in rules)


def test_rules_that_do_not_fit_are_counted() -> None:
    rules = tuple(f"rule {number}: {'never touch it ' * 20}" for number in range(60))
    found = window(rules, fit=3_000)
    assert "- Rule: rule 0: never touch it" in found
    assert "more rules do not fit into this window)" in found
    assert "## Goal" in found


def test_a_plan_gives_way_before_anything_else() -> None:
    items = tuple(
        holdfast.PlanItem(
            f"step {number} of a long plan", "completed" if number < 90 else "pending"
        )
        for number in range(100)
    )
    compressor = holdfast.Compressor(context_length=4_000)
    compressor.host = holdfast.LiveState(rules=("be kind",), plan=items)
    found = str(compressor.compress(MESSAGES).messages)
    assert "- Rule: be kind" in found
    assert "step 0 of a long plan" not in found
    assert "- Plan: 90 of 100 done" in found
    assert "[pending] step 90 of a long plan" in found


def test_what_was_only_searched_for_is_no_evidence() -> None:
    wanted = '{{"pattern": "load_part_{0}", "path": "src"}}'
    looked = [
        message
        for number in range(150)
        for message in (
            assistant("", call(f"c{number}", "Grep", wanted.format(number))),
            tool(f"c{number}", f"src/a.py: load_part_{number}()\n" * 100),
        )
    ]
    done = assistant("All parts are in order. " * 10)
    chat = (user("Look at every part."), *looked, done, user("And now?"))
    text = str(holdfast.compress(DIALECTS["openai"].encode(chat).messages, fit=2_000).messages)
    assert "load_part_149" in text
    assert "load_part" not in text.partition("## Evidence")[2].partition("## ")[0]


def test_what_was_asked_and_looked_up_for_a_reply_is_no_evidence() -> None:
    asked = [
        message
        for number in range(60)
        for message in (
            user(f"The gauge_{number} of the mill reads one-sided values. Mend it. It is old."),
            assistant(
                "", call(f"c{number}", "bash", f'{{"command": "grep -n pump_{number} src"}}')
            ),
            tool(f"c{number}", f"12: def pump_{number}(): ..."),
            assistant(f"It reads both sides. The well-known filter was full, number {number}."),
        )
    ]
    messages = DIALECTS["openai"].encode((*asked, user("And now?"))).messages
    text = str(holdfast.compress(messages, fit=2_000).messages)
    proof = text.partition("## Evidence")[2].partition("## ")[0]
    assert "gauge_59" in text
    assert not re.search("gauge_|pump_|well-known", proof)


def test_a_fit_keeps_little_of_results_that_something_was_said_about() -> None:
    steps = [
        message
        for number in range(30)
        for message in (
            assistant("", call(f"c{number}", "bash", '{"command": "make part"}')),
            tool(f"c{number}", f"line of output {number} " * 300),
            assistant(f"Part {number} is built. " + f"Its seam {number} holds the weight. " * 60),
        )
    ]
    last = (assistant("", call("z", "bash", '{"command": "make all"}')), tool("z", "done " * 300))
    messages = DIALECTS["openai"].encode((user("Build it."), *steps, *last)).messages
    window = holdfast.compress(messages, fit=6_000).messages
    results = [str(each["content"]) for each in window if each["role"] == "tool"]
    *older, newest = map(len, results)
    assert older
    assert max(older) < newest == 1_500


def test_a_fit_keeps_results_whole_that_nothing_was_said_about() -> None:
    talk = [each for n in range(40) for each in (user(f"Ask {n}"), assistant("It holds. " * 90))]
    work = [
        message
        for number in range(2)
        for message in (
            assistant("", call(f"r{number}", "bash", f'{{"command": "cat {number}"}}')),
            tool(f"r{number}", f"page {number} " * 150),
        )
    ]
    messages = DIALECTS["openai"].encode((*talk, user("Read them."), *work)).messages
    window = holdfast.compress(messages, fit=6_000).messages
    results = [str(each["content"]) for each in window if each["role"] == "tool"]
    assert results[-2:] == ["page 0 " * 150, "page 1 " * 150]


def test_rules_in_a_pasted_document_are_not_those_of_the_user() -> None:
    document = "<role>\nYou are a reviewer.\n</role>\n" + "Do not fix anything you find. " * 90
    turns = [
        message
        for number in range(30)
        for message in (
            user(f"Now part {number}, please."),
            assistant("", call(f"c{number}", "bash", '{"command": "make part"}')),
            tool(f"c{number}", "ok " * 200),
            assistant(f"Part {number} is built."),
        )
    ]
    start = (user("Run the review."), user(document), assistant("Two findings."))
    opening = (user("Build the mill."), assistant("It is begun."))
    messages = DIALECTS["openai"].encode((*opening, *start, *turns, user("Go on."))).messages
    record = str(holdfast.compress(messages, fit=3_000).messages[0]["content"])
    rules = record.partition("## Constraints")[2].partition("## Completed")[0]
    assert "Do not fix anything" not in rules
