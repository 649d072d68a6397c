"""The turns of a conversation: what a user said, what was done about it, which files were written.

Agents without an edit tool change files with `sed -i`, redirects and small scripts. Such a file
belongs to the changed ones, and only the command names it.

Only the newest calls are read closely. A record has room for a few hundred lines, and to read
every old result would make the cost of a compaction grow with what nobody will see.
"""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from holdfast.summary.brief import shortened
from holdfast.summary.choices import BACK, chosen
from holdfast.summary.tracing import letters
from holdfast.transcript import Role, ToolCall, said_at
from holdfast.transcript.blocks import is_answer, is_output, output_in, shell_blocks
from holdfast.transcript.effects import STUB, Effect, Family, effect, effect_of_text
from holdfast.transcript.toolkit import Action, Toolkit, opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from holdfast.summary.brief import Sizes
    from holdfast.transcript import Message, ToolResult

_READ_OF_COMMAND, _DOCUMENTS = 20_000, 20
_SIGNS = (">", "sed ", "tee ", "open(", "write_text")
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]{0,4}['\"]?(\w{1,40})['\"]?([^\n]{0,2000})\n")
# A quote that never closes runs to the end, so that no text is read twice.
_QUOTED = re.compile(r"'[^']*(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\\?\Z)", re.DOTALL)
_QUOTE = "\x00"
_REDIRECT = re.compile(r"(?<![0-9&<>=-])>{1,2}[ \t]{0,4}([^\s;&|<>()$`\x00]{1,200})")
_TEE = re.compile(r"\btee[ \t]+(?:-a[ \t]+)?([^\s;&|<>()$`\x00-]{1}[^\s;&|<>()$`\x00]{0,200})")
_SED = re.compile(r"\bsed[ \t]+([^;&|\n]{0,2000})")
_SCRIPT = re.compile(r"\bpython[0-9.]{0,5}[ \t]+(?:-u[ \t]+)?(?:-c\b|-?[ \t]{0,4}<<)")
_OPENED = re.compile(
    r"\bopen\([ \t]{0,4}['\"]([^'\"\n]{1,200})['\"],[ \t]{0,4}(?:mode=)?['\"][wax]"
    r"|\bPath\(['\"]([^'\"\n]{1,200})['\"]\)\.write_"
)
_PATH = re.compile(r"[\w.~@+/\\-]*[./][\w.~@+/-]*\w|\w+file")


def written_files(command: str) -> tuple[str, ...]:
    """Return the files that the command edits in place, redirects into or writes by a script."""
    if not any(sign in command for sign in _SIGNS):
        return ()
    read = command[:_READ_OF_COMMAND]
    bare = unquoted(read)
    found: list[str] = []
    for names in map(str.split, _SED.findall(bare)):
        if any(name.startswith(("-i", "--in-place")) for name in names):
            plain = [name for name in names if not name.startswith("-")]
            # Without `-e` the first plain word is the script.
            found += [name for name in plain["-e" not in names :] if _QUOTE not in name]
    found += _REDIRECT.findall(bare) + _TEE.findall(bare)
    if _SCRIPT.search(read):
        found += ["".join(groups) for groups in _OPENED.findall(read)]
    files = (path for path in found if not path.startswith("/dev/") and _PATH.fullmatch(path))
    return tuple(dict.fromkeys(files))


@lru_cache(maxsize=1024)
def unquoted(command: str) -> str:
    """Return a command without what it quotes or feeds to programs: messages, patterns, texts."""
    return _QUOTED.sub(_QUOTE, without_documents(command[:_READ_OF_COMMAND]))


def without_documents(command: str) -> str:
    """Return the command without what it feeds to programs between `<<EOF` and `EOF`."""
    for _ in range(_DOCUMENTS):
        found = _HEREDOC.search(command)
        if found is None:
            break
        lines = iter(command[found.end() :].split("\n"))
        closed = any(line.strip() == found[1] for line in lines)
        rest = "\n".join(lines) if closed else ""
        command = f"{command[: found.start()]} {found[2]}\n{rest}"
    return command


def document_in(command: str) -> str:
    """Return the first text that a command feeds to a program between `<<EOF` and `EOF`."""
    found = _HEREDOC.search(command[:_READ_OF_COMMAND])
    if found is None:
        return ""
    text = command[found.end() : _READ_OF_COMMAND]
    return re.split(rf"^\s*{re.escape(found[1])}\s*$", text, maxsplit=1, flags=re.MULTILINE)[0]


