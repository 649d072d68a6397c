"""Sentences: whole units, whatever the language, and cuts between words only."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.statements import Rarity, clip_words, led, units

WORDS = st.lists(st.from_regex(r"[A-Za-zäöüß0-9_./-]{1,30}", fullmatch=True), max_size=60)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "The parser of the mill is mended now. It keeps the last token! Nothing else changed.",
            [
                "The parser of the mill is mended now.",
                "It keeps the last token!",
                "Nothing else changed.",
            ],
        ),
        (
            "Die Prüferin ist Frau Dr. Edda Brinkmann. Der Umzug ist am 14. März 2027.",
            ["Die Prüferin ist Frau Dr. Edda Brinkmann.", "Der Umzug ist am 14. März 2027."],
        ),
        (
            "把重试次数改成三次并且写一个测试来证明它真的有效然后告诉我结果是什么。不要修改数据库结构。",
            [
                "把重试次数改成三次并且写一个测试来证明它真的有效然后告诉我结果是什么。",
                "不要修改数据库结构。",
            ],
        ),
        ("Use version 2.1 of e.g. Redis for src/app.py today.", None),
        ("I ran go test ./... Then go vet ./... and both pass.", None),
        (
            "<role>\nYou review changes.\n</role>\n\n<b>Bold</b> stays.",
            [
                "You review changes.",
                "<b>Bold</b> stays.",
            ],
        ),
    ],
)
def test_a_text_is_parted_where_its_sentences_end(text: str, found: list[str] | None) -> None:
    assert units(text) == (found or [text])


def test_items_and_rows_are_units_and_what_announces_them_is_joined_to_the_first() -> None:
    text = "Changes:\n\n- **retry** is configurable now\n- the default is 3\n\n|---|---|\n| a | b |"
    assert units(text) == [
        "Changes: retry is configurable now",
        "the default is 3",
        "a | b",
    ]


def test_a_short_sentence_before_a_rule_does_not_hide_the_rule() -> None:
    assert units("Set up the billing service. Never touch the schema.") == [
        "Set up the billing service.",
        "Never touch the schema.",
    ]


def test_a_short_acknowledgement_is_joined_to_what_it_begins() -> None:
    assert led(units("Done. The parser keeps the last token.")) == [
        "Done. The parser keeps the last token."
    ]


def test_a_short_block_of_code_is_one_unit() -> None:
    text = "Run this to see it:\n```bash\nmake test\nmake lint\n```\nIt takes a minute."
    assert "`make test make lint`" in " ".join(units(text))


def test_a_sentence_that_was_wrapped_is_one() -> None:
    text = (
        "1. The pump is started twice where two of its valves report a pressure at once,\n"
        "   which is harmless. A note in the manual for whoever adds a third valve later on\n"
        "   would help.\n"
        "short line\n"
        "another line"
    )
    assert units(text) == [
        "1. The pump is started twice where two of its valves report a pressure at once, which is"
        " harmless.",
        "A note in the manual for whoever adds a third valve later on would help.",
        "short line",
        "another line",
    ]


def test_lines_that_are_full_were_wrapped_whatever_they_end_and_begin_with() -> None:
    text = (
        "1. The pump is started twice where two of its valves report a pressure at once in\n"
        "  Pump.start. A test proves that the second valve waits but doesn't look at the\n"
        "  Valve.pressure. With the new gauge, a small check that it is read from `gauge.kt`\n"
        "  and not from the manual would hold the contract.\n"
        "2. The manual names no valve at all.\n"
        "- a list of things that each have a line of about the same length, as this\n"
        "- Another item of it"
    )
    assert units(text) == [
        "1. The pump is started twice where two of its valves report a pressure at once in"
        " Pump.start.",
        "A test proves that the second valve waits but doesn't look at the Valve.pressure.",
        "With the new gauge, a small check that it is read from `gauge.kt` and not from the manual"
        " would hold the contract.",
        "2. The manual names no valve at all.",
        "a list of things that each have a line of about the same length, as this",
        "Another item of it",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The retry of the upload is a setting now\nThe parser keeps the last token of a file",
        "Mended the retry of the upload\nAdded a setting for it, which the manual now names too\n"
        "Removed the old flag from the command line",
        "\n".join(
            [
                "把重试次数改成三次并且写一个测试来证明它真的有效然后告诉我结果是什么再看看手册里写了什么没有"
            ]
            * 4
        ),
        "see https://mill.example/a-long-address-of-one-line/which-is-long\nPort 8787",
    ],
)
def test_lines_that_are_not_full_stand_alone(text: str) -> None:
    assert units(text) == text.split("\n")


def test_a_long_text_without_paragraphs_is_read_in_time() -> None:
    line = "The pump of the mill is started twice where two valves report at once, and then"
    begun = time.process_time()
    units(f"{line}\n" * 2_000)
    assert time.process_time() - begun < 2


def test_nothing_has_no_units() -> None:
    assert units("") == units(" \n\n ") == units("---\n***") == []


@given(st.text(max_size=600))
def test_every_word_of_a_unit_was_in_the_text(text: str) -> None:
    bare = "".join(text.split())
    for unit in units(text):
        assert unit
        assert "\n" not in unit
        assert set("".join(unit.split())) <= set(bare) | set(":`")


@given(WORDS)
def test_no_word_is_lost_or_cut_when_a_text_is_parted(words: list[str]) -> None:
    text = " ".join(words)
    assert set(" ".join(units(text)).split()) <= set(words)


@given(st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=30), min_size=1, max_size=300))
def test_all_words_of_plain_prose_are_told(words: list[str]) -> None:
    assert " ".join(units(" ".join(words))).split() == words


@given(WORDS, st.integers(2, 200))
def test_words_are_cut_between_words_within_their_width(words: list[str], width: int) -> None:
    text = " ".join(words)
    short = clip_words(text, width)
    assert len(short) <= width
    if short != text:
        assert short.endswith("…")
        kept = short.removesuffix("…").split()
        # The signs that join words are layout at an end.
        assert kept[:-1] == words[: max(len(kept) - 1, 0)]
        assert not kept or words[len(kept) - 1].rstrip(" ,;:-") == kept[-1]


def test_a_name_that_does_not_fit_is_left_out_rather_than_halved() -> None:
    address = "https://example.org/" + "a" * 100
    assert clip_words(f"see {address}", 60) == "see…"
    assert clip_words("word " * 20 + address, 110) == ("word " * 20).strip() + "…"


def test_chinese_is_cut_between_characters() -> None:
    assert clip_words("把重试次数改成三次并且写一个测试", 8) == "把重试次数改成…"


def test_an_endless_word_is_no_unit_and_hides_nothing() -> None:
    assert units("x" * 5_000) == []
    told = " ".join(units(f"before it {'x' * 5_000} and after it"))
    assert told == "before it and after it"


def test_names_and_rare_words_hold_more_than_common_ones() -> None:
    common = ["we will see what there is to see"] * 30
    rarity = Rarity([*common, "The port of the staging ledger is 8787."])
    assert rarity.density("The port of the staging ledger is 8787.") > rarity.density(common[0])
    assert rarity.density("...") == rarity.density("") == 0.0


@given(st.lists(st.text(max_size=80), max_size=8), st.text(max_size=200))
def test_what_a_unit_holds_is_never_negative_and_bounded(told: list[str], unit: str) -> None:
    assert 0.0 <= Rarity(told).density(unit) <= 2.0


@pytest.mark.parametrize("text", ["word and more words ", "A. ", "x", "```\n", "- a\n", "。", "`"])
def test_a_text_of_megabytes_is_parted_at_once(text: str) -> None:
    started = time.process_time()
    units(text * (8_000_000 // len(text)))
    assert time.process_time() - started < 2


def test_the_head_of_a_table_is_told_with_its_first_rows() -> None:
    table = "| Metric | Ours |\n|---|---|\n| lines | 627 |\n| files | 6 |"
    assert units(f"{table}\nAll match.") == ["Metric | Ours: lines | 627; files | 6", "All match."]


def test_a_long_table_goes_on_in_rows_of_their_own() -> None:
    rows = [f"| part {at} | {'words ' * 20}|" for at in range(6)]
    first, *rest = units("\n".join(["| Part | Told |", "|---|---|", *rows]))
    assert first.startswith("Part | Told: part 0 | words")
    assert len(first) < 420
    assert rest[-1].startswith("part 5 | words")


def test_a_short_block_of_code_is_told_with_what_announces_it() -> None:
    block = "Committed the change to the mill:\n\n```\n" + "0975fbe Mend the mill " * 6 + "\n```"
    (unit,) = units(block)
    assert unit.startswith("Committed the change to the mill: `0975fbe Mend the mill")


def test_items_keep_the_numbers_that_users_answer_with() -> None:
    assert units("Next steps:\n1. Mend the mill.\n2) Count the boats.") == [
        "Next steps: 1. Mend the mill.",
        "2) Count the boats.",
    ]
