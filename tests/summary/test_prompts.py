from holdfast.summary.record import HEADINGS
from holdfast.summary.writing import PromptRequest, prompt_for

REQUEST = PromptRequest(2_500, "2026-09-01", "0a0b0c0d")


def test_a_first_prompt_has_what_a_summarizer_needs_to_know() -> None:
    prompt = prompt_for(REQUEST, "[0a0b0c0d 1 user]\nhello")
    positions = [prompt.index(f"## {heading}\n") for heading in HEADINGS.values()]
    assert positions == sorted(positions)
    for part in ("Today is 2026-09-01", "2,500 tokens", "[REDACTED]", "language that the user"):
        assert part in prompt
    assert prompt.endswith("[0a0b0c0d turns]\n[0a0b0c0d 1 user]\nhello\n[0a0b0c0d end of turns]")
    assert "record so far" not in prompt
    assert "Focus:" not in prompt


def test_an_update_gives_the_record_as_state() -> None:
    prompt = prompt_for(REQUEST, "turns", "## Goal\n[0a0b0c0d 9 user] x", 41)
    assert "[0a0b0c0d record so far]\n## Goal\n[ 9 user] x\n[0a0b0c0d end of record" in prompt
    assert "after 41;" in prompt


def test_a_focus_gets_most_of_the_room() -> None:
    prompt = prompt_for(PromptRequest(2_500, "2026-09-01", "m", focus="database schema"), "t")
    assert "Focus: database schema\nGive 60 to 70 percent" in prompt


def test_chunks_say_which_part_they_are() -> None:
    prompt = prompt_for(PromptRequest(2_500, "2026-09-01", "m", step=2, steps=3), "t")
    assert "This is part 2 of 3." in prompt


def test_a_small_window_gets_short_instructions() -> None:
    short = prompt_for(PromptRequest(300, "2026-09-01", "m", terse=True), "t")
    assert len(short) < len(prompt_for(PromptRequest(300, "2026-09-01", "m"), "t")) / 2
    assert all(f"## {heading}" in short for heading in HEADINGS.values())
