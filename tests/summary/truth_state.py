"""What is true at a step of a session: what is open, finished, dropped, corrected, blocked."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class Ask:
    """What a user wants done or answered, and nobody has done or answered yet."""

    subject: str
    request: str
    """The words of the message that no other message has."""
    words: str
    """The whole message."""
    returned: bool = False
    """It was finished before: an earlier end of it is history, not a lie."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A request that was fulfilled, and the number or path that only its answer has."""

    request: str
    exact: str


@dataclass(frozen=True, slots=True)
class Fact:
    """What holds now, and what was said of it before."""

    topic: str
    now: str
    past: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """A rule about an area: the words that set it, and those that revoked it, if any did."""

    area: str
    words: str
    revocation: str = ""


@dataclass(frozen=True, slots=True)
class Blocker:
    """A command that failed and has not succeeded since."""

    command: str
    error: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A file in a commit."""

    path: str
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true at a step of a session."""

    waiting: str = ""
    """What the user said last, until somebody replies."""
    goal: Fact | None = None
    asks: tuple[Ask, ...] = ()
    """What is open, oldest first."""
    closed: tuple[str, ...] = ()
    """What is finished, answered, dropped or overcome: by its subject, or by words only it has."""
    dropping: tuple[str, ...] = ()
    """Words that name a closed subject and say that it is closed."""
    answers: tuple[Answer, ...] = ()
    facts: tuple[Fact, ...] = ()
    bounds: tuple[Bound, ...] = ()
    plan: tuple[tuple[str, str], ...] = ()
    """The items of the plan, each with its status."""
    blockers: tuple[Blocker, ...] = ()
    outdated: tuple[str, ...] = ()
    """Results of tests that a later run of the same tests replaced."""
    changed: tuple[str, ...] = ()
    """Files that were edited and not committed since."""
    commits: tuple[Commit, ...] = ()

    def items_left(self) -> tuple[str, ...]:
        """Return the items of the plan that are neither done nor cancelled."""
        return tuple(text for text, status in self.plan if status in ("pending", "in_progress"))

    def was_finished(self, subject: str) -> bool:
        """Say whether a subject came to an end before, whatever became of it since."""
        return subject in self.closed or any(
            ask.returned for ask in self.asks if ask.subject == subject
        )

    def asked(self, ask: Ask) -> Self:
        """Return the truth once a user asked for something, perhaps not for the first time."""
        others = tuple(each for each in self.asks if each.subject != ask.subject)
        closed = tuple(each for each in self.closed if each != ask.subject)
        return replace(self, asks=(*others, ask), closed=closed)

    def ended(self, subject: str, exact: str = "", dropping: str = "") -> Self:
        """Return the truth once nothing is left to do about a subject."""
        ended = [each for each in self.asks if each.subject == subject]
        found = tuple(Answer(each.request, exact) for each in ended if exact)
        return replace(
            self,
            asks=tuple(each for each in self.asks if each.subject != subject),
            closed=(*self.closed, subject),
            dropping=(*self.dropping, dropping) if dropping else self.dropping,
            answers=(*self.answers, *found),
        )

    def edited(self, path: str) -> Self:
        """Return the truth once a file was edited."""
        return replace(self, changed=tuple(dict.fromkeys((*self.changed, path))))

    def committed(self, commits: tuple[Commit, ...]) -> Self:
        """Return the truth once files were committed."""
        paths = {each.path for each in commits}
        return replace(
            self,
            changed=tuple(path for path in self.changed if path not in paths),
            commits=(*self.commits, *commits),
        )

    def measured(self, fact: Fact) -> Self:
        """Return the truth once a value was given or corrected."""
        others = tuple(each for each in self.facts if each.topic != fact.topic)
        return replace(self, facts=(*others, fact))

    def bounded(self, bound: Bound) -> Self:
        """Return the truth once a rule was set or revoked."""
        others = tuple(each for each in self.bounds if each.area != bound.area)
        return replace(self, bounds=(*others, bound))