_GIST, _CHARACTERS = 400, 160_000
_TARGET, _WRITTEN = (2_000, 2_000, 0), (4_000, 4_000, 0)
_ANSWER, _BEGINNING = (3_500, 2_000, 1_500), 400
"""How much is read of an answer, and of one that only shows whether the call was let."""
_SILENT = (Family.READ, Family.SEARCH, Family.WEB, Family.WRITE)
"""Families of which a record tells what was asked for, and not what came back."""
_STEP = re.compile(r"&&|\|\||[;|\n]")
_FINDS = re.compile(
    r"\s*(?:sudo )?(?:(?:git )?(?:e?grep|diff)|rg|ag|ack|cmp|test|\[|which|pgrep)\s"
)
_LABEL = re.compile(r"\A\s{0,8}(?i:thoughts?|discussion|reasoning|analysis)(?::|\n|\Z)\s{0,8}")
"""What agents that write commands as text put before their words, at the head of each message."""
_EDITS, _UPDATED = ("edit ", "insert ", "append "), "File updated"
_OPEN_FILE = re.compile(r"^\[File: (\S[^\n]{0,300}?) \(\d{1,9} lines total\)\]", re.MULTILINE)
"""Commands of an editor that agents use through words, and how its answer names the file."""
_INTERRUPTED = "[request interrupted by user"
_REJECTED = re.compile(
    r"user (?:doesn't|does not|did not|didn't) want to (?:proceed|take)|rejected by (?:the )?user"
    r"|user (?:rejected|declined|denied|cancelled|canceled)|permission (?:was )?denied by",
    re.IGNORECASE,
)


class Deed(Struct, frozen=True, gc=False):
    """A call and how it ended, if it did."""

    action: Action
    ended: Effect | None
    beside: str
    """Where a command ran, or what an edit took away."""
    place: int
    """The message that made the call."""

    @property
    def failed(self) -> bool:
        """Say whether the call is known to have failed."""
        if self.ended is None or not self.ended.failed:
            return False
        if self.ended.exit_code != 1 or self.action.family is not Family.SHELL:
            return True
        # What only looks for something ends with 1 where it is not there.
        return not _FINDS.match(_STEP.split(unquoted(self.action.target).strip())[-1])

    @property
    def rejected(self) -> bool:
        """Say whether the user did not let it happen."""
        said = "" if self.ended is None else self.ended.text[:400]
        # Most answers name no user, and to look for a word costs a tenth of trying the pattern.
        is_likely = "user" in said or "User" in said or "denied by" in said
        return is_likely and _REJECTED.search(said) is not None


class Remark(Struct, frozen=True, gc=False):
    """What the assistant said."""

    text: str
    place: int
    acts: bool = False
    """Whether its message makes a call or runs a command in a fence: it concludes nothing."""


Step: TypeAlias = Deed | Remark


class Turn(Struct, frozen=True, gc=False):
    """What a user said, in one message or several, and everything that followed from it."""

    place: int
    """The message it begins with."""
    asks: list[str] = field(default_factory=list[str])
    steps: list[Step] = field(default_factory=list[Step])
    chosen: list[str] = field(default_factory=list[str])
    """The points of the assistant that a short ask named."""
    older: int = 0
    """How many calls of this turn were not read."""
    interrupted: bool = False
    """Whether the user stopped the assistant."""
    is_far: bool = False
    """Whether so much was said since that only the gist of it is told."""
    places: list[int] = field(default_factory=list[int])
    """The message in which each ask stands."""

    @property
    def reply(self) -> Remark | None:
        """Return the words that concluded the turn: the assistant's last, after all its calls."""
        last = self.steps[-1] if self.steps else None
        return last if isinstance(last, Remark) and not last.acts else None

    @property
    def acts(self) -> bool:
        """Say whether anything was done in the turn."""
        return self.older > 0 or any(isinstance(step, Deed) for step in self.steps)

    @property
    def deeds(self) -> Iterator[Deed]:
        """Yield what was done, in order."""
        return (step for step in self.steps if isinstance(step, Deed))


