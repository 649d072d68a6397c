"""What the events of Copilot CLI say, and what the model of a conversation sees of it.

A picture stands where it was sent, or in an event of its own that others refer to. A thought may
stand in an event of its own, before the answer or after it, and in the answer too. A stream may
print an answer again as it grows. Each part is told once.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from holdfast.formats.content import contents
from holdfast.formats.events import About, SourceMetadata
from holdfast.formats.json_access import as_json, count, mapping, mappings, milliseconds, string
from holdfast.formats.window_tracking import WindowTracker
from holdfast.session import Usage
from holdfast.transcript import Media, Message, Part, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.json_access import JsonObject

_MORE = ("repository", "repositoryHost", "gitRoot", "headCommit")


class Assets:
    """The bytes that events share."""

    def __init__(self) -> None:
        """Start with none."""
        self._known: dict[str, Media] = {}

    def take(self, event: JsonObject) -> None:
        """Keep what an event holds for others."""
        kind, payload = string(event.get("mimeType")), string(event.get("data"))
        if payload:
            self._known[string(event.get("assetId"))] = Media(media_type=kind, data=payload)

    def pictures(self, blocks: object) -> Iterator[Media]:
        """Return what blocks hold or refer to that is no text."""
        for block in mappings(blocks):
            found = [part for part in contents([block]) if isinstance(part, Media)]
            shared = self._known.get(string(block.get("assetId")))
            if found and string(block.get("data")):
                yield from found
            elif shared is not None:
                yield shared


def about_of(event: JsonObject) -> About:
    """Return what an event says of the session."""
    context = mapping(event.get("context"))
    return About(
        id=string(event.get("sessionId")),
        model=string(event.get("selectedModel")),
        cwd=string(context.get("cwd")),
        git_branch=string(context.get("branch")),
        version=string(event.get("copilotVersion")),
        started=milliseconds(event.get("startTime")),
        more={name: context[name] for name in _MORE if isinstance(context.get(name), str)},
    )


def message_of(kind: str, event: JsonObject, assets: Assets) -> Message | None:
    """Return what an event says; None for one that no model ever saw."""
    match kind:
        case "system.message" | "system.notification":
            return Message(Role.SYSTEM, contents(event.get("content")))
        case "user.message":
            pictures = tuple(assets.pictures(event.get("attachments")))
            return Message(Role.USER, contents(event.get("content")) + pictures)
        case "assistant.message":
            return Message(Role.ASSISTANT, tuple(_parts(event)))
        case "assistant.reasoning":
            text = string(event.get("content"))
            return Message(Role.ASSISTANT, (Thinking(text),) if text else ())
        case "tool.execution_complete":
            result = mapping(event.get("result"))
            told, blocks = result.get("content"), result.get("contents")
            beside = result.get("binaryResultsForLlm")
            pictures = [*assets.pictures(blocks), *assets.pictures(beside)]
            said = contents(told)
            if told is None:
                # What was sent to the model stands here; where it does not, the blocks say it.
                said = tuple(part for part in contents(blocks) if isinstance(part, Text))
            if not said and not pictures:
                said = contents(mapping(event.get("error")).get("message"))
            content = (*said, *dict.fromkeys(pictures))
            failed = event.get("success") is False
            answer = ToolResult(string(event.get("toolCallId")), content, is_error=failed)
            return Message(Role.TOOL, (answer,))
        case _:
            return None


def request_of(event: JsonObject) -> ToolCall:
    """Return the call that an event says was begun."""
    name = string(event.get("toolName")) or string(event.get("name"))
    return ToolCall(string(event.get("toolCallId")), name, as_json(event.get("arguments")))


def _parts(event: JsonObject) -> Iterator[Part]:
    # The opaque form of a thought means something to Copilot's own service only.
    seal = string(event.get("reasoningOpaque")) or string(event.get("encryptedContent"))
    if (thought := string(event.get("reasoningText"))) or seal:
        yield Thinking(thought, seal or None)
    if content := event.get("content"):
        yield from contents(content)
    for call in mappings(event.get("toolRequests")):
        yield request_of(call)


class ConversationState:
    """The window of one conversation, and the answer that is being given."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self.since: list[str] | None = None
        """What was told since a compaction began; None while there is none."""
        self._prompt = ("", 0)
        """The newest instructions: their name, and a hash of what they say."""
        self._window = WindowTracker[Role]()
        self._reply = ""
        """The answer that was told last."""
        self._parts: list[Part] = []
        """What was told of that answer, or of a thought before the next one."""
        self._is_thinking = False
        """Whether a thought was told whose answer is still to come."""

    def is_known(self, message: Message) -> bool:
        """Say whether a message only repeats the instructions, as it does when a run begins."""
        return message.role is Role.SYSTEM and self._prompt[1] == hash(message.text)

    def take(self, key: str, message: Message) -> tuple[str, ...] | None:
        """Show one more message; returns all that is shown where it takes another's place."""
        if message.role is not Role.SYSTEM:
            self._window.add(message.role, key)
            if self.since is not None:
                self.since.append(key)
            return None
        (before, _), self._prompt = self._prompt, (key, hash(message.text))
        rest = [each for each in self._window.entries if each[1] != before]
        shows = self._window.show([(Role.SYSTEM, key), *rest])
        return shows if before else None

    def fold(self, summary: str) -> tuple[str, ...]:
        """Show a summary with the instructions, the user's words and what came meanwhile."""
        since = self.since or []
        said = [each for each in self._window.entries if each[1] not in since]
        later = [each for each in self._window.entries if each[1] in since]
        asked = [each for each in said if each[0] is Role.USER]
        return self._show([*self._instructions, *asked, (Role.ASSISTANT, summary), *later])

    def clear(self) -> tuple[str, ...]:
        """Show nothing but the instructions."""
        return self._show(self._instructions)

    def rewind(self, target: str) -> tuple[str, ...] | None:
        """Show what came before a message; None for one that is not shown."""
        if target not in self._window.shows:
            return None
        return self._show(takewhile(lambda seen: seen[1] != target, self._window.entries))

    def fresh(self, message: Message, event: JsonObject) -> Message:
        """Return what a message says that was not told with its answer before."""
        if message.role is not Role.ASSISTANT:
            self._parts = [] if message.role is Role.USER else self._parts
            return message
        is_thought, reply = "reasoningId" in event, string(event.get("messageId"))
        goes_on = is_thought or self._is_thinking or bool(reply and reply == self._reply)
        parts = message.parts
        if goes_on:
            parts = tuple(part for part in parts if part not in self._parts)
        if not is_thought:
            self._is_thinking = False
            self._parts = [*self._parts, *parts] if goes_on else list(parts)
        elif parts:
            self._is_thinking, self._parts = True, list(parts)
        return message if parts == message.parts else Message(message.role, parts)

    def answered(self, native: SourceMetadata, event: JsonObject) -> SourceMetadata:
        """Return what is known of an answer; its cost is told with the first of its messages."""
        is_thought = "reasoningId" in event
        reply = string(event.get("messageId")) or native.id
        wrote = 0 if is_thought or reply == self._reply else count(event.get("outputTokens"))
        self._reply = self._reply if is_thought else reply
        return SourceMetadata(
            id=native.id,
            at=native.at,
            reply=reply,
            model=string(event.get("model")),
            usage=Usage(1, 0, wrote) if wrote else None,
        )

    @property
    def _instructions(self) -> list[tuple[Role, str]]:
        return [(Role.SYSTEM, self._prompt[0])] if self._prompt[0] else []

    def _show(self, entries: Iterable[tuple[Role, str]]) -> tuple[str, ...]:
        self.since = None
        return self._window.show(entries)
