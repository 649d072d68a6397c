"""Searching a real store: what finds what, in which order, and that no query is an error."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.ports import Store
from holdfast.recall import Filters, MatchTier
from holdfast.session import Draft, Session
from holdfast.transcript import Message, Role, Text
from tests.stores.conftest import OpenStore

TEXTS = (
    "I don't know where src/main.py is",
    "mail it to user@example.com please",
    "we use C# and C++ here",
    "the quick brown fox! jumped",
    "我们昨天在东京塔下面吃了拉面",
    "今日は新しい携帯電話を買いました",
    "서울에서 만났습니다 데이터베이스",
    "Café, résumé and Zürich",
    "getUserNameById failed with E4417",
    "holdfast keeps generalizations",
    "Книга лежит на столе, ёлка стоит",
    "Die Rechnungsnummer steht im Vertrag",
)


def drafts(texts: tuple[str, ...], role: Role = Role.USER, at: int = 1_000) -> list[Draft]:
    return [
        Draft(message=Message(role, (Text(text),)), at=at + place, tokens=len(text) // 4 + 1)
        for place, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, open_store: OpenStore) -> Iterator[Store]:
    opened = open_store(tmp_path_factory.mktemp("search") / "store.db")
    opened.create(Session(id="20250101_000000_aaaaaa", source="cli", started=1_000))
    opened.append("20250101_000000_aaaaaa", drafts(TEXTS))
    yield opened
    opened.close()


def found(store: Store, query: str, **filters: object) -> list[str]:
    hits = store.search(query, Filters(**filters), limit=20, now=2_000)  # pyright: ignore[reportArgumentType]
    return [TEXTS[hit.position - 1] for hit in hits]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("don't", 0),
        ("src/main.py", 0),
        ("rc/main.p", 0),
        ("user@example.com", 1),
        ("example.com", 1),
        ("C#", 2),
        ("C++", 2),
        ("fox!", 3),
        ("FOXES", 3),
        ("fo*", 3),
        ('"brown fox"', 3),
        ("quick NOT dog", 3),
        ("(fox OR walrus) AND quick", 3),
        ("quick -walrus", 3),
        ('fox "unbalanced', 3),
        ("东", 4),
        ("东京", 4),
        ("东京塔", 4),
        ("面", 4),
        ("拉面东京", 4),
        ("携帯", 5),
        ("電", 5),
        ("サ OR 電話", 5),
        ("서울", 6),
        ("데이터베", 6),
        ("cafe", 7),
        ("RÉSUMÉ", 7),
        ("zurich", 7),
        ("UserName", 8),
        ("ernam", 8),
        ("e4417", 8),
        ("generaliz*", 9),
        ("ldfas", 9),
        ("елка", 10),
        ("книги", 10),
        ("nummer", 11),
    ],
)
def test_a_query_finds_what_it_says(store: Store, query: str, place: int) -> None:
    assert found(store, query) == [TEXTS[place]]


@pytest.mark.parametrize(
    "query",
    [
        '"fox brown"',
        "fox -quick",
        "walrus",
        "c",
        "!!!",
        "",
        "NOT fox",
        "🦊",
        "NEAR(fox)",
        "text:fox",
    ],
)
def test_a_query_finds_nothing_else(store: Store, query: str) -> None:
    assert [text for text in found(store, query) if "fox" not in text] == []
    assert query in ("NEAR(fox)", "text:fox") or found(store, query) == []


SYNTAX = st.text(alphabet="fox 东京ab()\"*-^:{}+,\0'NEARANDORNOT")


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | SYNTAX)
def test_no_query_is_an_error(store: Store, query: str) -> None:
    hits = store.search(query, Filters(), limit=5, now=2_000)
    assert len({hit.message_id for hit in hits}) == len(hits) <= 5


def test_a_hundred_kilobytes_of_garbage_are_no_error(store: Store) -> None:
    for query in ("a" * 100_000, "(fox OR " * 12_500, '"fox ' * 20_000, "fox-" * 25_000):
        assert len(store.search(query, Filters(), limit=5, now=2_000)) <= 5


def test_a_question_finds_the_answer_beside_its_words(store: Store) -> None:
    hits = store.search("Who saw the quick fox?", Filters(), limit=5, now=2_000)
    assert (hits[0].position, hits[0].tier) == (4, MatchTier.SOME)
    assert {hit.position for hit in hits} == {4, 3, 5, 2, 6}


def test_all_words_come_before_parts_and_parts_before_some(
    tmp_path: Path, open_store: OpenStore
) -> None:
    texts = ("a red panda", "a red pandabear", "a red car", "a panda red")
    with_all = open_store(tmp_path / "store.db")
    with_all.create(Session(id="20250101_000000_aaaaaa", source="cli", started=1))
    with_all.append("20250101_000000_aaaaaa", drafts(texts))
    hits = with_all.search("red panda", Filters(), limit=9, now=2_000)
    with_all.close()
    assert [(hit.position, hit.tier) for hit in hits] == [
        (1, MatchTier.WORDS),
        (4, MatchTier.WORDS),
        (2, MatchTier.PARTS),
        (3, MatchTier.SOME),
    ]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, open_store: OpenStore) -> Iterator[Store]:
    opened = open_store(tmp_path_factory.mktemp("filters") / "store.db")
    for number, (source, model) in enumerate(
        [("cli", "small"), ("api", "large"), ("import:pi", ""), ("subagent", "")]
    ):
        id_ = f"2025010{number + 1}_000000_aaaaaa"
        opened.create(Session(id=id_, source=source, started=number * 1_000, model=model))
        opened.append(id_, drafts(("a fox asks",), at=number * 1_000))
        opened.append(id_, drafts(("a fox answers",), Role.ASSISTANT, at=number * 1_000 + 500))
    opened.trash(["20250104_000000_aaaaaa"], at=9_000)
    yield opened
    opened.close()


ONE, TWO, THREE, FOUR = (f"2025010{number}_000000_aaaaaa" for number in range(1, 5))


@pytest.mark.parametrize(
    ("filters", "sessions"),
    [
        (Filters(), {ONE, TWO, THREE}),
        (Filters(include_trashed=True), {ONE, TWO, THREE, FOUR}),
        (Filters(sources=("cli",)), {ONE}),
        (Filters(sources=("import:",)), {THREE}),
        (Filters(sources=("imp*",)), set[str]()),
        (Filters(exclude_sources=("cli", "import:")), {TWO}),
        (Filters(models=("large",)), {TWO}),
        (Filters(sessions=(ONE, THREE)), {ONE, THREE}),
        (Filters(lineages=(TWO,)), {TWO}),
        (Filters(exclude_lineages=(TWO,)), {ONE, THREE}),
        (Filters(since=1_500), {TWO, THREE}),
        (Filters(until=1_499), {ONE, TWO}),
        (Filters(since=1_000, until=1_000), {TWO}),
        (Filters(sessions=("nobody",)), set[str]()),
        (Filters(roles=(Role.SYSTEM,)), set[str]()),
        (Filters(roles=(Role.USER,), sources=("cli", "api")), {ONE, TWO}),
    ],
)
@pytest.mark.parametrize("query", ["fox", "which fox asks or answers?"])
def test_filters_narrow_every_rung(
    many: Store, query: str, filters: Filters, sessions: set[str]
) -> None:
    hits = many.search(query, filters, limit=20, now=9_000)
    assert {hit.session_id for hit in hits} == sessions
    assert {hit.role for hit in hits} <= set(filters.roles or Role)


def test_a_limit_of_nothing_finds_nothing(store: Store) -> None:
    assert store.search("fox", Filters(), limit=0, now=0) == ()


def test_a_common_word_is_found_in_its_newest_messages_first(
    tmp_path: Path, open_store: OpenStore
) -> None:
    opened = open_store(tmp_path / "store.db")
    opened.create(Session(id=ONE, source="cli", started=0))
    opened.append(ONE, drafts(("walrus fox",), at=0))
    opened.append(ONE, drafts(tuple(f"fox number {each}" for each in range(1_500)), at=10))
    newest = opened.search("fox", Filters(), limit=3, now=2_000)
    rare = opened.search("where is the walrus and the fox", Filters(), limit=1, now=2_000)
    opened.close()
    assert [hit.position for hit in newest] == [1501, 1500, 1499]
    assert [hit.position for hit in rare] == [1]


SHA = "3f9a2b7c81d0e4f5a6b7c8d9e0f1a2b3c4d5e6f7"
NAMES = (
    f"reverted in {SHA} today",
    "we released v1.2.3 of it",
    "call release_schedule and unlease_schedules",
    "mail anna.frost@example.org",
    "mail joanna.frost@example.organization",
    "see backup_log20261107",
    "le cœur, Straße et encyclopaedia",
)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory, open_store: OpenStore) -> Iterator[Store]:
    opened = open_store(tmp_path_factory.mktemp("names") / "store.db")
    opened.create(Session(id="names", source="cli", started=1))
    opened.append("names", drafts(NAMES))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("query", "places"),
    [
        (SHA[:7], [0]),
        (SHA[:12].upper(), [0]),
        (f"reverted {SHA[:7]}", [0]),
        (SHA[:6], []),
        (SHA[3:11], []),
        ("v1.2.3", [1]),
        ("1.2.3", [1]),
        ("2.3", [1]),
        ("lease_sched", [2]),
        ("anna.frost@example.org", [3]),
        ("nna.frost@example.org", [3, 4]),
        ("ackup_log", [5]),
        ("coeur", [6]),
        ("strasse", [6]),
        ("STRASS*", [6]),
        ("encyclopædia", [6]),
        ("clopæd", [6]),
    ],
)
def test_a_part_of_a_name_finds_the_name(names: Store, query: str, places: list[int]) -> None:
    hits = names.search(query, Filters(), limit=9, now=2_000)
    assert sorted(hit.position - 1 for hit in hits) == places


def test_a_question_with_the_beginning_of_a_hash_finds_the_hash(names: Store) -> None:
    question = f"which change does anybody mean by {SHA[:8]}?"
    best, *_ = names.search(question, Filters(), limit=9, now=2_000)
    assert (best.position, best.tier) == (1, MatchTier.SOME)


def test_the_ends_of_a_name_are_tried_in_every_way_when_the_likeliest_find_nothing(
    tmp_path: Path,
    open_store: OpenStore,
) -> None:
    store = open_store(tmp_path / "store.db")
    store.create(Session(id="many", source="cli", started=1))
    letters = "abcdefghij"
    onward = [f"gra{one}{two}{three}" for one in letters for two in letters for three in letters]
    store.append("many", drafts((" ".join(onward), "reduce_grasshopperwings")))
    (hit,) = store.search("duce_gra", Filters(), limit=5, now=2_000)
    store.close()
    assert (hit.position, hit.tier) == (2, MatchTier.PARTS)


def test_common_words_count_in_old_messages_that_have_several_of_them(
    tmp_path: Path, open_store: OpenStore
) -> None:
    store = open_store(tmp_path / "store.db")
    store.create(Session(id="old", source="cli", started=1))
    store.append("old", drafts(("the parcel broke the harbor crane",)))
    store.create(Session(id="new", source="cli", started=1))
    store.append("new", drafts(("about one parcel only", "about one harbor only", "none") * 600))
    hits = store.search("parcel harbor walrus", Filters(), limit=5, now=2_000)
    store.close()
    assert hits[0].session_id == "old"


def test_a_question_looks_past_sources_that_are_left_out(
    tmp_path: Path, open_store: OpenStore
) -> None:
    store = open_store(tmp_path / "store.db")
    for source in ("cli", "subagent"):
        store.create(Session(id=source, source=source, started=1))
    store.append("cli", drafts(("the parcel broke the harbor crane",)))
    store.append("subagent", drafts(("parcel, harbor, crane",) * 700))
    hits = store.search(
        "why would parcel and harbor hurt cranes now ?",
        Filters(exclude_sources=("subagent",)),
        limit=5,
        now=2_000,
    )
    store.close()
    assert [hit.session_id for hit in hits] == ["cli"]
