"""Where the work stands: the newest value counts, and what was settled is no blocker."""

import pytest

from holdfast.summary.state import Files, failures, file_notes, state_lines, still_blocked
from holdfast.summary.turns import Deed, read_turns
from holdfast.transcript import Message, Role, ToolCall
from holdfast.transcript.effects import STUB
from holdfast.transcript.toolkit import Toolkit
from tests.summary.material import exchange


def deeds(*messages: list[Message]) -> list[Deed]:
    flat = [message for each in messages for message in each]
    return [deed for turn in read_turns(flat, Toolkit(), 600) for deed in turn.deeds]


def values(*messages: list[Message]) -> dict[str, str]:
    return {name: value for name, value in state_lines(Files(deeds(*messages))).items() if value}


def blocked(*messages: list[Message]) -> list[str]:
    return [line for line, _ in failures(deeds(*messages))]


def test_the_state_is_what_commands_and_their_output_last_showed() -> None:
    found = values(
        exchange("bash", "On branch main\nnothing", command="cd /old && git status"),
        exchange(
            "bash", "[fix/login 1a2b3c4] Fix login\n 1 file", command="cd /work && git commit"
        ),
        exchange("exec_command", "2 failed, 9 passed", cmd="pytest -q", workdir="/work/app"),
        exchange("bash", "", command="npm start &"),
        exchange("bash", "x", command="git diff a && git diff b &&"),
        exchange("bash", "x", cwd=7, command="true"),
    )
    assert found["Directory"] == "/work/app"
    assert found["Branch"] == "fix/login"
    assert found["Started in the background"] == "npm start &"
    assert "1a2b3c4 Fix login" in found["Commits"]
    assert "pytest -q" in found["Last check"]
    assert "2 failed, 9 passed" in found["Last check"]


def test_a_branch_is_what_git_says_and_not_what_a_test_prints() -> None:
    seen = "ran 3 suites\ngot: Switched to branch 'topic'\nOn branch other\n[fake 1a2b3c4] Fix"
    assert "Branch" not in values(exchange("bash", seen, command="make test"))
    assert "Commits" not in values(exchange("bash", seen, command="make test"))
    quoted = "  Switched to branch 'topic'"
    assert "Branch" not in values(exchange("bash", quoted, command="git diff"))


def test_a_branch_is_told_of_the_directory_that_is_told() -> None:
    first = exchange("bash", "On branch sail", command="cd /boat && git status")
    other = exchange("bash", "[keel 1a2b3c4] Add", command="cd /dock && git commit -m Add")
    assert values(first, other)["Branch"] == "keel"
    below = values(first, other, exchange("bash", "x", command="cd /boat/deck && ls"))
    assert (below["Directory"], below["Branch"]) == ("/boat/deck", "sail")
    away = exchange("bash", "x\nShell cwd was reset to /boat", command="cd /hill && ls")
    back = values(first, other, away)
    assert (back["Directory"], back["Branch"]) == ("/boat", "sail")
    known = {"Directory": "/boat", "Branch": "sail"}
    moved = state_lines(Files(deeds(exchange("bash", "x", command="cd /hill && ls")), known))
    assert (moved["Directory"], moved["Branch"]) == ("/hill", "")


def test_a_directory_is_told_where_it_is_known() -> None:
    def directory(*commands: str) -> str:
        return values(*(exchange("bash", "x", command=each) for each in commands)).get(
            "Directory", ""
        )

    assert directory("cd boat && ls") == ""
    assert directory("cd /dock && ls", "cd boat && ls") == "/dock"
    assert directory("cd /dock && cd boat && cd ../sail && ls") == "/dock/sail"
    assert directory("cd ~/dock && ls") == "~/dock"
    assert directory("cd '/dock' && ls") == "/dock"


def test_nothing_shown_is_no_state() -> None:
    waiting = [Message(Role.ASSISTANT, (ToolCall("1", "bash", '{"command": "x"}'),))]
    assert values(waiting) == values([]) == {}


def test_what_was_changed_since_the_last_commit_and_the_last_check_is_named() -> None:
    edit = exchange("Edit", "ok", file_path="src/a.py", new_string="x")
    commit = exchange("bash", "[main 1a2b3c4] Fix\n 1 file", command="git commit -am Fix")
    check = exchange("bash", "3 passed", command="pytest")
    later = exchange("Edit", "ok", file_path="src/b.py", new_string="y")
    found = values(edit, commit, check, later)
    assert found["Changed, not committed"] == "src/b.py"
    assert found["Changed since the last check"] == "src/b.py"
    assert "1a2b3c4" in found["Committed, not pushed"]
    pushed = values(edit, commit, exchange("bash", "ok", command="git push"), check)
    assert "Committed, not pushed" not in pushed
    assert "Changed, not committed" not in pushed


