"""Which section a heading means, however a model or another system words it."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.summary.record import HEADINGS

__all__ = ["Heading", "foreign_section", "heading_in", "section_named"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that stands above others."""

    words: str
    level: int
    """How many marks it has; 0 for a line in bold type."""


# Near variants of our own headings, as models write them.
_VARIANTS: dict[str, str] = {
    "task": "task snapshot; current task; user task; task; historical task",
    "goal": "goals; overall goal; user goal; objective",
    "constraints": "constraints; preferences; constraints and user preferences",
    "actions": "actions completed; completed; completed work; actions; completed steps",
    "state": "state; current state; active status; environment state",
    "in_progress": "in progress state; in progress; historical in progress; current progress",
    "blocked": "blockers; blocked on; blocking issues; blocked items",
    "decisions": "decisions; key decisions made; decisions made",
    "resolved": "resolved; questions resolved; answered questions; resolved user questions",
    "pending": "pending user asks; pending asks; pending user requests; pending",
    "files": "files; key files; relevant files and code; files touched",
    "remaining": "remaining work; remaining; remaining tasks; historical remaining",
    "critical": "critical; critical information; important context",
}

# Headings of other systems' summaries, for what their words mean here.
_FOREIGN: dict[str, str] = {
    "task": "primary request; user request; latest request; active task; most recent request",
    "goal": "primary request and intent; intent; purpose; session intent; user intent; mission",
    "constraints": "user preferences; rules; instructions; requirements; guidelines; conventions",
    "actions": "done; progress; what was done; work done; accomplished; work completed; history",
    "state": "current work; status; environment; working state; current status; git state",
    "in_progress": "work in progress; ongoing; under way; active work",
    "blocked": "errors; errors and fixes; issues; problems; open issues; known issues; failures",
    "decisions": "key technical concepts; technical decisions; design decisions; rationale",
    "resolved": "problem solving; questions and answers; findings; discoveries; lessons; results",
    "pending": "all user messages; user messages; open questions; open requests; user asks",
    "files": "files and code sections; modified files; read files; artifact trail; code changes",
    "remaining": "next steps; next step; pending tasks; optional next step; to do; todo; next",
    "critical": "context; key details; important details; references; notes; important notes",
}


def _plain(words: str) -> str:
    """Return a heading's words without numbers, marks, case and punctuation."""
    kept = "".join(sign if sign.isalnum() else " " for sign in words.replace("&", " and "))
    parts = kept.casefold().split()
    while len(parts) > 1 and parts[0].isdecimal():
        parts.pop(0)
    return " ".join(parts)


def _table(variants: dict[str, str]) -> dict[str, str]:
    return {_plain(words): name for name, line in variants.items() for words in line.split(";")}


_OURS = _table(_VARIANTS) | {_plain(words): name for name, words in HEADINGS.items()}
_THEIRS = _table(_FOREIGN) | _OURS


def heading_in(line: str) -> Heading | None:
    """Return the heading that a line is: marked with `#`, or wholly in bold type."""
    if line[:2] == "  " or len(line) > 200:
        return None
    text = line.strip()
    level = len(text) - len(text.lstrip("#"))
    if level:
        words = text[level:].strip().strip("#*_: ")
        return Heading(words, level) if level <= 6 and words and text[level] in " \t" else None
    bold = text.rstrip(":")
    if len(bold) > 4 and bold.startswith("**") and bold.endswith("**"):
        words = bold.strip("*").strip().rstrip(":")
        return Heading(words, 0) if words and "**" not in words else None
    return None


def section_named(words: str) -> str:
    """Return the section that a heading of ours means, or nothing."""
    return _OURS.get(_plain(words), "")


def foreign_section(words: str) -> str:
    """Return the section where another system's heading belongs, or nothing."""
    return _THEIRS.get(_plain(words), "")
