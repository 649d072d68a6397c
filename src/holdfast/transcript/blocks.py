"""Actions and observations that agents without tool calls write into plain messages.

Some agents put their command into a fenced block and get its output back as a user message.
Such a command is an action like any tool call, and such a message is not what a user said.
"""

from __future__ import annotations

import re

__all__ = ["is_observation", "is_output", "output_in", "shell_blocks"]

_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "terminal", "mswea_bash_command"})
_OUTPUTS = (
    "<returncode>",
    "<output>",
    "<observation>",
    "observation:",
    "<tool_response>",
    "<function_result",
    "[command finished with exit code",
)
_OUTPUT_ENDINGS = ("bash-$", "</output>", "</tool_response>")
_INJECTED = (
    # What a user's own shell commands print.
    "<local-command-stdout>",
    "<bash-stdout>",
    "<bash-input>",
    "<task-notification>",
    # What agents put into a user's mouth: settings, hooks, notes about themselves.
    "<local-command-caveat>",
    "<command-name>",
    "<command-message>",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<user-prompt-submit-hook>",
    "[request interrupted by user",
    "caveat: the messages below were generated",
    "# agents.md instructions",
)
_REMINDER = ("<system-reminder>", "</system-reminder>")
_INJECTED_ENDINGS = ("</local-command-stdout>",)
_SLASH_COMMAND = re.compile(
    r"/(?:[a-z][\w:-]{0,40}|(?:mode|model|theme|config|approvals|permissions|login|resume)\s.{0,60})?"
)
"""A command to the agent's own program. One with other words after it may be a request."""
_FRAME = re.compile(
    r"<returncode>[^<]{0,20}</returncode>|</?(?:output(?:_head|_tail)?|observation|tool_response)>"
    r"|<warning>[^<]{0,2000}</warning>|<elided_chars>[^<]{0,200}</elided_chars>"
    r"|^observation:|^\((?:open file|current directory): [^\n]{0,300}\)$|^bash-\$\s*\Z",
    re.IGNORECASE | re.MULTILINE,
)


def shell_blocks(text: str) -> tuple[str, ...]:
    """Return the commands in the shell blocks of the text.

    A fence closes with at least as many of the character that opened it; one that never closes
    is not a command.
    """
    if "```" not in text and "~~~" not in text:
        return ()
    found: list[str] = []
    fence, wanted, lines = "", False, list[str]()
    for line in text.split("\n"):
        mark = line.strip()
        if fence:
            if mark.startswith(fence) and not mark.strip(fence[0]):
                if wanted and lines:
                    found.append("\n".join(lines))
                fence = ""
            else:
                lines.append(line)
        elif mark.startswith(("```", "~~~")):
            language = mark.lstrip(mark[0])
            fence = mark[: len(mark) - len(language)]
            wanted, lines = language.strip().lower() in _SHELLS, []
    return tuple(found)


def is_observation(text: str) -> bool:
    """Say whether a user message holds a program's words rather than a user's.

    Agents also write settings, reminders and notes of their own in the user's name, and a bare
    slash command speaks to the program, not to the assistant.
    """
    start = text[:200].lstrip().casefold()
    if start.startswith(_REMINDER[0]):
        return text.rstrip().endswith(_REMINDER[1]) and text.count(_REMINDER[1]) == 1
    if start.startswith("/") and len(text) < 200 and _SLASH_COMMAND.fullmatch(start.rstrip()):
        return True
    if start.startswith(_INJECTED) or text[-40:].rstrip().casefold().endswith(_INJECTED_ENDINGS):
        return True
    return is_output(text)


def is_output(text: str) -> bool:
    """Say whether a user message is the output of a command that the assistant wrote as text."""
    start = text[:200].lstrip().casefold()
    return start.startswith(_OUTPUTS) or text[-40:].rstrip().casefold().endswith(_OUTPUT_ENDINGS)


def output_in(text: str) -> str:
    """Return the output alone, without the tags and notes that an agent puts around it."""
    return _FRAME.sub("", text).strip()
