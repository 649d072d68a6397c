"""`holdfast validate`: does a provider accept this transcript?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.files import about, read_input
from holdfast.cli.lines import Line, Span, table
from holdfast.cli.raw_body import raw_body
from holdfast.cli.screen import screen, show_json
from holdfast.formats import FORMATS, live, read
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from holdfast.transcript import Violation

__all__ = ["command"]

_PROVIDERS = ("openai", "responses", "anthropic", "gemini")


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
@click.argument("file")
@click.option("--provider", required=True, type=click.Choice(_PROVIDERS), help="Whose rules.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--format",
    "format_name",
    default="auto",
    type=click.Choice(["auto", *FORMATS]),
    metavar="FORMAT",
    help="The format of the file; see holdfast formats.",
)
def command(file: str, *, provider: str, as_json: bool, format_name: str) -> Exit:
    """Check a transcript against a provider's rules.

    A file in the provider's own JSON is checked as it stands. Any other format is converted
    first, and the answer says so. The exit code is 0 when the transcript is valid, else 1.
    """
    source = read_input(file)
    with about(source.name):
        verdict = _judge(source.content, provider, format_name)
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


def _judge(content: bytes, provider: str, format_name: str) -> _Verdict:
    dialect = DIALECTS[provider]
    found = raw_body(content, provider, format_name)
    if found is not None:
        violations = dialect.validate(found)
        return _Verdict(provider, len(found.messages), converted=False, violations=violations)
    document = read(content, format=format_name)
    transcript = live(document.transcript) if document.envelope is None else document.transcript
    body = dialect.encode(transcript)
    converted = document.dialect != provider
    violations = dialect.validate(body)
    return _Verdict(document.format, len(body.messages), converted=converted, violations=violations)


def _drawn(name: str, provider: str, verdict: _Verdict, width: int) -> list[Line]:
    count = len(verdict.violations)
    how = f", converted from {verdict.format}" if verdict.converted else ""
    about = f"({verdict.messages:,} messages{how})"
    if not count:
        return [(Span("valid", "bold green"), Span(f": {name} for {provider} {about}"))]
    broken = "1 rule is broken" if count == 1 else f"{count:,} rules are broken"
    rows = [("message", "rule", "what is wrong")]
    rows += [(str(each.index), each.rule, each.message) for each in verdict.violations]
    heading = (Span("not valid", "bold red"), Span(f": {name} for {provider} {about}: {broken}"))
    return [heading, *table(rows, width, right=frozenset({0}))]
