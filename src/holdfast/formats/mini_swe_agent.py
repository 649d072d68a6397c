"""What a mini-swe-agent trajectory tells besides its messages: OpenAI's, or items of Responses.

The file stays a provider's document, so that it can be written back into its own container. Here
its answers get what the agent kept of them under `extra`: their id, model, time, cost and
reasoning. The rest of `extra` repeats the message and stays behind. Without native tools a command
stands in a fence of the answer and its output in the next user message: both are told as said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About, Native, native_of, with_native
from holdfast.formats.figures import count, usage_in
from holdfast.formats.litellm import answer_in, thoughts, tokens_in
from holdfast.formats.loose import mapping, string
from holdfast.formats.moments import moment
from holdfast.transcript import NO_EXTRAS, Role, Thinking, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.session import Usage
    from holdfast.transcript import Message, Part

__all__ = ["about_run", "answers_known"]

_DIALECT = "openai"


def answers_known(messages: Iterable[Message]) -> list[Message]:
    """Return the messages of a trajectory with what the agent kept of each answer."""
    return [_known(message) for message in messages]


def about_run(rest: Mapping[str, object], messages: Iterable[Message]) -> About:
    """Return what is known of a run.

    A task is worked on in many runs, so a run is known by its task and its first answer.

    Args:
        rest: What stands beside the messages.
        messages: As `answers_known` returns them.
    """
    info = mapping(rest.get("info"))
    task = string(rest.get("instance_id"))
    natives = [native_of(message) for message in messages]
    first = next((native.reply for native in natives if native.reply), "")
    configured = mapping(mapping(info.get("config")).get("model")).get("model_name")
    more = {
        "trajectory_format": rest.get("trajectory_format"),
        "exit_status": info.get("exit_status"),
    }
    return About(
        id=f"{task}/{first}" if first else "",
        title=task,
        model=string(configured) or next((each.model for each in natives if each.model), ""),
        version=string(info.get("mini_version")),
        started=next((each.at for each in natives if each.at is not None), None),
        usage=None if any(each.usage for each in natives) else _usage(info),
        more={key: found for key, value in more.items() if (found := string(value))},
    )


def _usage(info: Mapping[str, object]) -> Usage | None:
    """Return what a whole run cost, for answers that do not say it themselves."""
    stats = mapping(info.get("model_stats"))
    whole = usage_in({}, (), stats.get("instance_cost"))
    return None if whole is None else replace(whole, calls=count(stats.get("api_calls")))


def _known(message: Message) -> Message:
    if message.role is Role.TOOL and (found := _resulted(message)) is not None:
        return found
    fields = mapping(message.extras.get(_DIALECT))
    extra = mapping(fields.get("extra"))
    if not extra:
        return message
    bare = _without_extra(message, fields)
    if message.role is Role.TOOL:
        failed = extra.get("returncode") not in (None, 0)
        bare = replace(bare, parts=tuple(_answered(part, failed=failed) for part in bare.parts))
    response = mapping(extra.get("response"))
    at = moment(extra.get("timestamp")) or moment(response.get("created"))
    if message.role is not Role.ASSISTANT:
        return with_native(bare, Native(at=at))
    usage = mapping(response.get("usage"))
    native = Native(
        reply=string(response.get("id")),
        model=string(response.get("model")),
        usage=tokens_in(usage, extra.get("cost") or usage.get("cost")),
        at=at,
    )
    return with_native(replace(bare, parts=(*_reasoning(bare, response), *bare.parts)), native)


def _resulted(message: Message) -> Message | None:
    """Return an item with a result, where the agent wrote how it ended; None for all others."""
    match message.parts:
        case (ToolResult() as result,):
            fields = mapping(result.extras.get("responses"))
        case _:
            return None
    if not (extra := mapping(fields.get("extra"))):
        return None
    rest = {key: value for key, value in fields.items() if key != "extra"}
    bare = replace(result, extras={"responses": rest} if rest else NO_EXTRAS)
    part = _answered(bare, failed=extra.get("returncode") not in (None, 0))
    return with_native(replace(message, parts=(part,)), Native(at=moment(extra.get("timestamp"))))


def _without_extra(message: Message, fields: Mapping[str, object]) -> Message:
    own = {key: value for key, value in fields.items() if key != "extra"}
    rest = {key: value for key, value in message.extras.items() if key != _DIALECT}
    extras = {**rest, _DIALECT: own} if own else rest
    return replace(message, extras=extras or NO_EXTRAS)


def _reasoning(message: Message, response: Mapping[str, object]) -> tuple[Thinking, ...]:
    """Return what the model thought, unless the message says it already."""
    if any(isinstance(part, Thinking) for part in message.parts):
        return ()
    return tuple(thoughts(answer_in(response)))


def _answered(part: Part, *, failed: bool) -> Part:
    is_result = isinstance(part, ToolResult)
    return replace(part, is_error=True) if is_result and failed else part
