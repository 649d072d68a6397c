"""What the REST interface takes and gives, as types: requests are checked by them, and described.

What is given is what the view models write as JSON; the types here describe it to others.
"""

# Types are read while the program runs, so that nothing here is imported for a checker alone.
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType

_LONGEST = 1_000
_SAFE = 2**53 - 1
"""The largest whole number that every client can hold."""

Moment = Annotated[
    str,
    Meta(
        description="A moment such as 2026-11-15T09:30:00Z, or how long ago: 7d, 12h, 30m.",
        extra_json_schema={
            "anyOf": [{"format": "date-time"}, {"pattern": r"^[0-9]{1,4}[smhdw]$"}],
            "examples": ["7d"],
        },
    ),
]
Words = Annotated[str, Meta(max_length=_LONGEST)]
Name = Annotated[str, Meta(max_length=100)]
Names = Annotated[list[Name], Meta(max_length=16)]
"""Few and short enough for a request's first line, of which servers read so much and no more."""
Page = Annotated[int, Meta(ge=1, le=200, description="How many to return at most.")]
Offset = Annotated[int, Meta(ge=0, le=1_000_000, description="How many to skip.")]
MessageId = Annotated[int, Meta(ge=1, le=_SAFE, description="The id of a message.")]
Dialect = Literal["openai", "responses", "anthropic", "gemini"]


