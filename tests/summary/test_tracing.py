from holdfast.summary.tracing import Said, stems


def test_quotations_are_found_but_for_case_and_blank_space() -> None:
    said = Said(["Fix  the\nLogin page"])
    assert said.holds("fix the login")
    assert not said.holds("fix the logout")


def test_a_claim_without_meaningful_words_cannot_be_refuted() -> None:
    assert Said(["x"]).overlap("the user") == 1.0


def test_words_from_different_messages_do_not_add_up() -> None:
    said = Said(["check the production database", "rename the staging cluster"])
    assert said.overlap("rename production database cluster") == 0.5


def test_a_weighty_word_needs_one_of_its_kind() -> None:
    said = Said(["remove the old logs", "look at the production database"])
    assert said.overlap("delete the old logs") == 2 / 3
    assert said.overlap("delete the production database") == 0.0
    assert said.resembles("delete the production database") == 2 / 3


def test_a_long_paste_does_not_support_everything() -> None:
    paste = " ".join(f"word{index}" for index in range(60_000))
    assert Said([paste]).overlap("word1 word900 word59990") < 0.5


def test_scripts_without_spaces_are_compared_by_pairs() -> None:
    assert stems("改成三次") == {"改成", "成三", "三次"}
    assert stems("好") == {"好"}
