"""A request as it is recognized: what it says, who sends it, and what it is not part of."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from holdfast.recognition.atoms import Atom, AtomKind, atoms_of
from holdfast.recognition.slices import MessageSlices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MESSAGES: Mapping[str, str] = {
    "openai": "messages",
    "responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
}
"""Where each dialect keeps the conversation in a request."""
_SIDE_KINDS = frozenset({"compaction", "prewarm", "conversation-compaction"})
_ENDS = 60_000
"""Characters of the last message in which a request for a summary is looked for."""
_SUMMARY = re.compile(r"\bsummar(?:y|i[sz]e)", re.IGNORECASE)
_OF_ALL = re.compile(r"\b(?:conversation|context window|chat history|session)\b", re.IGNORECASE)
_FOR_LATER = re.compile(
    r"\b(?:do not call any tools|tool calls? will be rejected|next turn|another (?:llm|agent|model)"
    r"|next (?:llm|agent|model)|hand-?off|context checkpoint|compaction|resume the (?:task|work)"
    r"|continu(?:e|ing) the (?:task|work|conversation))\b",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"session is being continued from|compaction is complete|\[CONTEXT COMPACTION"
    r"|conversation (?:so far |history |before this point )*(?:has been|was|is) "
    r"(?:compacted|summari[sz]ed)|produced a summary",
    re.IGNORECASE,
)
"""What a client says before a summary that it was given: no request for one."""
_TITLE = re.compile(
    r"\btitle generator\b|\bnaming (?:\w+ ){0,3}(?:session|conversation|chat)\b"
    r"|\b(?:generate|create|write|generating|creating|writing) (?:\w+ ){0,4}title for\b",
    re.IGNORECASE,
)
_OPENING = 1_000
"""Characters of a system prompt that say whose it is; what follows may change with each request."""
_RESULT, _CALL = AtomKind.RESULT, AtomKind.CALL
"""Looked at for each of thousands of atoms, and an enumeration takes long to look into."""
_END = Atom(AtomKind.OTHER, b"")
_FEW = 3
"""Messages of a request that has a history in one of them."""
_LEAST_ASKED = 400
"""Characters of such a request at least: programs write long ones, people short ones."""


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """What a client says of the conversation, as far as it can be believed.

    Several conversations may share an id, so that it only tells conversations apart.
    """

    session: str = ""
    """One conversation with its side calls, or one with its sub-agents as well."""
    agent: str = ""
    """The sub-agent that asks."""
    parent: str = ""
    """The session that started this one."""

    @property
    def key(self) -> str:
        """Return what is different where conversations are."""
        return f"{self.session}/{self.agent}" if self.session else ""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request, read as far as recognition needs it."""

    dialect: str
    atoms: tuple[Atom, ...]
    places: tuple[int, ...]
    """For each atom the index of its message in the request."""
    identity: ClientIdentity = ClientIdentity()
    model: str = ""
    tools: int = 0
    """How many tools it offers."""
    tool_names: bytes = b""
    """A digest of their names, and of the dialect."""
    prompt: bytes = b""
    """A digest of how the system prompt begins, and of the dialect."""
    has_schema: bool = False
    """Whether the answer is to follow a schema, as those of routers and titles do."""
    side: str = ""
    """What kind of side call it says to be."""
    trouble: str = ""
    """Why nobody can tell what it says, where that is so."""


def dialect_of_path(path: str) -> str:
    """Return the dialect of a path that is a request to a model; nothing for another."""
    bare = path.partition("?")[0].rstrip("/")
    if "/threads/" in bare:
        # The Assistants API calls something else messages.
        return ""
    if bare.endswith("/chat/completions"):
        return "openai"
    if bare.endswith("/responses"):
        return "responses"
    if bare.endswith(("/messages", "/messages/count_tokens")):
        return "anthropic"
    if bare.endswith((":generateContent", ":streamGenerateContent", ":countTokens")):
        return "gemini"
    return ""