def read_turns(  # noqa: PLR0913 - what is read, how closely, and what is known before it
    messages: Sequence[Message],
    toolkit: Toolkit,
    closely: int,
    gap: int = 0,
    *,
    opens: bool = False,
    characters: int = _CHARACTERS,
    before: Iterable[str] = (),
) -> list[Turn]:
    """Return the turns of the messages, the newest read closely: so many calls, so many characters.

    Messages of a user that follow each other before the assistant did anything are one turn.
    What stands before the first user message is a turn without an ask; so is what follows the
    place `gap`, where a summary stood. What stands first in a conversation that the messages
    open is nobody's output. Short answers choose among points that the assistant named, also in
    what it said `before`, the newest first.
    """
    first = len(messages)
    while first and closely > 0:
        first -= 1
        if messages[first].role is Role.ASSISTANT:
            closely -= max(len(messages[first].calls), 1)
    results = {
        result.call_id: result
        for message in messages[first:]
        if message.role is not Role.ASSISTANT
        for result in message.results
        if result.text != STUB
    }
    turns, older = [Turn(0)], [0]
    said = deque(islice(before, BACK), maxlen=BACK)
    for index, message in enumerate(messages):
        if gap and index == gap:
            turns.append(Turn(index))
            older.append(0)
        role = message.role
        opens = opens and role is not Role.ASSISTANT
        if role is Role.ASSISTANT and message.synthetic is None:
            if (text := message.text) and not text.isspace():
                said.appendleft(text)
            closely_read = results if index >= first else None
            turns[-1].steps.extend(_steps(messages, index, closely_read, toolkit))
            older[-1] += len(message.calls) * (index < first)
        elif role is Role.USER:
            if words := said_at(messages, index, opens=opens):
                last = turns[-1]
                if not last.asks or last.steps or older[-1] or last.interrupted:
                    turns.append(Turn(index))
                    older.append(0)
                turns[-1].asks.append(words)
                turns[-1].places.append(index)
                turns[-1].chosen.extend(chosen(words, said))
            elif message.text[:80].lstrip().casefold().startswith(_INTERRUPTED):
                turns[-1] = replace(turns[-1], interrupted=True)
    pairs = zip(turns, older, strict=True)
    told = [replace(turn, older=calls) for turn, calls in pairs if turn.asks or turn.steps or calls]
    return _bounded(told, characters, toolkit.redact)


def _bounded(turns: list[Turn], left: int, redact: Callable[[str], str]) -> list[Turn]:
    """Return the turns with what was said in the newest of them; of older ones only the gist."""
    bounded: list[Turn] = []
    far = left * 2 // 3
    for turn in reversed(turns):
        kept: list[Step] = []
        for place, step in enumerate(reversed(turn.steps)):
            if isinstance(step, Deed):
                kept.append(step)
                continue
            # What is said on the way is told of the newest turns alone.
            if left > (far if place else 0) or (place == 0 and len(step.text) <= _GIST):
                kept.append(step)
            elif place == 0:
                kept.append(replace(step, text=opening(step.text, _GIST, redact)))
            left -= len(step.text)
        is_far = left <= 0
        asks = [
            opening(words, _GIST, redact) if is_far and len(words) > _GIST else words
            for words in turn.asks
        ]
        bounded.append(replace(turn, asks=asks, steps=kept[::-1], is_far=is_far))
        left -= sum(map(len, asks))
    return bounded[::-1]


