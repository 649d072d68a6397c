from holdfast.summary.condense import condensed


def test_old_actions_become_one_line_with_their_numbers() -> None:
    entries = ["1. RAN a", "2. READ b", "3. RAN c", "4. Wrote the e-mail"]
    assert condensed(entries) == "4. CONDENSED 1-4 - RAN 2, READ 1, other 1"


def test_condensing_again_adds_up_and_never_nests() -> None:
    entries = ["4. CONDENSED 1-4 - RAN 2, READ 1, other 1", "5. RAN d", "9. SEARCHED e"]
    assert condensed(entries) == "9. CONDENSED 1-9 - RAN 3, READ 1, other 1, SEARCHED 1"


def test_a_condensed_line_that_a_model_changed_is_still_an_action() -> None:
    assert condensed(["4. CONDENSED some things", "5. RAN d"]) == "5. CONDENSED 1-5 - RAN 1"
