"""`holdfast validate`: does a provider accept this transcript?"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypedDict, cast

import click

from holdfast.cli.files import about, format_flag, open_input
from holdfast.cli.flags import configuration, conversation_flag, json_flag, store_flags
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Styled, screen, show_json, table
from holdfast.formats import detect
from holdfast.formats.documents import find_conversation
from holdfast.transcript import Violation
from holdfast.views.words import counted
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from holdfast.cli.files import OpenedInput
    from holdfast.cli.screen import Line
    from holdfast.formats import Document

_PROVIDERS = ("openai", "responses", "anthropic", "gemini")
_EMPTY = Violation(0, "empty", "there are no messages, which no provider accepts")
_KEYS = {
    "openai": ("messages", ()),
    "responses": ("input", ("instructions",)),
    "anthropic": ("messages", ("system",)),
    "gemini": ("contents", ("systemInstruction", "system_instruction")),
}
_PLAIN_SPEAKERS = frozenset({"user", "assistant"})


class _Options(TypedDict):
    provider: str
    format_name: str
    conversation: int | None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What was checked, and what is wrong with it."""

    format: str
    messages: int
    converted: bool
    violations: tuple[Violation, ...]


@click.command(
    "validate",
    epilog=examples(
        "holdfast validate request.json --provider anthropic",
        "holdfast compress session.jsonl --to openai | holdfast validate - --provider openai",
    ),
)
@click.argument("file", metavar="FILE|ID")
@click.option("--provider", required=True, type=click.Choice(_PROVIDERS), help="Whose rules.")
@json_flag
@format_flag("the file")
@conversation_flag
@store_flags
def command(file: str, *, as_json: bool, **options: Unpack[_Options]) -> Exit:
    """Check a transcript against a provider's rules.

    A file in the provider's own JSON is checked as it stands. Any other format is converted first,
    and the answer says so. ID is a stored session, whose window is checked. The exit code is 0 when
    the transcript is valid, else 1.
    """
    provider = options["provider"]
    source = open_input(file, options["format_name"], configuration(options).settings)
    with about(source.name):
        verdict = _judge(source, options)
    valid = not verdict.violations
    if as_json:
        show_json(
            {
                "valid": valid,
                "violations": [asdict(each) for each in verdict.violations],
                "provider": provider,
                "format": verdict.format,
                "messages": verdict.messages,
                "converted": verdict.converted,
            }
        )
    else:
        view = screen()
        view.show(_drawn(source.name, provider, verdict, view.width))
    return Exit.DONE if valid else Exit.FAILED


def _judge(source: OpenedInput, options: _Options) -> _Verdict:
    provider, number = options["provider"], options["conversation"]
    name, converted, body = provider, False, None
    if source.content is not None and number is None:
        body = raw_body(source.content, provider, options["format_name"])
    if body is None:
        document = source.document(options["format_name"], number)
        name = document.format
        body = raw_document(document) if document.dialect == provider else None
        if body is None:
            converted = document.dialect != provider
            # A session file also keeps what the model does not see any more.
            body = DIALECTS[provider].encode(document.live)
    count = len(body.messages)
    violations = DIALECTS[provider].validate(body) if count else (_EMPTY,)
    return _Verdict(name, count, converted=converted, violations=violations)


def _drawn(name: str, provider: str, verdict: _Verdict, width: int) -> list[Line]:
    count = len(verdict.violations)
    how = f", converted from {verdict.format}" if verdict.converted else ""
    about = f"({counted(verdict.messages, 'message')}{how})"
    if not count:
        return [(Styled("valid", "bold green"), Styled(f": {name} for {provider} {about}"))]
    broken = "1 rule is broken" if count == 1 else f"{count:,} rules are broken"
    rows = [("message", "rule", "what is wrong")]
    rows += [(str(each.index), each.rule, each.message) for each in verdict.violations]
    heading = (
        Styled("not valid", "bold red"),
        Styled(f": {name} for {provider} {about}: {broken}"),
    )
    return [heading, *table(rows, width, right=frozenset({0}))]


def raw_body(content: bytes, provider: str, format_name: str = "auto") -> Body | None:
    """Return the conversation as it stands, or None when it is not in the provider's JSON."""
    try:
        # Decoded here: the reader of bytes would take UTF-16 too, which no other command takes.
        value: object = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    body = _located(value, provider)
    if body is None:
        return None
    name = detect(content).format if format_name == "auto" else format_name
    if name == provider:
        return body
    # A role and some words are written alike in several dialects.
    is_plain = bool(body.messages) and all(
        message.get("role") in _PLAIN_SPEAKERS
        and isinstance(message.get("content"), str)
        and len(message) == 2
        for message in body.messages
    )
    return body if format_name == "auto" and is_plain else None


def raw_document(document: Document) -> Body | None:
    """Return the conversation of a document as it stood, or None for a session file."""
    envelope = document.envelope
    if envelope is None:
        return None
    return Body(list(envelope.messages), (envelope.rest or {}).get(envelope.system_key))


def _located(value: object, provider: str) -> Body | None:
    key, system_keys = _KEYS[provider]
    if isinstance(value, list):
        entries = cast("list[object]", value)
        records = (cast("Mapping[str, object]", each) for each in entries if isinstance(each, dict))
        # A list of conversations is no list of messages.
        is_body = all(find_conversation(each) is None for each in records)
        return _body(entries, None) if is_body else None
    if not isinstance(value, dict):
        return None
    entry = cast("Mapping[str, object]", value)
    messages = entry.get(key)
    if not isinstance(messages, list):
        return None
    system = next((entry[name] for name in system_keys if name in entry), None)
    return _body(cast("list[object]", messages), system)


def _body(messages: list[object], system: object) -> Body | None:
    if not all(isinstance(message, dict) for message in messages):
        return None
    return Body(cast("list[dict[str, object]]", messages), system)
