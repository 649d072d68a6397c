from bench.windows import fitted, stand_together, window_text

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
MESSAGES: list[dict[str, object]] = [
    {"role": "user", "content": "look"},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "found"}]},
    {"role": "assistant", "content": None},
]


def test_a_windows_text_has_roles_words_calls_and_results() -> None:
    assert window_text(MESSAGES) == "\n".join(
        [
            "user: look",
            "assistant: I look.",
            'assistant calls read {"path": "a"}',
            "tool: found",
        ]
    )


def test_a_fitted_window_is_as_large_as_its_size_allows_and_no_larger() -> None:
    talk: list[dict[str, object]] = [
        {"role": role, "content": f"Point {number}: the lamp of pier {number} is repaired by noon."}
        for number in range(200)
        for role in ("user", "assistant")
    ]
    small, large = (len(window_text(fitted(talk, size))) for size in (4_000, 8_000))
    assert 2_000 < small <= 4_000 < large <= 8_000


def test_things_stand_together_when_one_stretch_has_them_all() -> None:
    assert stand_together([[0, 900], [950]], span=100)
    assert not stand_together([[0, 900], [1_001]], span=100)
    assert not stand_together([[5], []], span=100)


def test_of_other_things_a_stretch_needs_only_enough() -> None:
    others = [[20], [40], [500]]
    assert stand_together([[10]], span=100, others=others, fewest=2)
    assert not stand_together([[10]], span=100, others=others, fewest=3)
