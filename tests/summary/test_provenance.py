from holdfast.summary.provenance import NOT_FOUND, Heard, verify
from holdfast.summary.record import Record

SAID = (
    "Set up the billing service and never touch the schema.",
    "Please fix the login page, it fails after the second try.",
    "Now make the retry policy configurable, default 3",
)


def test_what_the_user_said_word_for_word_stays() -> None:
    record = Record(
        task=('"Now make the retry policy  configurable, default 3"',),
        goal=("A billing service that works",),
        pending=("fix the login page, it fails after the second try",),
    )
    assert verify(record, Heard(SAID)) == (record, ())


def test_an_invented_task_is_replaced_by_the_newest_words() -> None:
    checked, warnings = verify(Record(task=("Deploy everything to production today",)), Heard(SAID))
    assert checked == Record(task=(SAID[-1],))
    assert warnings == ("replaced a task that no user gave: Deploy everything to production today",)


def test_a_fair_paraphrase_stays_beside_the_words_themselves() -> None:
    record = Record(task=("Make retries configurable (policy default 3)",))
    checked, warnings = verify(record, Heard(SAID))
    assert checked.task == ("Make retries configurable (policy default 3)", SAID[-1])
    assert warnings == ()


def test_without_user_words_there_is_no_task() -> None:
    assert verify(Record(task=("Deploy",)), Heard(())) == (
        Record(),
        ("replaced a task that no user gave: Deploy",),
    )


def test_an_invented_ask_is_removed_and_a_doubtful_one_marked() -> None:
    record = Record(
        pending=(
            "Rewrite the frontend in Svelte",
            "Delete the billing service schema",
            "User wants the login page fixed",
        )
    )
    checked, warnings = verify(record, Heard(SAID))
    assert checked.pending == (
        f"Delete the billing service schema {NOT_FOUND}",
        "User wants the login page fixed",
    )
    assert warnings == (
        "removed an ask that no user made: Rewrite the frontend in Svelte",
        "marked what no user said: Delete the billing service schema",
    )


def test_an_approval_that_nobody_gave_is_removed() -> None:
    record = Record(
        decisions=("Use PostgreSQL", "The user approved dropping the legacy tables"),
        critical=("Deployment was authorized by the user",),
    )
    checked, warnings = verify(record, Heard(SAID))
    assert checked == Record(task=(SAID[-1],), decisions=("Use PostgreSQL",))
    assert len(warnings) == 2


def test_a_bare_yes_approves_nothing_in_particular() -> None:
    record = Record(decisions=("The user approved dropping the legacy tables",))
    checked, _ = verify(record, Heard((*SAID, "yes, go ahead")))
    assert checked.decisions == (f"The user approved dropping the legacy tables {NOT_FOUND}",)


def test_an_approval_in_the_users_words_stays() -> None:
    record = Record(decisions=("The user approved dropping the legacy tables",))
    said = ("You may drop the legacy tables.",)
    assert verify(record, Heard(said))[0].decisions == record.decisions
    quoted = Record(decisions=('The user confirmed: "drop the legacy tables"',))
    assert verify(quoted, Heard(said))[0].decisions == quoted.decisions


def test_software_that_asks_its_users_is_no_claim() -> None:
    record = Record(
        actions=("1. EDITED app.py - added a user confirmation dialog",),
        constraints=("user table must confirm foreign keys",),
    )
    assert verify(record, Heard(SAID))[0].actions == record.actions
    assert verify(record, Heard(SAID))[0].constraints == record.constraints


def test_a_misquoted_user_is_marked_wherever_it_stands() -> None:
    record = Record(
        constraints=(
            'The user said "always force push to main"',
            "User asked to fix the login page",
        )
    )
    assert verify(record, Heard(SAID))[0].constraints == (
        f'The user said "always force push to main" {NOT_FOUND}',
        "User asked to fix the login page",
    )


def test_checking_again_changes_nothing() -> None:
    record = Record(
        task=("Deploy now",),
        pending=("Delete the billing service schema",),
        decisions=("The user approved all", "User wants a pony"),
    )
    checked, _ = verify(record, Heard((*SAID, "ok")))
    assert verify(checked, Heard((*SAID, "ok"))) == (checked, ())


def test_chinese_words_are_traced_without_spaces() -> None:
    said = ("请把登录页面的重试次数改成三次, 不要修改数据库结构",)
    record = Record(
        task=("把登录页面的重试次数改成三次",),
        pending=("修改登录页面的重试次数", "删除所有用户数据并部署到生产环境"),
        decisions=("用户批准了删除生产数据库",),
    )
    checked, warnings = verify(record, Heard(said))
    assert checked == Record(
        task=("把登录页面的重试次数改成三次",), pending=("修改登录页面的重试次数",)
    )
    assert len(warnings) == 2


def test_only_a_huge_input_loses_its_middle() -> None:
    for words, told in (
        ("short", "short"),
        (
            "a" * 3_000 + "b" * 2_000 + "c" * 900,
            "a" * 3_000 + "\n[2,000 characters left out]\n" + "c" * 900,
        ),
    ):
        assert verify(Record(), Heard((words,)))[0] == Record(task=(told,))