@pytest.mark.parametrize(
    ("command", "answer", "left"),
    [
        ("git push -u origin main 2>&1 | tail", "To x\n 1..2 main -> main", False),
        ("git push origin main --tags", "ok", False),
        ("git push", "To x\n ! [rejected] main -> main (fetch first)", True),
        ("git push; true", "hook\n" * 2_000 + " ! [remote rejected] main -> main", True),
        ("git push | tail -2", "error: failed to push some refs to 'x'", True),
        ("git push | cat", "fatal: no upstream branch", True),
        ("git push --dry-run", "To x\n 1..2 main -> main", True),
        ("git push origin v1.2.0", "To x\n * [new tag] v1.2.0 -> v1.2.0", True),
        ("git push origin --tags 2>&1", "To x\n * [new tag] keel -> keel", True),
        ("git push origin --delete keel", "To x\n - [deleted] keel", True),
        ("git stash push keel.py", "Saved", True),
        ('git log --grep "to push"', "x", True),
    ],
)
def test_what_was_not_pushed_stays_so(command: str, answer: str, left: bool) -> None:
    commit = exchange("bash", "[main 1a2b3c4] Fix\n 1 file", command="git commit -am Fix")
    found = values(commit, exchange("bash", answer, command=command))
    assert ("Committed, not pushed" in found) is left


@pytest.mark.parametrize(
    ("command", "answer", "left"),
    [
        ("git revert --no-edit 1a2b3c4", "[main 4d5e6f7] Revert", "1a2b3c4, 2b3c4d5, 4d5e6f7"),
        ("git commit --amend --no-edit", "[main 4d5e6f7] Fix", "1a2b3c4, 4d5e6f7"),
        ("git commit -m 'No --amend'", "[main 4d5e6f7] Fix", "1a2b3c4, 2b3c4d5, 4d5e6f7"),
        ("git reset --soft HEAD~1", "", "1a2b3c4"),
        ("git reset HEAD^", "Unstaged changes", "1a2b3c4"),
        ("git reset --soft HEAD~2 && git commit -m x", "[main 4d5e6f7] Fix", "4d5e6f7"),
        ("git reset HEAD~1 -- keel.py", "", "1a2b3c4, 2b3c4d5"),
        ("git reset HEAD~1 keel.py", "", "1a2b3c4, 2b3c4d5"),
        (
            "git commit -m x && git push",
            "Exit code 1\n[main 4d5e6f7] Fix\n ! [rejected] main",
            "1a2b3c4, 2b3c4d5, 4d5e6f7",
        ),
        ("git reset keel.py", "", "1a2b3c4, 2b3c4d5"),
        ("git rebase main", "Successfully rebased and updated", ""),
        ("git pull --rebase origin main", "Successfully rebased and updated", ""),
        ("git rebase main", "Current branch sail is up to date.", "1a2b3c4, 2b3c4d5"),
        ("git rebase --abort", "", "1a2b3c4, 2b3c4d5"),
        ("git config pull.rebase true", "", "1a2b3c4, 2b3c4d5"),
    ],
)
def test_commits_are_told_as_git_made_and_rewrote_them(
    command: str, answer: str, left: str
) -> None:
    first = exchange("bash", "[main 1a2b3c4] Add\n 1 file", command="git commit -am Add")
    second = exchange("bash", "[main 2b3c4d5] Mend\n 1 file", command="git commit -am Mend")
    found = values(first, second, exchange("bash", answer, command=command))
    assert found.get("Committed, not pushed", "") == left


def test_commits_that_are_not_told_are_counted_fold_after_fold() -> None:
    def commits(*numbers: int) -> list[Deed]:
        made = {f"git commit -m {each}": f"[main {each:07x}] Add" for each in numbers}
        return deeds(*(exchange("bash", answer, command=each) for each, answer in made.items()))

    def told(*done: Deed) -> str:
        return state_lines(Files(done, first))["Committed, not pushed"]

    first = state_lines(Files(commits(*range(10))))
    assert first["Committed, not pushed"].startswith("0000002, 0000003, ")
    assert first["Committed, not pushed"].endswith(", 0000009 and 2 more")
    assert told() == first["Committed, not pushed"]
    assert told(*commits(10)).endswith(", 0000009, 000000a and 3 more")
    back = deeds(exchange("bash", "", command="git reset --soft HEAD~9"))
    assert told(*back, *commits(10)) == "000000a and 1 more"
    pushed = deeds(exchange("bash", "ok", command="git push"))
    assert told(*pushed, *commits(10)) == "000000a"


