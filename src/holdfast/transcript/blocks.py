"""Actions and observations that agents without tool calls write into plain messages.

Some agents put their command into a fenced block and get its output back as a user message.
Such a command is an action like any tool call, and such a message is not what a user said.
"""

from __future__ import annotations

import re

_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "terminal", "mswea_bash_command"})
_OUTPUTS = (
    "<returncode>",
    "<output>",
    "<observation>",
    "observation:",
    "<tool_response>",
    "<function_result",
    "[command finished with exit code",
    "execution result of [",
)
_OUTPUT_ENDINGS = ("bash-$", "</output>", "</tool_response>")
_COMPLAINTS = (
    "please always provide exactly one action in triple backticks",
    "your output was not formatted correctly. you must always include",
    "your last output did not use any tool calls!",
    "no tool calls found in the response. every response must",
    "tool call error:\n",
)
"""How a program answers a message in which it finds no command, or too many: so much of it that
nobody's own words begin so."""
_PRINTED = (
    "<local-command-stdout>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<bash-input>",
    "<task-notification>",
    "<subagent_notification>",
    "<user_shell_command>",
)
"""What a user's own shell commands and other agents print."""
_INJECTED = (
    *_PRINTED,
    # What agents put into a user's mouth: settings, hooks, notes about themselves.
    "<local-command-caveat>",
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "<user-prompt-submit-hook>",
    "[request interrupted by user",
    "caveat: the messages below were generated",
    "# agents.md instructions",
    # What an agent shows its model, or says for a user who is not there.
    "here is a demonstration of how to correctly accomplish this task",
    "please continue working on the task on whatever approach you think is suitable",
    *_COMPLAINTS,
    "# project context\n",
    "<<<begin_openclaw_internal_context>>>",
    "this is the gemini cli. we are setting up the context",
    "this is the qwen code. we are setting up the context",
)
_EXPANDED = "base directory for this skill:"
_ARGUMENTS = "\nARGUMENTS:"
"""What a user gave a skill stands behind its text."""
_ASIDE = re.compile(
    r"\s*<(system-reminder|environment_context|user_info|user_instructions|user_settings_change"
    r"|git-context|git_status|ide_opened_file|ide_selection|uploaded_files|skill"
    r"|session_context|current_datetime|project_rules|project_instructions)"
    r"(?: [^<>]{0,400})?>",
    re.IGNORECASE,
)
"""How a block begins that an agent puts before or behind what the user typed."""
_LAST_CLOSING = re.compile(r"</([a-z_-]{1,30})>\s*\Z", re.IGNORECASE)
_EXAMPLE = "here's a running example of how to perform a task"
_TASK = re.compile(
    r"^-{5,} NEW TASK DESCRIPTION -{5,}$(.*)^-{5,} END OF NEW TASK DESCRIPTION -{5,}$",
    re.MULTILINE | re.DOTALL,
)
"""What an agent puts around a task for a model that it teaches by an example to call tools."""
_COMMAND = ("<command-name>", "<command-message>")
_PROMPT = "<command-message>"
"""How a command begins that stands for a prompt; one to the program begins with its name."""
_LAUNCHED = "launching skill"
"""What a call answers whose skill follows in the user's name."""
_INJECTED_ENDINGS = ("</local-command-stdout>", "[error occurred in processing last action]")
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


def shell_blocks(text: str, *, unnamed: bool = False) -> tuple[str, ...]:
    """Return the commands in the shell blocks of the text.

    A fence closes with at least as many of the character that opened it; one that never closes
    is not a command.

    Args:
        text: What an assistant wrote.
        unnamed: Whether a block that names no language is a command too.
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
            name = language.strip().lower()
            wanted, lines = name in _SHELLS or (unnamed and not name), []
    return tuple(found)


def is_observation(text: str) -> bool:
    """Say whether a user message holds a program's words rather than a user's.

    Agents also write settings, reminders and notes of their own in the user's name, and a bare
    slash command speaks to the program, not to the assistant.
    """
    if is_command(text) or is_output(text):
        return True
    words = _without_asides(text)
    return _is_injected(words) if words else bool(text) and not text.isspace()


def is_command(text: str) -> bool:
    """Say whether a user message speaks to the agent's own program."""
    start = text[:200].lstrip().casefold()
    if start.startswith(_COMMAND):
        return True
    is_short = start.startswith("/") and len(text) < 200
    return is_short and _SLASH_COMMAND.fullmatch(start.rstrip()) is not None


def words_typed(text: str) -> str:
    """Return what of a user message somebody typed; nothing where a program wrote all of it.

    A command is what it was given, or else its name. Blocks that agents put before or behind the
    user's words are left out.
    """
    if text[:200].lstrip().casefold().startswith(_COMMAND):
        return _inside(text, "command-args") or _inside(text, "command-name")
    words = _without_asides(text)
    is_program = _is_injected(words) or words[:200].casefold().startswith(_OUTPUTS)
    return "" if is_program else words


def expands_to_text(text: str, *, is_result: bool) -> bool:
    """Say whether an agent puts the text of a skill or a command behind this, as a user message."""
    return text[:200].lstrip().casefold().startswith(_LAUNCHED if is_result else _PROMPT)


def given_to_skill(text: str) -> str | None:
    """Return what a user gave a skill whose text an agent put before it; None for other texts."""
    if not text[:200].lstrip().casefold().startswith(_EXPANDED):
        return None
    return text.partition(_ARGUMENTS)[2].strip()


def _is_injected(words: str) -> bool:
    """Say whether words that stand without asides are an agent's own."""
    start = words[:200].casefold()
    if start.startswith(_EXPANDED):
        return not given_to_skill(words)
    is_ended = words[-60:].casefold().endswith(_INJECTED_ENDINGS)
    return start.startswith(_INJECTED) or is_ended


def _without_asides(text: str) -> str:
    # Places are moved and nothing is copied, because a text may hold any number of blocks.
    first = 0
    while found := _ASIDE.match(text, first):
        end = text.find(closing := f"</{found[1]}>", found.end())
        if end < 0:
            # One that was cut off goes on below its tag; other words beside it are about it.
            return "" if text.startswith("\n", found.end()) else text[first:].strip()
        first = end + len(closing)
    last = len(text)
    while found := _LAST_CLOSING.search(text, max(last - 60, first), last):
        start = text.rfind(f"<{found[1]}>", first, last)
        if start < 0 or not _ASIDE.match(text, start):
            break
        last = start
    words = text[first:last].strip()
    is_example = words[:200].casefold().startswith(_EXAMPLE)
    return task[1].strip() if is_example and (task := _TASK.search(words)) else words


def _inside(text: str, tag: str) -> str:
    """Return what stands between the first tags of a name."""
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def is_output(text: str) -> bool:
    """Say whether a user message is the output of a command that the assistant wrote as text."""
    start = text[:200].lstrip().casefold()
    return start.startswith(_OUTPUTS) or text[-40:].rstrip().casefold().endswith(_OUTPUT_ENDINGS)


def is_printed(text: str) -> bool:
    """Say whether a user message is what a program printed, which anybody may have written."""
    return is_output(text) or text[:200].lstrip().casefold().startswith(_PRINTED)


def is_answer(text: str) -> bool:
    """Say whether a user message is what a program answers to an action that is written as text."""
    return is_output(text) or text[:200].lstrip().casefold().startswith(_COMPLAINTS)


def output_in(text: str) -> str:
    """Return the output alone, without the tags and notes that an agent puts around it."""
    return _FRAME.sub("", text).strip()
