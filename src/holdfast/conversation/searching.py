"""`session_search`: one function with five shapes, for models, programs and people.

Past conversations are search results, not context: a model gets the few pieces that matter, in a
budget of tokens. What stands in its window already is not repeated, and what was compacted away
can be found from the very session that lost it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias, Unpack, cast

from holdfast.conversation.live import current_session
from holdfast.conversation.search_runner import SearchRunner
from holdfast.conversation.window import NOWHERE, presence_of
from holdfast.errors import HoldfastError, UnknownSession
from holdfast.keywords import names_checked
from holdfast.ports import Store
from holdfast.recall.arguments import SearchArguments, read_arguments, session_search_tool
from holdfast.recall.shapes import fitted, written
from holdfast.recall.values import Asked, Browse, Discovery, Inside, Read, Scroll, Wrong, moment
from holdfast.tokens import Estimator
from holdfast.wire.json_text import arguments_in

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from holdfast.ports import Clock
    from holdfast.recall.arguments import ToolStyle
    from holdfast.recall.shapes import Result
    from holdfast.tokens import Counter

OpenProfile: TypeAlias = Callable[[str], Store]
"""Opens the store of another profile for reading; an unknown name is a `ConfigError`."""

_BROWSE = "call session_search without arguments to see recent conversations"


@names_checked
class SessionSearch:
    """Searches a store on behalf of a session.

    ```python
    search = holdfast.SessionSearch(chat.store, chat.live.deps.clock, session_id=chat.id)
    search.session_search(query="billing port")
    ```
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        session_id: str | None = None,
        budget: int | None = None,
        open_profile: OpenProfile | None = None,
        profiles: Sequence[str] = (),
    ) -> None:
        """Join the parts.

        Args:
            store: Where the sessions are.
            clock: Tells what is recent.
            session_id: The session that asks; by default the current one of the context.
            budget: Tokens that a result may take; by default 2,500 for passages of one
                conversation and 4,000 for everything else.
            open_profile: How other profiles are opened; without it there are none.
            profiles: Their names, which the tool offers.
        """
        self._store = store
        self._clock = clock
        self._session_id = session_id
        self._budget = budget
        self._counter: Counter = Estimator()
        self._open_profile = open_profile
        self._profiles = profiles

    def session_search(self, **arguments: Unpack[SearchArguments]) -> dict[str, object]:
        """Search past conversations; the arguments decide the shape of the result.

        `query` finds conversations, with `session_id` the passages of one that answer it best,
        `around_message_id` shows the messages around one, `session_id` alone reads a conversation,
        and nothing lists the recent ones. What is wrong with the arguments is said under `error`;
        nothing is raised.
        """
        return self._answer(cast("Mapping[str, object]", arguments))

    def tool(self, style: ToolStyle = "openai") -> dict[str, object]:
        """Return the tool that a model calls this search by; it offers the profiles there are."""
        return session_search_tool(style, profiles=self._profiles)

    def call(self, arguments: Mapping[str, object] | str | None = None) -> str:
        """Return the result of a tool call as the text that answers it.

        Args:
            arguments: What the model wrote: a mapping, or the JSON text of one.
        """
        given: object = arguments_in(arguments) if isinstance(arguments, str) else arguments or {}
        if not isinstance(given, Mapping):
            return written(_wrong("the arguments are not a JSON object; call again with one"))
        return written(self._answer(cast("Mapping[str, object]", given)))

    def ask(self, asked: Asked) -> dict[str, object]:
        """Answer a question that was put together by a program."""
        try:
            result = self.look(asked)
        except UnknownSession as error:
            return _wrong(f"{error}; {_BROWSE}")
        except HoldfastError as error:
            return _wrong(str(error))
        if isinstance(result, Wrong):
            return _wrong(result.problem)
        return fitted(result, self._budget, self._counter)

    def look(self, asked: Asked) -> Result | Wrong:
        """Return what is asked for as a value, for programs that show it in their own way.

        Raises:
            HoldfastError: when there is no such session, message or profile.
        """
        with self._place(asked) as place:
            return place.answer(asked)

    def _answer(self, given: Mapping[str, object]) -> dict[str, object]:
        asked = read_arguments(given, self._moment)
        return _wrong(asked.problem) if isinstance(asked, Wrong) else self.ask(asked)

    @contextmanager
    def _place(self, asked: Asked) -> Generator[_Place]:
        """Lend the store to look into; another profile's is closed afterwards."""
        now = self._clock.moment()
        if not asked.profile:
            id_ = self._session_id or current_session()
            current = presence_of(self._store, id_)
            yield _Place(SearchRunner(self._store, now, current, shows_all=asked.include_current))
            return
        if self._open_profile is None:
            yield _Place(None)
            return
        store = self._open_profile(asked.profile)
        try:
            yield _Place(SearchRunner(store, now, NOWHERE, shows_all=True))
        finally:
            store.close()

    def _moment(self, text: str, end: bool) -> int | None:  # noqa: FBT001 - a callback's shape
        now = datetime.fromtimestamp(self._clock.moment() / 1000).astimezone()
        try:
            found = moment(text, now, end=end)
            return None if found is None else round(found.timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            return None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where to look; None when there is no such place."""

    runner: SearchRunner | None

    def answer(self, asked: Asked) -> Result | Wrong:
        """Return what was asked for."""
        if self.runner is None:
            return Wrong("other profiles cannot be opened here; leave out profile")
        match asked.shape:
            case Discovery():
                return self.runner.discovery(asked.shape)
            case Inside():
                return self.runner.inside(asked.shape)
            case Scroll():
                return self.runner.scroll(asked.shape)
            case Read(session_id):
                return self.runner.read(session_id)
            case Browse():
                return self.runner.browse(asked.shape)


def _wrong(problem: str) -> dict[str, object]:
    return {"error": problem}