def test_a_long_path_is_told_with_the_mark_of_its_cut_and_known_again() -> None:
    edits = [
        exchange("Edit", "ok", file_path=f"/home/me/app/src/core/{name}.py", new_string="x")
        for name in ("a", "b")
    ]
    commit = exchange("bash", "[main 1a2b3c4] Fix", command="git add src/core/a.py && git commit")
    assert values(*edits)["Changed"] == "…/src/core/b.py, …/src/core/a.py"
    assert values(*edits, commit)["Changed, not committed"] == "…/src/core/b.py"


def test_a_failure_stands_until_the_same_work_succeeds() -> None:
    found = blocked(
        exchange("bash", "Exit code 1\nerror: no key", command="deploy prod"),
        exchange("bash", "Exit code 1\nFAIL: test_a", command="make test -k a"),
        exchange("bash", "ok", command="make test"),
        exchange("bash", "Exit code 1\n", command="grep nothing"),
        exchange("bash", "Exit code 2\nrg: ../x: No such file", command="rg -n key ../x | head"),
        exchange("Read", "Error: missing", file_path="x.py", failed=True),
        exchange("bash", "", command="deploy prod")[:1],
    )
    assert found == ['deploy prod - "error: no key"', 'x.py - "Error: missing"']


def test_a_success_settles_every_step_of_its_command_line() -> None:
    failing = [
        exchange("bash", "Exit code 1\nFAIL: a", command="cd /app; CI=1 make test 2>&1 | tail"),
        exchange("bash", "Exit code 1\nerror: x", command="python -m mypy src"),
        exchange("Read", "Error: not found", file_path="x.py", failed=True),
    ]
    settling = [
        exchange("bash", "ok", command="make test -k && make lint"),
        exchange("Write", "ok", file_path="x.py", content="x"),
        exchange("bash", "ok", command="python -m pytest"),
    ]
    assert len(blocked(*failing)) == 3
    assert blocked(*failing, *settling) == ['python -m mypy src - "error: x"']


def test_a_later_failure_of_the_same_work_replaces_the_first() -> None:
    found = blocked(
        exchange("bash", "Exit code 1\nerror: no key", command="deploy prod"),
        exchange("bash", "Exit code 1\nerror: no disk", command="deploy prod"),
    )
    assert found == ['deploy prod - "error: no disk"']


def test_another_attempt_is_known_whatever_its_options() -> None:
    failing = exchange("bash", "Exit code 1\nerror: no hull", command="cmake -B . -S ..")
    again = exchange("bash", "ok\nexit status 0", command="cmake -DHULL=/opt/hull -B . -S ..")
    assert blocked(failing) == ['cmake -B . -S .. - "error: no hull"']
    assert blocked(failing, again) == []
    create = exchange("bash", "Exit code 1\nerror: no title", command="gh pr create")
    assert blocked(create, exchange("bash", "ok", command="gh pr view 5")) == blocked(create)


def test_a_check_of_a_file_that_passed_resolves_what_failed_with_it() -> None:
    failing = exchange(
        "bash",
        "Exit code 1\npython3: error: No module named pytest",
        command="python3 -m pytest src/tests/test_mill.py",
    )
    passed = exchange("bash", "3 passed", command="bin/test src/tests/test_mill.py")
    other = exchange("bash", "3 passed", command="bin/test lib/tests/test_mill.py")
    assert blocked(failing, passed) == []
    assert blocked(failing, other) == blocked(failing)


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("pytest -q tests/test_keel.py", "pytest -q"),
        ("pytest -q tests/test_keel.py", "uv run pytest -q -n 2 tests/ 2>&1 | tail -3"),
        ("pytest tests/test_keel.py::test_bow", "python -m pytest tests/test_keel.py -x"),
        ("cd boat && pytest test_keel.py", "pytest boat/test_keel.py boat/test_sail.py"),
        ("go test ./keel", "go test ./..."),
        ("npx jest src/keel.test.ts", "npx jest"),
        ("ruff check src/keel.py", "ruff check ."),
    ],
)
def test_a_check_that_passed_settles_what_it_covers(failing: str, passing: str) -> None:
    failed = exchange("bash", "Exit code 1\n1 failed", command=failing)
    assert len(blocked(failed)) == 1
    assert blocked(failed, exchange("bash", "9 passed", command=passing)) == []


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("pytest tests/test_keel.py", "pytest tests/test_sail.py"),
        ("uv run pytest tests/test_keel.py", "uv run pytest tests/test_sail.py"),
        ("pytest tests/test_keel.py", "pytest tests/test_keel.py::test_bow"),
        ("pytest tests/test_keel.py tests/test_sail.py", "pytest tests/test_sail.py"),
        ("pytest tests/test_keel.py", "ruff check tests/test_keel.py"),
        ("pytest", "pytest tests/test_sail.py"),
        ("go test ./keel", "go test ./sail"),
        ("cargo test keel", "cargo test sail"),
        ("npx jest keel", "npx jest sail"),
        ("ruff format --check .", "ruff check ."),
    ],
)
def test_a_check_of_something_else_settles_no_other(failing: str, passing: str) -> None:
    failed = exchange("bash", "Exit code 1\n1 failed", command=failing)
    assert len(blocked(failed, exchange("bash", "9 passed", command=passing))) == 1


