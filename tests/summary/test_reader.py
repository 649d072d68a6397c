import time

from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.reader import adopt, read, reading
from holdfast.summary.record import HEADINGS, Record, render
from tests.summary.material import records


@given(records())
def test_what_is_written_reads_back(record: Record) -> None:
    text = render(record)
    assert read(text) == record
    assert list(filter(lambda line: line.startswith("#"), text.split("\n"))) == [
        f"## {heading}" for heading in HEADINGS.values()
    ]


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    read(text)


def test_an_empty_record_still_has_thirteen_sections() -> None:
    assert render(Record()).count("None.") == 13
    assert read(render(Record())) == Record()


def test_heading_levels_bold_numbers_and_colons_do_not_matter() -> None:
    text = "\n".join(
        [
            "Here is the record you asked for:",
            "### 1. Historical Task Snapshot:",
            "> fix it",
            "**Goal:**",
            "* ship",
            "# Constraints and Preferences",
            "1) no tabs",
            "2) no emoji",
            "#### Completed Actions ####",
            "1) READ a",
            "2. RAN b",
        ]
    )
    assert read(text) == Record(
        task=("> fix it",),
        goal=("ship",),
        constraints=("no tabs", "no emoji"),
        actions=("1. READ a", "2. RAN b"),
    )


def test_sections_may_be_missing_repeated_and_out_of_order() -> None:
    text = "## Blocked\n- a\n## Goal\n- g\n## Blocked\n- b\n- a\n## Active State\nNone."
    found = reading(text)
    assert found is not None
    assert found.record == Record(goal=("g",), blocked=("a", "b"))
    assert found.present == {"blocked", "goal", "state"}


def test_a_fence_around_the_whole_answer_is_wrapping() -> None:
    body = "## Goal\n- g\n\n## Blocked\n```bash\n## Key Decisions\n```\n\n## Active State\n- s"
    expected = Record(goal=("g",), blocked=("```bash\n## Key Decisions\n```",), state=("s",))
    assert read(f"```markdown\n{body}\n```") == expected
    assert read(f"Sure!\n\n````\n{body}\n````") == expected


def test_a_heading_inside_a_fence_is_code() -> None:
    text = (
        "## Goal\n- g\n```\n## Blocked\n- not blocked\n```\n## Active State\n- s\n## Key Decisions"
    )
    assert read(text) == Record(goal=("g\n```\n## Blocked\n- not blocked\n```",), state=("s",))


def test_a_fence_that_never_closes_swallows_nothing() -> None:
    text = "## Goal\n- g\n```\n## Blocked\n- b\n## Active State\n- s"
    assert read(text) == Record(goal=("g\n```",), blocked=("b",), state=("s",))


def test_headings_that_are_not_ours_are_kept() -> None:
    text = "## Goal\n- g\n### Part\n- p\n## Weather\n- rain\n## Blocked\n- b\n## Key Decisions\n- d"
    assert read(text) == Record(
        goal=("g\n### Part", "p"), blocked=("b",), decisions=("d",), critical=("Weather: rain",)
    )


def test_translated_headings_are_taken_by_their_order() -> None:
    headings = "任务 目标 约束 完成 状态 进行 阻塞 决定 已答 待答 文件 剩余 关键".split()
    text = "\n".join(f"## {each}\n- {each}一" for each in headings)
    found = read(text)
    assert found is not None
    assert (found.task, found.goal, found.critical) == (("任务一",), ("目标一",), ("关键一",))


def test_headings_without_marks_count_when_they_are_ours_to_the_letter() -> None:
    text = "Goal:\nship\n\nBlocked\nno key\n\nActive State:\nmain branch"
    assert read(text) == Record(goal=("ship",), blocked=("no key",), state=("main branch",))


def test_thinking_before_the_answer_is_not_part_of_it() -> None:
    text = (
        "<think>\n## Goal\n- draft\n</think>\n## Goal\n- g\n## Blocked\n- b\n## Active State\n- s"
    )
    assert read(text) == Record(goal=("g",), blocked=("b",), state=("s",))


def test_a_block_of_code_that_is_indented_with_its_section_is_one_entry() -> None:
    text = "3. Current Work:\n   This was mended:\n\n   ```go\n   a := 1\n\n   b := 2\n   ```\n"
    assert adopt(text, "x").state == ("This was mended:\n\n```go\na := 1\n\nb := 2\n```",)


def test_a_line_that_only_says_summary_is_no_entry() -> None:
    text = "Analysis:\n1. It was built.\n\nSummary:\n1. Primary Request and Intent:\n   Build it.\n"
    record = adopt(text, "x")
    assert (record.actions, record.goal, record.critical) == (
        ("1. It was built.",),
        ("Build it.",),
        (),
    )


def test_what_a_foreign_summary_says_of_how_things_stand_is_filed_as_that() -> None:
    found = adopt(
        "Key files modified:\n- pump.c\n\nCurrent state: Built the pump, but:\n1. it leaks\n\n"
        "Problem solving:\n- Solved: the noise\n- In progress: the leak\n\n"
        "Primary request and intent:\n- Mend the pump\n- Latest request: paint it",
        "other",
    )
    assert found == Record(
        goal=("Mend the pump",),
        state=("Built the pump, but:", "it leaks"),
        in_progress=("Latest request: paint it", "In progress: the leak"),
        resolved=("Solved: the noise",),
        files=("pump.c",),
    )


def test_what_a_foreign_summary_tells_twice_of_what_was_done_is_told_once() -> None:
    asked = "can we have a bell that rings before the tide turns?"
    text = f'Analysis:\n1. The user asked "{asked}"\n\nAll user messages:\n- "{asked}"\n- "yes"'
    assert adopt(text, "other").actions == (f'1. The user asked "{asked}"', '3. "yes"')


def test_a_list_that_is_indented_as_a_whole_is_still_a_list() -> None:
    text = "## Goal\n   - a\n     more\n   - b\n## Blocked\n## Active State\n"
    assert read(text) == Record(goal=("a\nmore", "b"))


def test_fewer_than_three_sections_are_told_where_their_headings_belong() -> None:
    assert read("## Goal\n- g\n## Blocked\n- b") == Record(goal=("g",), blocked=("b",))


def test_words_without_headings_are_kept_whole_as_critical_context() -> None:
    assert read("The parser is mended.") == Record(critical=("The parser is mended.",))
    assert read(" \n ") is None


def test_the_work_of_reading_a_foreign_summary_grows_with_its_length() -> None:
    def seconds(count: int) -> float:
        done = (
            f"- mended boat number {at} in the north basin of the harbor" for at in range(count)
        )
        text = "\n".join(("## Completed Actions", *done))
        taken: list[float] = []
        for _ in range(3):
            started = time.process_time()
            adopt(text, "other")
            taken.append(time.process_time() - started)
        return min(taken)

    assert seconds(16_000) < 12 * seconds(4_000)
