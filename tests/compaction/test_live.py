"""Live state: read from events, rendered and read back the same."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.live import LiveState, PlanItem, observe, read_live, render_live
from holdfast.testing.builders import assistant, call, tool
from holdfast.transcript.toolkit import Toolkit

KIT = Toolkit()
lines = (
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Cs"]),
        min_size=1,
        max_size=30,
    )
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)


def planned(name: str, **arguments: object) -> tuple[object, ...]:
    return (assistant("", call("p", name, json.dumps(arguments))), tool("p"))


def test_the_newest_plan_wins_whatever_the_agent_calls_it() -> None:
    messages = (
        *planned("TodoWrite", todos=[{"content": "old", "status": "pending"}]),
        *planned(
            "update_plan",
            plan=[
                {"step": "write tests", "status": "completed"},
                {"step": "ship", "status": "in_progress"},
            ],
        ),
    )
    assert observe(messages, KIT, LiveState()).plan == (  # type: ignore[arg-type]
        PlanItem("write tests", "completed"),
        PlanItem("ship", "in_progress"),
    )


def test_a_sub_agent_runs_until_its_call_is_answered() -> None:
    started = assistant("", call("t", "Task", '{"description": "audit the schema"}'))
    assert observe((started,), KIT, LiveState()).agents == ("audit the schema",)
    assert observe((started, tool("t")), KIT, LiveState()).agents == ()


def test_a_background_process_and_a_skill_are_remembered() -> None:
    messages = (
        assistant("", call("b", "Bash", '{"command": "npm run dev", "run_in_background": true}')),
        tool("b"),
        assistant("", call("s", "Skill", '{"skill": "release"}')),
        tool("s"),
    )
    state = observe(messages, KIT, LiveState())
    assert state.processes == ("npm run dev",)
    assert state.skills == ("release",)


def test_a_process_is_gone_once_it_was_killed() -> None:
    messages = (
        assistant("", call("b", "Bash", '{"command": "npm run dev", "run_in_background": true}')),
        tool("b", "Command running in background with ID: bash_7"),
        assistant("", call("c", "Bash", '{"command": "make watch", "run_in_background": true}')),
        tool("c", "Command running in background with ID: bash_8"),
        assistant("", call("k", "KillShell", '{"shell_id": "bash_7"}')),
        tool("k"),
    )
    assert observe(messages, KIT, LiveState()).processes == ("make watch",)


def test_only_the_newest_of_many_processes_are_listed() -> None:
    messages = tuple(
        assistant("", call(f"b{n}", "Bash", f'{{"command": "run {n}", "run_in_background": true}}'))
        for n in range(600)
    )
    processes = observe(messages, KIT, LiveState()).processes
    assert (len(processes), processes[-1]) == (20, "run 599")


def test_sub_agents_that_were_observed_show_where_the_host_says_nothing() -> None:
    seen = LiveState(agents=("audit the schema",), approvals=("deploy",))
    assert LiveState(goal="g").over(seen) == LiveState(
        goal="g", agents=("audit the schema",), approvals=("deploy",)
    )


def test_broken_arguments_and_odd_plans_change_nothing() -> None:
    messages = (
        assistant("", call("a", "TodoWrite", "not json")),
        assistant("", call("b", "TodoWrite", '{"todos": [7, {"status": "done"}]}')),
        assistant("", call("c", "TodoWrite", '["a"]')),
    )
    assert observe(messages, KIT, LiveState(goal="g")) == LiveState(goal="g")


def test_plan_items_may_be_plain_words() -> None:
    (written, _) = planned("todo", todos=["one", {"text": "two", "done": True}])
    assert observe((written,), KIT, LiveState()).plan == (PlanItem("one"), PlanItem("two", "done"))  # type: ignore[arg-type]


def test_what_the_host_reports_covers_what_was_observed() -> None:
    host = LiveState(goal="ship", rules=("never touch the schema",))
    seen = LiveState(goal="old", directory="/srv", processes=("server",))
    assert host.over(seen) == LiveState(
        goal="ship", rules=("never touch the schema",), directory="/srv", processes=("server",)
    )


def test_a_state_renders_as_readable_lines() -> None:
    state = LiveState(
        goal="ship 1.0",
        rules=("never touch the schema", "one commit per fix"),
        plan=(PlanItem("a", "completed"), PlanItem("b")),
        branch="main",
    )
    assert render_live(state) == "\n".join(
        [
            "- Goal: ship 1.0",
            "- Rule: never touch the schema",
            "- Rule: one commit per fix",
            "- Branch: main",
            "- Plan: 1 of 2 done",
            "  - [completed] a",
            "  - [pending] b",
        ]
    )


def test_a_rule_of_several_lines_stays_word_for_word() -> None:
    state = LiveState(rules=("never:\n  - touch the schema\n\n- Goal: not a goal", "be kind"))
    assert read_live(render_live(state)) == state


@given(
    st.builds(
        LiveState,
        goal=lines,
        rules=st.lists(lines, max_size=3).map(tuple),
        processes=st.lists(lines, max_size=3).map(tuple),
        plan=st.lists(
            st.builds(PlanItem, lines, st.sampled_from(["pending", "completed", "in_progress"])),
            max_size=3,
        ).map(tuple),
        directory=lines,
    )
)
def test_a_rendered_state_reads_back_the_same(state: LiveState) -> None:
    assert read_live(render_live(state)) == state


def test_finished_steps_that_are_not_listed_stay_counted() -> None:
    state = LiveState(plan=(PlanItem("ship", "pending"),), finished=7)
    assert render_live(state) == "- Plan: 7 of 8 done\n  - [pending] ship"
    assert read_live(render_live(state)) == state
    assert read_live("- Plan: 3 of 3 done") == LiveState(finished=3)


def test_only_a_plan_that_is_written_anew_forgets_how_many_steps_were_finished() -> None:
    before = LiveState(plan=(PlanItem("#4 ship", "pending"),), finished=3)
    changed = observe(planned("TaskUpdate", taskId="4", status="completed"), KIT, before)  # type: ignore[arg-type]
    assert (changed.plan, changed.finished) == ((PlanItem("#4 ship", "completed"),), 3)
    written = planned("TodoWrite", todos=[{"content": "go", "status": "pending"}])
    anew = observe(written, KIT, before)  # type: ignore[arg-type]
    assert (anew.plan, anew.finished) == ((PlanItem("go", "pending"),), 0)


def test_a_plan_that_is_observed_again_after_a_fold_is_counted_once() -> None:
    done = {str(number): "completed" for number in range(1, 5)}
    said = [
        message
        for number in range(1, 6)
        for message in (
            assistant("", call(f"c{number}", "TaskCreate", f'{{"subject": "Step {number}"}}')),
            tool(f"c{number}", f"Task #{number} created successfully"),
        )
    ]
    for number, status in done.items():
        said += planned("TaskUpdate", taskId=number, status=status)  # type: ignore[arg-type]
    first = observe(said, KIT, LiveState())
    assert render_live(first).startswith("- Plan: 4 of 5 done")
    assert observe(said, KIT, first).plan == first.plan
    short = LiveState(plan=(PlanItem("#5 Step 5"),), finished=4)
    assert render_live(observe(said, KIT, short)) == render_live(short)
    dropped = planned("TaskUpdate", taskId="5", status="deleted")
    assert observe(dropped, KIT, short).plan == ()  # type: ignore[arg-type]