def _steps(
    messages: Sequence[Message], index: int, results: dict[str, ToolResult] | None, toolkit: Toolkit
) -> Iterator[Step]:
    """Yield what a message says, and with `results` its calls or the command in its fence.

    A command that no output follows was suggested, not run. Agents that write commands as text
    run one for each message: the last.
    """
    message, text = messages[index], messages[index].text
    acts = bool(_answer(messages, index, is_answer))
    if index + 1 == len(messages) and index > 1 and _answer(messages, index - 2, is_answer):
        # Nobody could answer the newest yet.
        acts = bool(shell_blocks(text, unnamed=True))
    words = _LABEL.sub("", _without_last_block(text), count=1) if acts else text
    calls = [part for part in message.parts if type(part) is ToolCall]
    if words and not words.isspace():
        yield Remark(words, index, acts or bool(calls))
    for call in calls if results is not None else ():
        action = toolkit.action(call)
        if action.family is Family.SHELL and not action.files:
            action = replace(action, files=written_files(action.target))
        result = results.get(call.id) if results else None
        yield Deed(action, result and effect(result, action.family), action.beside, index)
    if calls or results is None or "```" not in text:
        return
    answer = _answer(messages, index, is_output)
    for command in shell_blocks(text, unnamed=True)[-1:] if answer else ():
        ended, shown = effect_of_text(answer), output_in(answer)
        if ended.exit_code is None:
            # An agent writes below the last line, in which it says that it stopped a command.
            ended = effect_of_text(shown)
        files = written_files(command)
        is_edit = command.startswith(_EDITS) and _UPDATED in ended.text
        if command.startswith(_EDITS) and not is_edit:
            ended = replace(ended, failed=True)
        if not files and (is_edit or command.startswith("create ")):
            # Only the answer of an editor names the file that its command changed.
            files = tuple(_OPEN_FILE.findall(ended.text)[:1])
        action = Action(Family.SHELL, "bash", command, files=files)
        yield Deed(action, replace(ended, text=output_in(ended.text)), "", index)


def _without_last_block(text: str) -> str:
    """Return what a message says around its last block of code, which is the command that ran."""
    end = text.rfind("\n```")
    if end < 0:
        return text
    if (text.count("\n```") + text.startswith("```")) % 2:
        return text[:end]
    before = text[: max(text.rfind("\n```", 0, end), 0)]
    after = text[end + 1 :].partition("\n")[2]
    return f"{before}\n{after}" if after else before


def _answer(messages: Sequence[Message], index: int, is_one: Callable[[str], bool]) -> str:
    """Return what a program answers to the message, if the next message is that."""
    if index + 1 == len(messages) or messages[index + 1].role is not Role.USER:
        return ""
    text = messages[index + 1].text
    return text if is_one(text) else ""


def said_once(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns without what was sent again: a plan as a request, or words to no effect."""
    once: list[Turn] = []
    later: list[str] = []
    after = ""
    for turn in reversed(turns):
        steps: list[Step] = []
        for step in turn.steps:
            if isinstance(step, Deed) and step.action.family is Family.PLAN:
                plan = letters(step.action.content)
                if plan and any(plan in letters(ask) for ask in later if len(ask) >= len(plan)):
                    title = step.action.content.strip().partition("\n")[0]
                    step = replace(step, action=replace(step.action, content=title))
            steps.append(step)
        asked = dict(zip(turn.asks, turn.places, strict=True))
        if steps or turn.older or not asked or any(ask.strip() not in after for ask in asked):
            once.append(replace(turn, asks=[*asked], places=[*asked.values()], steps=steps))
        later += asked
        after = " ".join(asked)
    return once[::-1]


def masked(turns: Sequence[Turn], redact: Callable[[str], str]) -> list[Turn]:
    """Return the turns redacted, before anything is cut: a secret is known by its surroundings."""
    texts: list[tuple[str, Sizes | None]] = []
    for turn in turns:
        texts += [(each, None) for each in (*turn.asks, *turn.chosen)]
        for step in turn.steps:
            if isinstance(step, Remark):
                texts.append((step.text, None))
                continue
            action, answer = step.action, step.ended.text if step.ended else ""
            is_silent = action.family in _SILENT and not (step.ended and step.ended.failed)
            texts += [(action.target, _TARGET), (action.content, _WRITTEN), (step.beside, None)]
            texts.append((answer[:_BEGINNING], None) if is_silent else (answer, _ANSWER))
    shown = iter(shortened(texts, redact, "\n"))
    found: list[Turn] = []
    for turn in turns:
        asks = [next(shown) for _ in turn.asks]
        named = [next(shown) for _ in turn.chosen]
        steps: list[Step] = []
        for step in turn.steps:
            if isinstance(step, Remark):
                text = next(shown)
                steps.append(step if text is step.text else replace(step, text=text))
                continue
            action, ended = step.action, step.ended
            target, content, beside, answer = (next(shown) for _ in range(4))
            if target is not action.target or content is not action.content:
                action = replace(action, target=target, content=content)
            if ended is not None and answer is not ended.text:
                ended = Effect(answer, ended.exit_code, ended.failed)
            steps.append(Deed(action, ended, beside, step.place))
        found.append(replace(turn, asks=asks, chosen=named, steps=steps))
    return found