def read_request(
    path: str, headers: Mapping[str, str], body: Mapping[str, object]
) -> WireRequest | None:
    """Read a request to a model; None for one that is none."""
    dialect = dialect_of_path(path)
    if not dialect:
        return None
    said = body.get(MESSAGES[dialect])
    if isinstance(said, MessageSlices):
        messages, spoken = said, said.atoms
    else:
        words = [{"role": "user", "content": said}] if isinstance(said, str) else said
        messages = cast("list[object]", words) if isinstance(words, list) else []
        spoken = [said_by(each, dialect) for each in messages]
    atoms, places = _once_each(spoken)
    _order_results(atoms, places)
    known = {name.lower(): value for name, value in headers.items()}
    names = _tools(body.get("tools"))
    return WireRequest(
        dialect,
        tuple(atoms),
        tuple(places),
        identity_of(known, body),
        _model(path, body),
        len(names),
        _digest(dialect, *names),
        _digest(dialect, _prompt(messages, body, _OPENING)),
        has_schema=_has_schema(body),
        side=_side(path, known, body) or _helper_asked(messages, body),
        trouble=_trouble(MESSAGES[dialect], said, messages, spoken),
    )


def _trouble(
    name: str, said: object, messages: Sequence[object], spoken: Sequence[tuple[Atom, ...]]
) -> str:
    if said is None:
        return f"{name} is missing"
    if not messages:
        return f"{name} is not a list" if said else f"{name} is empty"
    for place, atoms in enumerate(spoken):
        if not atoms and not isinstance(messages[place], dict):
            return f"{name}[{place}] is not an object"
    return "" if any(spoken) else f"{name} says nothing"


def said_by(message: object, dialect: str) -> tuple[Atom, ...]:
    """Return the atoms of what stands among the messages of a request."""
    if not isinstance(message, dict):
        return ()
    return atoms_of(cast("dict[str, object]", message), dialect)


def _once_each(spoken: Sequence[tuple[Atom, ...]]) -> tuple[list[Atom], list[int]]:
    """Return what messages say, and where: after a resume some clients send results twice."""
    atoms = [atom for found in spoken for atom in found]
    places = [place for place, found in enumerate(spoken) for _ in found]
    answers = [atom.call for atom in atoms if atom.kind is _RESULT and atom.call]
    left = set(answers)
    if len(left) == len(answers):
        return atoms, places
    kept: list[tuple[Atom, int]] = []
    for atom, place in zip(atoms, places, strict=True):
        if atom.kind is _RESULT and atom.call:
            if atom.call not in left:
                continue
            left.remove(atom.call)
        kept.append((atom, place))
    return [atom for atom, _ in kept], [place for _, place in kept]


def _order_results(atoms: list[Atom], places: list[int]) -> None:
    """Put results into the order of their calls: clients tell them as they came, or as asked."""
    results = [at for at, atom in enumerate(atoms) if atom.kind is _RESULT]
    if all(at - before > 1 for before, at in pairwise(results)):
        return
    asked: dict[str, int] = {}
    begun = -1
    for at, atom in enumerate([*atoms, _END]):
        kind = atom.kind
        if kind is _RESULT and atom.call in asked:
            begun = at if begun < 0 else begun
            continue
        if begun >= 0:
            if at - begun > 1:
                both = sorted(
                    zip(atoms[begun:at], places[begun:at], strict=True),
                    key=lambda pair: asked[pair[0].call],
                )
                atoms[begun:at] = [one for one, _ in both]
                places[begun:at] = [place for _, place in both]
            asked, begun = {}, -1
        if kind is _CALL:
            asked.setdefault(atom.call, len(asked))


def identity_of(headers: Mapping[str, str], body: Mapping[str, object]) -> ClientIdentity:
    """Return who asks, by the ids that agents are known to send."""
    ours = headers.get("x-holdfast-session", "")
    if session := headers.get("x-claude-code-session-id", ""):
        return ClientIdentity(ours or session, headers.get("x-claude-code-agent-id", ""))
    if thread := headers.get("thread-id", ""):
        return ClientIdentity(ours or thread, parent=headers.get("x-codex-parent-thread-id", ""))
    if session := headers.get("x-session-id", ""):
        return ClientIdentity(ours or session, parent=headers.get("x-parent-session-id", ""))
    conversation = body.get("conversation")
    named = conversation if isinstance(conversation, str) else ""
    return ClientIdentity(ours or headers.get("session_id", "") or named)