def test_files_carry_their_newest_state_and_one_note() -> None:
    found = file_notes(
        Files(
            deeds(
                exchange("Read", "x", file_path="a.py"),
                exchange("Edit", "ok", file_path="a.py", new_string="def main(): ..."),
                exchange("Edit", "ok", file_path="a.py", new_string="x"),
                exchange("Read", "x", file_path="b.py", offset=3, limit=2),
                exchange("Read", "Error", file_path="gone.py", failed=True),
                exchange("Read", "x", file_path="c.py"),
            )
        )
    )
    assert found == [
        ("a.py - changed", True),
        ("b.py - read, lines 3-4", False),
        ("c.py - read", False),
    ]


@pytest.mark.parametrize(
    "command",
    ["sed -i 's/a/b/' src/p.py", "cat > src/p.py <<EOF\nx\nEOF", "echo x | tee src/p.py"],
)
def test_files_that_commands_wrote_are_changed(command: str) -> None:
    assert file_notes(Files(deeds(exchange("bash", "", command=command)))) == [
        ("src/p.py - changed", True)
    ]


def test_files_that_a_command_showed_are_read() -> None:
    found = deeds(
        exchange("Edit", "ok", file_path="/boat/src/keel.c", old_string="a", new_string="b"),
        exchange("bash", "x", command="sed -n '1,60p' src/sail.c && cat src/keel.c"),
        exchange("bash", "Exit code 1\nNo such file", command="cat src/mast.c"),
    )
    assert file_notes(Files(found)) == [
        ("src/sail.c - read, lines 1-60", False),
        ("/boat/src/keel.c - changed", True),
    ]


def test_an_edit_that_failed_changed_no_file() -> None:
    failed = exchange("Edit", "Error: no match", file_path="a.py", new_string="x", failed=True)
    assert file_notes(Files(deeds(failed))) == []


def test_an_edit_without_a_result_changed_no_file() -> None:
    call, result = exchange("Edit", STUB, file_path="a.py", old_string="x", new_string="y")
    assert file_notes(Files(deeds([call]))) == []
    assert file_notes(Files(deeds([call, result]))) == []


def test_a_check_that_says_nothing_of_how_it_went_is_quoted() -> None:
    found = values(exchange("bash", "the keel is laid", command="make build"))
    assert found["Last check"] == 'make build - "the keel is laid"'


def test_what_was_deleted_is_neither_changed_nor_a_file() -> None:
    done = deeds(
        exchange("bash", "", command="cat > scratch/try.py <<EOF\nx\nEOF"),
        exchange("Edit", "ok", file_path="src/mill.py", new_string="x"),
        exchange("bash", "", command="python scratch/try.py && rm -rf scratch/"),
    )
    assert file_notes(Files(done)) == [("src/mill.py - changed", True)]
    assert state_lines(Files(done))["Changed"] == "src/mill.py"


@pytest.mark.parametrize(
    "command",
    [
        *("git checkout src/boat/keel.py", "git checkout -- .", "git restore src/boat/keel.py"),
        *("cd x && git reset --hard", "git checkout HEAD -- src", "git stash && git stash drop"),
    ],
)
def test_what_was_reverted_is_not_changed(command: str) -> None:
    edit = exchange("bash", "", command="sed -i 's/a/b/' src/boat/keel.py")
    check = exchange("bash", "3 passed", command="pytest src/boat/keel.py")
    files = Files(deeds(edit, check, exchange("bash", "Updated 1 path", command=command)))
    assert file_notes(files) == []
    state = state_lines(files)
    assert state["Changed"] == ""
    assert "Last check" not in state


