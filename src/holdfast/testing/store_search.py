"""What a store must find: words, phrases, beginnings and parts, what fits best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ports import Capability
from holdfast.recall import Filters, MatchTier
from holdfast.session import Draft, Session
from holdfast.testing.store_case import FIRST, SECOND, StoreCase, cases_of, drafts, said
from holdfast.transcript import Message, Role, Text, ToolResult

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.ports import Store

__all__ = ["SearchCases"]

_TEXTS = (
    "The deployment of the billing service failed on Tuesday",
    "we went to the harbour and bought three lobsters",
    "rotate max_retries in src/retry_policy.py, then run make check",
    "naïve café, C# and C++ are not C",
    "今日は港で魚を買いました",
    "the failed tests of the billing team were run twice",
)
_QUERIES = {
    "lobster": [2],
    "Deploy": [1],
    '"billing service"': [1],
    "billing": [1, 6],
    "harb*": [2],
    "retry_pol": [3],
    "max_retries": [3],
    "cafe": [4],
    "C#": [4],
    "魚": [5],
    "billing NOT tests": [1],
    "lobsters OR 今日": [2, 5],
    "where did we purchase the lobsters?": [2],
    "elephant": [],
    '"service billing"': [],
}
"""What must be found, by position, in whatever order."""


@cases_of(Capability.SEARCH)
class SearchCases(StoreCase):
    """Search: what was said is found by its words, however it is asked for."""

    def test_a_query_finds_what_it_says(self, tmp_path: Path) -> None:
        """By words and their forms, phrases, beginnings, parts, operators and questions."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts(*_TEXTS))
            for query, expected in _QUERIES.items():
                hits = store.search(query, Filters(), limit=len(expected) or 1, now=9_000)
                assert sorted(hit.position for hit in hits) == expected, query

    def test_what_fits_better_comes_first(self, tmp_path: Path) -> None:
        """All the words, then words within longer ones, then some of them."""
        with self.opened(tmp_path) as store:
            store.append(
                FIRST, drafts("a red kite flew", "the kitesurfer is red", "a kite is blue", "dusk")
            )
            hits = store.search("red kite", Filters(), limit=4, now=9_000)
            assert [(hit.position, hit.tier) for hit in hits] == [
                (1, MatchTier.WORDS),
                (2, MatchTier.PARTS),
                (3, MatchTier.SOME),
            ]

    def test_filters_narrow_a_search(self, tmp_path: Path) -> None:
        """By source, session, lineage, model, role and time."""
        with self.opened(tmp_path) as store:
            store.create(Session(id=SECOND, source="import:pi", started=5_000, model="m"))
            store.append(FIRST, [said("a walrus", 2_000)])
            message = Message(Role.ASSISTANT, (Text("a walrus"),))
            store.append(SECOND, [Draft(message=message, at=6_000)])
            for filters in (
                Filters(sources=("import:",)),
                Filters(exclude_sources=("cli",)),
                Filters(sessions=(SECOND,)),
                Filters(lineages=(SECOND,)),
                Filters(exclude_lineages=(FIRST,)),
                Filters(models=("m",)),
                Filters(roles=(Role.ASSISTANT,)),
                Filters(since=5_500),
            ):
                assert _sessions(store, filters) == [SECOND], filters
            assert _sessions(store, Filters(until=3_000)) == [FIRST]
            assert sorted(_sessions(store, Filters())) == [FIRST, SECOND]

    def test_what_is_appended_is_found_at_once(self, tmp_path: Path) -> None:
        """In any session, the whole text of what was shortened too; what is derived is not."""
        whole = Message(Role.TOOL, (ToolResult("c", (Text("the zebrafish of the matter"),)),))
        short = Message(Role.TOOL, (ToolResult("c", (Text("…"),)),))
        with self.opened(tmp_path) as store:
            store.create(Session(id=SECOND, source="cli", started=1))
            (one,) = store.append(FIRST, drafts("a giraffe appears"))
            (other,) = store.append(SECOND, [Draft(message=short, at=1, whole=whole)])
            self.compact(store, FIRST, [said("summary of the giraffe")])

            def found(query: str) -> list[tuple[int, str]]:
                hits = store.search(query, Filters(), limit=9, now=10_000)
                return [(hit.message_id, hit.session_id) for hit in hits]

            assert found("giraffe") == [(one.id, FIRST)]
            assert found("zebrafish") == [(other.id, SECOND)]
            assert found("elephant") == []

    def test_any_query_has_an_answer(self, tmp_path: Path) -> None:
        """Punctuation is never an error."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, [said("half a pair \ud83d and words")])
            for query in ("", "\0", "\ud83d", '"', "don't", "NEAR(", "a" * 9_999):
                assert len(store.search(query, Filters(), limit=5, now=1)) <= 1


def _sessions(store: Store, filters: Filters) -> list[str]:
    return [hit.session_id for hit in store.search("walrus", filters, limit=9, now=10_000)]
