"""What the events of Copilot CLI say: words, thoughts, calls, results and pictures.

A picture stands where it was sent, or in an event of its own that others refer to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About
from holdfast.formats.loose import as_json, mapping, mappings, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import contents
from holdfast.transcript import Media, Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.transcript import Part

__all__ = ["Assets", "about_of", "message_of", "request_of"]

_MORE = ("repository", "repositoryHost", "gitRoot", "headCommit")


class Assets:
    """The bytes that events share."""

    def __init__(self) -> None:
        """Know of none."""
        self._known: dict[str, Media] = {}

    def take(self, event: Mapping[str, object]) -> None:
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


def about_of(event: Mapping[str, object]) -> About:
    """Return what an event says of the session."""
    context = mapping(event.get("context"))
    return About(
        id=string(event.get("sessionId")),
        model=string(event.get("selectedModel")),
        cwd=string(context.get("cwd")),
        git_branch=string(context.get("branch")),
        version=string(event.get("copilotVersion")),
        started=moment(event.get("startTime")),
        more={name: context[name] for name in _MORE if isinstance(context.get(name), str)},
    )


def message_of(kind: str, event: Mapping[str, object], assets: Assets) -> Message | None:
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
            return Message(Role.TOOL, (_result(event, assets),))
        case _:
            return None


def request_of(event: Mapping[str, object]) -> ToolCall:
    """Return the call that an event says was begun."""
    name = string(event.get("toolName")) or string(event.get("name"))
    return ToolCall(string(event.get("toolCallId")), name, as_json(event.get("arguments")))


def _parts(event: Mapping[str, object]) -> Iterator[Part]:
    # The opaque form of a thought means something to Copilot's own service only.
    seal = string(event.get("reasoningOpaque")) or string(event.get("encryptedContent"))
    if (thought := string(event.get("reasoningText"))) or seal:
        yield Thinking(thought, seal or None)
    if content := event.get("content"):
        yield from contents(content)
    for call in mappings(event.get("toolRequests")):
        yield request_of(call)


def _result(event: Mapping[str, object], assets: Assets) -> ToolResult:
    result = mapping(event.get("result"))
    told, blocks = result.get("content"), result.get("contents")
    pictures = [*assets.pictures(blocks), *assets.pictures(result.get("binaryResultsForLlm"))]
    said = contents(told)
    if told is None:
        # What was sent to the model stands here; where it does not, the blocks say it.
        said = tuple(part for part in contents(blocks) if isinstance(part, Text))
    if not said and not pictures:
        said = contents(mapping(event.get("error")).get("message"))
    return ToolResult(
        string(event.get("toolCallId")),
        (*said, *dict.fromkeys(pictures)),
        is_error=event.get("success") is False,
    )
