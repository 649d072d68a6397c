"""What a summary says beside its record."""

import holdfast

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
    assert "[pending] step 90 of a long plan" in found
