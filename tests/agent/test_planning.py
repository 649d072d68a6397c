"""The plan tool says how far a plan is, and refuses what is none."""

import pytest

from holdfast.agent import Plan, ToolFailed
from holdfast.transcript.effects import Family, family


def test_a_plan_is_answered_with_how_far_it_is() -> None:
    items = [
        {"content": "read", "status": "completed"},
        {"content": "write", "status": "in_progress"},
    ]
    assert Plan().run({"items": items}) == "1 of 2 done; next: write"
    assert Plan().run({"items": items[:1]}) == "1 of 1 done"


@pytest.mark.parametrize("arguments", [{}, {"items": []}, {"items": "read"}, {"items": [{}]}])
def test_what_lists_nothing_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ToolFailed, match="items is missing"):
        Plan().run(arguments)


def test_its_name_is_one_that_the_live_state_reads() -> None:
    assert family(Plan().spec.name) is Family.PLAN
    assert Plan().needs_approval({}) == ""
