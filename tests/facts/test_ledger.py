"""The ledger: what it lists, how it is laid out, and that it never exceeds its budget."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts import Evidence, Fact, Kind, ledger


def evidence(kind: Kind, text: str, first: int = 0) -> Evidence:
    return Evidence(Fact(kind, text), first, first)


def test_facts_are_grouped_by_kind_paths_by_place_and_names_by_where_they_came_up() -> None:
    ranked = [
        evidence(Kind.IDENTIFIER, "later_name", 9),
        evidence(Kind.PATH, "src/b.py"),
        evidence(Kind.COMMAND, "pytest -q (exit 1)", 3),
        evidence(Kind.IDENTIFIER, "early_name", 2),
        evidence(Kind.PATH, "src/a.py"),
        evidence(Kind.COMMAND, "ls", 1),
    ]
    assert ledger(ranked, present="", budget=1_000, count=len) == (
        "Paths: src/a.py src/b.py\n"
        "Names: early_name later_name\n"
        "Commands:\n"
        "- ls\n"
        "- pytest -q (exit 1)"
    )


def test_what_is_present_is_not_listed() -> None:
    ranked = [evidence(Kind.IDENTIFIER, "known_name"), evidence(Kind.IDENTIFIER, "lost_name")]
    listed = ledger(ranked, present="we have known_name", budget=1_000, count=len)
    assert listed == "Names: lost_name"


def test_a_fact_inside_a_longer_one_is_not_listed_whichever_came_first() -> None:
    ranked = [
        evidence(Kind.PATH, "b.py"),
        evidence(Kind.PATH, "/a/b.py"),
        evidence(Kind.PATH, "a/b.py"),
    ]
    assert ledger(ranked, present="", budget=1_000, count=len) == "Paths: /a/b.py"


def test_the_best_ranked_facts_win_when_room_is_short() -> None:
    ranked = [evidence(Kind.IDENTIFIER, f"name_{number}") for number in range(100)]
    assert ledger(ranked, present="", budget=30, count=len) == "Names: name_0 name_1 name_2"


def test_nothing_is_written_when_nothing_fits() -> None:
    assert ledger([evidence(Kind.PATH, "src/a.py")], present="", budget=5, count=len) == ""
    assert ledger([], present="", budget=100, count=len) == ""


@given(
    st.lists(
        st.tuples(st.sampled_from(Kind), st.text(min_size=1, max_size=30)), max_size=40, unique=True
    ),
    st.integers(0, 400),
)
def test_a_ledger_never_exceeds_its_budget(facts: list[tuple[Kind, str]], budget: int) -> None:
    ranked = [evidence(kind, text) for kind, text in facts]
    assert len(ledger(ranked, present="", budget=budget, count=len)) <= budget


@given(st.lists(st.from_regex(r"[a-z_]{4,12}", fullmatch=True), max_size=30, unique=True))
def test_with_room_for_all_every_fact_stands_in_it(texts: list[str]) -> None:
    ranked = [evidence(Kind.IDENTIFIER, text) for text in texts]
    listed = ledger(ranked, present="", budget=10_000, count=len)
    assert all(text in listed for text in texts)