def _tools(offered: object) -> list[str]:
    """Return the names of tools; Gemini puts them all into one."""
    names: list[str] = []
    for each in cast("list[object]", offered) if isinstance(offered, list) else []:
        tool = cast("dict[str, object]", each) if isinstance(each, dict) else {}
        many = tool.get("functionDeclarations")
        inner = tool.get("function")
        if isinstance(many, list):
            names += _tools(cast("list[object]", many))
        else:
            named = cast("dict[str, object]", inner) if isinstance(inner, dict) else tool
            names.append(str(named.get("name") or named.get("type")))
    return names


def _model(path: str, body: Mapping[str, object]) -> str:
    """Return the model that is asked; Gemini names it in the path."""
    named = path.rpartition("/models/")[2].partition(":")[0] if "/models/" in path else ""
    return named or str(body.get("model") or "")


def _helper_asked(told: Sequence[object], body: Mapping[str, object]) -> str:
    """Say whether the last message asks for a summary of it all, as clients that compact do.

    Nothing else tells such a request from a turn: it has the same prompt, tools and history. One
    without tools may also say so in its system prompt, or that it wants a title.
    """
    if not told or not isinstance(told[-1], dict):
        return ""
    fields = cast("dict[str, object]", told[-1])
    if fields.get("type") == "compaction_trigger":
        return "compaction"
    if fields.get("role") != "user":
        return ""
    text = json.dumps(fields.get("content") or fields.get("parts"))[-_ENDS:]
    if not body.get("tools") and len(told) <= _FEW:
        prompt = _prompt(told, body, _ENDS)
        if _TITLE.search(prompt):
            return "title"
        text = prompt + text
    is_asked = (
        len(text) >= _LEAST_ASKED
        and all(pattern.search(text) for pattern in (_SUMMARY, _OF_ALL, _FOR_LATER))
        and not _MADE.search(text)
    )
    return "compaction" if is_asked else ""


def _prompt(messages: Sequence[object], body: Mapping[str, object], most: int) -> str:
    """Return how the system prompt begins, as JSON; no more of a long text is written."""
    beside = [body.get(name) for name in ("system", "instructions", "systemInstruction")]
    if messages and isinstance(messages[0], dict):
        first = cast("dict[str, object]", messages[0])
        beside += [first.get("content")] if first.get("role") in ("system", "developer") else []
    return json.dumps([each[:most] if isinstance(each, str) else each for each in beside])[:most]


def _digest(*words: str) -> bytes:
    return sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()[:8]


def _has_schema(body: Mapping[str, object]) -> bool:
    for name in ("response_format", "text", "generationConfig", "output_config"):
        found = body.get(name)
        if not isinstance(found, dict):
            continue
        fields = cast("dict[str, object]", found)
        inner = fields.get("format", fields)
        kind = cast("dict[str, object]", inner).get("type") if isinstance(inner, dict) else inner
        if kind in ("json_schema", "json_object") or fields.get("responseMimeType") == (
            "application/json"
        ):
            return True
    return False


def _side(path: str, headers: Mapping[str, str], body: Mapping[str, object]) -> str:
    bare = path.partition("?")[0]
    if bare.endswith(("/count_tokens", ":countTokens")):
        return "count"
    if body.get("generate") is False:
        return "prewarm"
    kind = headers.get("x-interaction-type", "")
    try:
        told: object = json.loads(headers.get("x-codex-turn-metadata", "{}"))
    except ValueError:
        told = {}
    if isinstance(told, dict):
        kind = str(cast("dict[str, object]", told).get("request_kind") or kind)
    return kind.removeprefix("conversation-") if kind in _SIDE_KINDS else ""
