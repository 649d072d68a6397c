"""The audit: which statements of the turns a reader can still find, by kind."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.audit import Audit, Stated, audit, compared
from holdfast.summary.statements import Statement, StatementKind
from tests.summary.material import assistant, exchange, user

SAID = (
    Statement(StatementKind.ASK, "Make the retry of the upload configurable."),
    Statement(StatementKind.CONSTRAINT, "Never touch the schema of the ledger."),
    Statement(StatementKind.CHANGE, "src/upload.py: retries = 3"),
    Statement(StatementKind.LOOK, "src/other.py:1-80"),
)


def test_statements_are_counted_by_kind_in_the_record_and_in_the_window() -> None:
    record = "## Constraints\n- Never touch the schema of the ledger."
    found = audit(SAID, record, f"{record}\nMake the retry of the upload configurable.")
    assert found == Audit(
        statements=3,
        retained_by_summary=1,
        retained=2,
        kinds=(("ask", 1, 1), ("constraint", 1, 1), ("change", 1, 0)),
        lost=(Stated("change", "src/upload.py: retries = 3"),),
    )


def test_what_users_took_back_is_counted_and_not_looked_for() -> None:
    told = [Statement(StatementKind.VALUE, "The port is 8081.")]
    past = ("The port is 8080.", "The port is 8081.")
    assert audit(told, "", "The port is 8081.", past) == Audit(
        1, 0, 1, kinds=(("value", 1, 1),), superseded=1
    )


def test_a_statement_that_a_model_reworded_counts_where_its_words_stand_together() -> None:
    told = [
        Statement(
            StatementKind.RESULT, "The retry of the upload is configurable with 3 attempts now."
        )
    ]
    reworded = "The upload's retry was made configurable; 3 attempts is the default now."
    scattered = "upload\n" + "x y z " * 80 + "retry\n" + "x y z " * 80 + "3 attempts"
    assert audit(told, "", reworded).retained == 1
    assert audit(told, "", scattered).retained == 0


def test_a_statement_with_another_number_is_not_the_statement() -> None:
    told = [Statement(StatementKind.VALUE, "The port of the staging ledger is 8787.")]
    assert audit(told, "", "The port of the staging ledger is 8788.").retained == 0
    assert audit(told, "", "The port of the staging ledger is 8787.").retained == 1


def test_how_something_was_found_out_is_not_asked_for() -> None:
    noise = [
        Statement(kind, "x y z")
        for kind in (StatementKind.LOOK, StatementKind.REMARK, StatementKind.DETAIL)
    ]
    assert audit(noise, "", "") == Audit()


def test_what_is_lost_is_listed_the_newest_first_and_not_without_end() -> None:
    told = [Statement(StatementKind.ASK, f"Please do part number {at} of it") for at in range(500)]
    lost = audit(told, "", "").lost
    assert lost[0].text == "Please do part number 499 of it"
    assert len(lost) == 200


statements = st.lists(
    st.builds(
        Statement, st.sampled_from(StatementKind), st.text(alphabet="ab1 语.\n", max_size=60)
    ),
    max_size=12,
)


@given(statements, st.text(alphabet="ab1 语.\n", max_size=200), st.text(max_size=60))
def test_its_figures_always_add_up(told: list[Statement], record: str, around: str) -> None:
    found = audit(told, record, f"{record}\n{around}")
    assert 0 <= found.retained_by_summary <= found.retained <= found.statements <= len(told)
    assert sum(wanted for _, wanted, _ in found.kinds) == found.statements
    assert sum(there for _, _, there in found.kinds) == found.retained
    assert len(found.lost) == found.statements - found.retained


@given(statements)
def test_what_stands_in_the_window_word_for_word_is_retained(told: list[Statement]) -> None:
    window = "\n".join(each.text for each in told)
    assert audit(told, window, window).lost == ()


def test_windows_are_compared_by_what_their_messages_say() -> None:
    messages = [
        user("Make the retry of the upload configurable for all customers"),
        *exchange("bash", "12 passed in 3s", command="pytest -q"),
        assistant("The retry of the upload is configurable for all customers now."),
    ]
    ask = messages[0].text
    kept, lost = compared(messages, ask, lambda text: text)
    assert ask in [each.text for each in kept]
    assert any("12 passed" in each.text for each in lost)
    assert {each.text for each in kept}.isdisjoint(each.text for each in lost)


def test_no_secret_is_listed_as_lost() -> None:
    messages = [
        user("Use hunter2hunter2 to log in to the staging ledger"),
        *exchange("bash", "ok", command="login --password hunter2hunter2"),
    ]
    kept, lost = compared(messages, "", lambda text: text.replace("hunter2hunter2", "***"))
    assert lost
    assert not [each for each in (*kept, *lost) if "hunter2" in each.text]
