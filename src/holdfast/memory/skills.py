"""What a user said, when a command was expanded into a long prompt.

A `/skill` becomes pages of somebody else's text before it reaches the model. Memory and titles go
by the user: by what followed the command, and where nothing did, by the command itself.
"""

from __future__ import annotations

import re

__all__ = ["is_bare_command", "own_words"]

_SCAFFOLD = re.compile(
    r"<(command-name|command-message|command-args|command-contents)>(.*?)</\1>", re.DOTALL
)
_NAME, _ARGUMENTS = "command-name", "command-args"
_SKILL_FOLDER = re.compile(r"Base directory for this skill: *([^\n]*)")
_SKILL_BLOCK = re.compile(r"<skill(?: [^<>]*)?>.*?</skill>", re.DOTALL)
_SKILL_NAME = re.compile(
    r"<skill [^<>]*?name=\"([^\"<>]+)\"|<skill(?: [^<>]*)?>\s*<name>([^<>]+)</name>"
)
_INVOKED = re.compile(r'\[(?:IMPORTANT|SYSTEM): The user has invoked the "([^"\n]+)" skill')
_ALONGSIDE = re.compile(
    r"(?s:.*)The user has provided the following instruction alongside the skill (?:invocation|"
    r"command): *"
)
_BUNDLED = re.compile(r"\nUser instruction: *")
_AFTER_BUNDLED = "\n\n[Loaded as part of the "
_RUNTIME_NOTE = "\n\n[Runtime note:"
_GIVEN = re.compile(r"(?s:.*)\n\s*\nARGUMENTS: *")
"""The last mention: the body of a skill may speak of arguments too."""
_LONG_ENOUGH = 400
"""A shorter text before `ARGUMENTS:` may be somebody's own."""
_BARE = re.compile(r"/[\w:.-]+")


def own_words(text: str) -> str:
    """Return the user's own instruction from the expansion of a command; other text as it is.

    A command without an instruction is its name, such as `/review`.
    """
    start = text.lstrip()
    if start.startswith(("<command-", "<skill")):
        return _tagged(start) if start.startswith("<command-") else _blocks(start)
    if invoked := _INVOKED.match(start):
        return _alongside(start) or _command(invoked[1])
    if folder := _SKILL_FOLDER.match(start):
        name = re.split(r"[/\\]", folder[1].strip().rstrip("/\\"))[-1]
        return _given(start) or _command(name)
    given = _GIVEN.match(text)
    if given is not None and given.end() > _LONG_ENOUGH:
        return text[given.end() :].strip() or text
    return text


def is_bare_command(words: str) -> bool:
    """Say whether the words are a command and nothing else: there is nothing to remember."""
    return _BARE.fullmatch(words.strip()) is not None


def _tagged(text: str) -> str:
    found = {name: content.strip() for name, content in reversed(_SCAFFOLD.findall(text))}
    if _NAME not in found:
        return text
    rest = _SCAFFOLD.sub("", text).strip()
    if rest and _SKILL_FOLDER.match(rest):
        rest = ""
    said = "\n\n".join(filter(None, (found.get(_ARGUMENTS, ""), rest)))
    return said or _command(found[_NAME])


def _blocks(text: str) -> str:
    named = _SKILL_NAME.match(text)
    rest = text
    while block := _SKILL_BLOCK.match(rest):
        rest = rest[block.end() :].lstrip()
    if rest == text:
        return text
    return rest.strip() or (_command(named[1] or named[2]) if named else "")


def _alongside(text: str) -> str:
    if found := _ALONGSIDE.match(text):
        return text[found.end() :].partition(_RUNTIME_NOTE)[0].strip()
    if found := _BUNDLED.search(text):
        return text[found.end() :].partition(_AFTER_BUNDLED)[0].strip()
    return ""


def _given(text: str) -> str:
    found = _GIVEN.match(text)
    return text[found.end() :].strip() if found else ""


def _command(name: str) -> str:
    return f"/{name.strip().removeprefix('/')}"
