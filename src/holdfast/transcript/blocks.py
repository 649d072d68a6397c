"""Actions and observations that agents without tool calls write into plain messages.

Some agents put their command into a fenced block and get its output back as a user message.
Such a command is an action like any tool call, and such a message is not what a user said.
"""

from __future__ import annotations

__all__ = ["is_observation", "shell_blocks"]

_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "terminal", "mswea_bash_command"})
_OPENINGS = (
    "<returncode>",
    "<output>",
    "<observation>",
    "observation:",
    "<tool_response>",
    "<function_result",
    "<local-command-stdout>",
    "<bash-stdout>",
    "<bash-input>",
    "<task-notification>",
    "[command finished with exit code",
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
)
_REMINDER = ("<system-reminder>", "</system-reminder>")
_ENDINGS = ("bash-$", "</output>", "</tool_response>", "</local-command-stdout>")


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

    Agents also write settings, reminders and notes of their own in the user's name.
    """
    start = text[:200].lstrip().casefold()
    if start.startswith(_REMINDER[0]):
        return text.rstrip().endswith(_REMINDER[1]) and text.count(_REMINDER[1]) == 1
    return start.startswith(_OPENINGS) or text[-40:].rstrip().casefold().endswith(_ENDINGS)