class Asking(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a request asks for; a name that is not known is an error."""


class NothingAsked(Asking, frozen=True, kw_only=True):
    """Nothing beside the path."""


class ListQuery(Asking, frozen=True, kw_only=True):
    """Which sessions are wanted."""

    source: Annotated[Names, Meta(description="Only sessions from here.")] = []
    since: Moment | UnsetType = UNSET
    until: Moment | UnsetType = UNSET
    title: Annotated[Name, Meta(description="Only titles that hold this.")] = ""
    project: Annotated[Name, Meta(description="The folder it took place in, or one above.")] = ""
    branch: Annotated[Name, Meta(description="The branch it took place on.")] = ""
    file: Annotated[Name, Meta(description="A file that was named in it.")] = ""
    model: Annotated[Name, Meta(description="A part of the model's name.")] = ""
    trash: Annotated[bool, Meta(description="What is in the trash instead.")] = False
    every: Annotated[bool, Meta(description="Each session, not each conversation.")] = False
    limit: Page = 20
    offset: Offset = 0


class ShowQuery(Asking, frozen=True, kw_only=True):
    """How much of a session is shown."""

    scope: Literal["window", "all"] = "window"
    limit: Annotated[int, Meta(ge=0, le=500, description="How many of the newest messages.")] = 20


class MessagesQuery(Asking, frozen=True, kw_only=True):
    """Which messages are wanted, from the first one on."""

    scope: Literal["window", "all"] = "all"
    text: Annotated[bool, Meta(description="Whether all words are given.")] = False
    limit: Page = 50
    offset: Offset = 0


class MessageQuery(Asking, frozen=True, kw_only=True):
    """How a message is shown."""

    whole: Annotated[bool, Meta(description="As it was said, not as shortened.")] = False


class WindowQuery(Asking, frozen=True, kw_only=True):
    """In whose words the window is wanted."""

    format: Dialect = "openai"


class LineageQuery(Asking, frozen=True, kw_only=True):
    """How much of a lineage is shown."""

    views: Annotated[bool, Meta(description="With compactions and rewinds.")] = False


class SearchQuery(Asking, frozen=True, kw_only=True):
    """What is searched for."""

    q: Annotated[str, Meta(min_length=1, max_length=_LONGEST, description="The words.")]
    role: Annotated[list[Literal["system", "user", "assistant", "tool"]], Meta(max_length=16)] = []
    source: Names = []
    model: Names = []
    since: Moment | UnsetType = UNSET
    until: Moment | UnsetType = UNSET
    session: Annotated[Name, Meta(description="Only this conversation.")] = ""
    sort: Literal["relevance", "newest", "oldest"] = "relevance"
    subagents: Annotated[bool, Meta(description="With what sub-agents said.")] = False
    limit: Annotated[int, Meta(ge=1, le=100, description="How many to return at most.")] = 10
    offset: Offset = 0


class EventsQuery(Asking, frozen=True, kw_only=True):
    """What events are wanted."""

    session: Annotated[Name, Meta(description="Only this session.")] = ""


class ImportQuery(Asking, frozen=True, kw_only=True):
    """How what is sent is to be read."""

    format: Annotated[Name, Meta(description="Its format; its content says by default.")] = "auto"


class DeleteQuery(Asking, frozen=True, kw_only=True):
    """What goes with a session."""

    lineage: Annotated[bool, Meta(description="All that came from one another.")] = False


class ForkBody(Asking, frozen=True, kw_only=True):
    """Where a session is to be forked."""

    at: Annotated[MessageId | None, Meta(description="The last message it shares.")] = None
    title: Words = ""
    end_parent: bool = False


class CompressBody(Asking, frozen=True, kw_only=True):
    """How a session is to be compacted."""

    focus: Annotated[Words, Meta(description="What deserves most of the record.")] = ""


class RewindBody(Asking, frozen=True, kw_only=True):
    """How far a session goes back."""

    turns: Annotated[int, Meta(ge=1, le=100_000)] = 1


class GoalBody(Asking, frozen=True, kw_only=True):
    """The goal of a session; an empty one takes it away."""

    goal: Annotated[str, Meta(max_length=20_000)]


class RenameBody(Asking, frozen=True, kw_only=True):
    """The title of a session."""

    title: Words


class PinBody(Asking, frozen=True, kw_only=True):
    """What is pinned, or no longer."""

    message: MessageId
    pinned: bool = True


class UsageFields(TypedDict):
    """What providers reported, added up."""

    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost: float


class SessionFields(TypedDict):
    """A session."""

    id: str
    title: str
    state: str
    source: str
    model: str
    goal: str
    root: str
    parent: str | None
    fork: str | None
    started: str | None
    touched: str | None
    ended: str | None
    end_reason: str | None
    trashed: str | None
    entries: int
    usage: UsageFields
    metadata: dict[str, Any]


class SessionRowFields(SessionFields):
    """A session in a list."""

    sessions: int | None


class SessionList(TypedDict):
    """A page of sessions, the one used last first."""

    sessions: list[SessionRowFields]
    next_offset: int | None


class ForkFields(SessionFields):
    """A session that was forked, and how many messages it shares."""

    messages: int


class EntryFields(TypedDict):
    """A message of the log, with the beginning of its words."""

    id: int
    session: str
    position: int
    role: str
    synthetic: str | None
    summary_by: str | None
    at: str | None
    tokens: int
    pinned: bool
    shortened: bool
    derived: bool
    beginning: str


class MessageFields(EntryFields):
    """A message, with who really speaks."""

    speaker: str


class WholeMessageFields(MessageFields):
    """A message with all of its words."""

    text: str


class MessagePage(TypedDict):
    """A page of messages, the oldest first; `text` is there if it was asked for."""

    session: str
    messages: list[MessageFields]
    total: int
    next_offset: int | None


class CompactionFields(TypedDict):
    """One compaction of a session."""

    at: str | None
    trigger: str
    strategy: str
    focus: str
    duration_ms: float
    report: dict[str, Any]


class CompactionList(TypedDict):
    """Every compaction of a session, the oldest first."""

    session: str
    compactions: list[CompactionFields]


class WindowSize(TypedDict):
    """What fills a window."""

    messages: int
    tokens: int
    context_length: int
    threshold_tokens: int
    kinds: dict[str, int]
    undone: bool


class SessionDetailFields(SessionFields):
    """A session in detail."""

    places: dict[str, Any]
    path: list[str]
    belongs_to: dict[str, Any] | None
    window: WindowSize
    warnings: list[str]
    compactions: list[CompactionFields]
    messages: list[MessageFields]
    messages_left_out: int


class WindowFields(TypedDict):
    """What the model sees now: its size, its messages, and all of it in a provider's words."""

    session: str
    window: WindowSize
    entries: list[MessageFields]
    format: str
    system: Any
    messages: list[dict[str, Any]]


class DiffFields(TypedDict):
    """What a compaction did to the window."""

    session: str
    number: int
    compactions: int
    compaction: CompactionFields
    folded: list[EntryFields]
    replaced: list[dict[str, EntryFields]]
    added: list[EntryFields]
    kept: list[EntryFields]
    record: str
    statements_in_window: list[dict[str, str]]
    statements_in_store_only: list[dict[str, str]]


class ViewFields(TypedDict):
    """A window that a session had."""

    id: int
    parent: int | None
    cause: str
    at: str | None
    compaction: CompactionFields | None


class LineageNodeFields(SessionFields):
    """A session with its windows."""

    views: list[ViewFields]


class LineageFields(TypedDict):
    """The sessions that came from one another."""

    session: str
    leaf: str
    sessions: list[LineageNodeFields]
    belongs_to: dict[str, Any] | None
    imported_before: list[str]


class CompactionReportFields(TypedDict):
    """What a compaction came to."""

    session: str
    feedback: list[str]
    outcome: Literal["folded", "pruned_only", "unchanged", "abandoned"]
    reason: str
    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int
    summary: dict[str, Any] | None
    audit: dict[str, Any] | None
    warnings: list[str]
    duration_ms: float


class StepFields(TypedDict):
    """What a step back or forth did to the window."""

    session: str
    done: bool
    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int


class GoalFields(TypedDict):
    """The goal of a session."""

    session: str
    goal: str


class PinFields(TypedDict):
    """What is pinned in a session."""

    session: str
    pins: list[EntryFields]


class TrashedFields(TypedDict):
    """What was put into the trash."""

    trashed: list[str]


class RestoredFields(TypedDict):
    """What was taken out of the trash."""

    restored: list[str]


class SearchFields(TypedDict):
    """What a search found, best first: conversations, or the passages of one."""

    shape: Literal["discovery", "inside"]
    query: str
    results: NotRequired[list[dict[str, Any]]]
    passages: NotRequired[list[dict[str, Any]]]
    next_offset: NotRequired[int | None]
    note: NotRequired[str]


class StatsFields(TypedDict):
    """What a store holds."""

    sessions: int
    conversations: int
    live: int
    trashed: int
    entries: int
    compactions: int
    sources: dict[str, int]
    models: dict[str, int]
    usage: UsageFields


class ImportProblemFields(TypedDict):
    """What could not be read."""

    line: int
    reason: str


class ImportFields(TypedDict):
    """What an import brought."""

    status: Literal["imported", "unchanged", "empty", "failed"]
    format: str
    sessions: list[str]
    grown: list[str]
    unchanged: list[str]
    messages: int
    reason: str
    problems: list[ImportProblemFields]
