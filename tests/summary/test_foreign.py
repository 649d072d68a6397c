from holdfast.summary.foreign import adopt
from holdfast.summary.record import Record

SUMMARY = """<summary>
Some words first.

## Goal
Build the billing service

## Progress
### Done
- [x] schema
### In Progress
- [ ] retries
### Blocked
(none)

## Key Decisions
- **PostgreSQL**: transactions

## Next Steps
1. write tests

## Weather
- rain
</summary>"""


def test_the_headings_of_other_systems_find_their_sections() -> None:
    assert adopt(SUMMARY, "pi") == Record(
        goal=("Build the billing service",),
        actions=("1. [x] schema",),
        in_progress=("[ ] retries",),
        decisions=("**PostgreSQL**: transactions",),
        remaining=("write tests",),
        critical=("Summary by pi: Some words first.", "Weather: rain"),
    )


def test_a_record_of_ours_is_read_as_one() -> None:
    text = "## Goal\n- g\n## Blocked\n- b\n## Active State\n- s"
    assert adopt(text, "hermes") == Record(goal=("g",), blocked=("b",), state=("s",))