@pytest.mark.parametrize(
    "command",
    [
        *("git checkout keel", "git checkout -b fix/keel.py", "git restore --staged keel.py"),
        *("git stash && pytest; git stash pop", "git stash list", "git reset keel.py"),
        "git checkout keel.py && sed -i 's/b/c/' keel.py",
    ],
)
def test_what_was_not_reverted_is_changed(command: str) -> None:
    edit = exchange("bash", "", command="sed -i 's/a/b/' keel.py")
    files = Files(deeds(edit, exchange("bash", "ok", command=command)))
    assert file_notes(files)[0][0].startswith("keel.py - changed")
    assert state_lines(files)["Changed"] == "keel.py"


@pytest.mark.parametrize(
    "command",
    [
        *("cd /tmp/demo && rm -rf *", "cd /tmp/demo && rm keel.py", "git rm --cached src/keel.py"),
        *('grep -rn "git reset --hard" docs/', "cat > a.md <<'EOF'\ngit checkout .\nEOF"),
        *("git checkout HEAD~3 -- src/keel.py", "git stash push src/other.py"),
    ],
)
def test_what_only_sounds_like_a_deletion_or_a_revert_takes_nothing_back(command: str) -> None:
    edit = exchange("Edit", "ok", file_path="src/keel.py", old_string="a", new_string="b")
    files = Files(deeds(edit, exchange("bash", "", command=command)))
    assert ("src/keel.py - changed", True) in file_notes(files)
    assert "src/keel.py" in state_lines(files)["Changed"]


def test_a_branch_with_the_name_of_a_file_is_a_branch() -> None:
    edit = exchange("Edit", "ok", file_path="keel.py", old_string="a", new_string="b")
    switched = exchange(
        "bash", "Switched to branch 'fix/keel.py'", command="git checkout fix/keel.py"
    )
    assert state_lines(Files(deeds(edit, switched)))["Changed"] == "keel.py"


def test_what_was_stashed_twice_comes_back_twice() -> None:
    calls = ("git stash", "git stash pop", "git stash pop")
    first = exchange("Edit", "ok", file_path="a.py", old_string="a", new_string="b")
    then = exchange("Edit", "ok", file_path="b.py", old_string="a", new_string="b")
    stashed = exchange("bash", "ok", command="git stash")
    done = deeds(first, stashed, then, *(exchange("bash", "ok", command=each) for each in calls))
    assert set(state_lines(Files(done))["Changed"].split(", ")) == {"a.py", "b.py"}


def test_a_failure_of_an_earlier_record_is_settled_by_the_same_words() -> None:
    long = f"cd /srv/harbor && HARBOR_ENV=staging HARBOR_REGION={'north' * 20} make the-tides"
    failed = deeds(exchange("bash", "Exit code 2\nerror: no tide", command=long))
    told = [line for line, _ in failures(failed)]
    assert still_blocked(told, failed) == told
    assert still_blocked(told, deeds(exchange("bash", "Exit code 0\nok", command=long))) == []
    waiting = ["Waiting for the harbor office to open the gate"]
    assert still_blocked(waiting, deeds(exchange("browser", "ok"))) == waiting


def test_what_was_committed_before_it_was_reverted_is_changed() -> None:
    edit = exchange("Edit", "ok", file_path="keel.py", old_string="a", new_string="b")
    commit = exchange("bash", "[main 1a2b3c4] Fix\n 1 file", command="git commit -am Fix")
    files = Files(deeds(edit, commit, edit, exchange("bash", "", command="git checkout keel.py")))
    assert [path for path, _ in file_notes(files)] == ["keel.py - changed"]
    assert state_lines(files)["Changed, not committed"] == ""


def test_a_file_that_an_answer_calls_new_is_created() -> None:
    found = deeds(
        exchange("Write", "File created successfully at: src/a.py", file_path="src/a.py"),
        exchange("Edit", "ok", file_path="src/a.py", old_string="x", new_string="y"),
        exchange("Write", "File created successfully at: src/b.py", file_path="src/b.py"),
        exchange("Edit", "ok", file_path="src/c.py", old_string="x", new_string="y"),
    )
    assert [note for note, _ in file_notes(Files(found))] == [
        "src/a.py - created, changed",
        "src/b.py - created",
        "src/c.py - changed",
    ]
