"""The prompt in a terminal: history, completion, several lines, and news while it waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.styles import Style

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

    from holdfast.cli.screen import Line

_PROMPT = "> "
_MORE = ". "
_REFRESH = 0.4
"""Seconds between two looks at what happened meanwhile."""
_COLORS = {
    "dim": "dim",
    "bold": "bold",
    "green": "ansigreen",
    "cyan": "ansicyan",
    "yellow": "ansiyellow",
    "red": "ansired",
}
# The usual bar is drawn reversed, which hides what the colors say.
_STYLE = Style.from_dict({"bottom-toolbar": "noreverse"})


@dataclass(frozen=True, slots=True)
class Below:
    """What is to be seen while the prompt waits."""

    line: Callable[[], Line]
    """Returns the line below the prompt."""
    news: Callable[[], object]
    """Draws what happened since it was called last; it must not raise."""


class Terminal:
    """A prompt. Enter sends; Alt-Enter or a backslash at the end begins another line."""

    def __init__(self, history: Path, commands: Sequence[str], below: Below) -> None:
        """Set the prompt up.

        Args:
            commands: What is completed after a slash.
            below: What is to be seen meanwhile; asked again while the prompt waits.
        """
        with contextlib.suppress(OSError):
            history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._below = below
        keys = KeyBindings()

        def enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        def another_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        keys.add("enter")(enter)
        keys.add("escape", "enter")(another_line)
        self._session: PromptSession[str] = PromptSession(
            history=_History(str(history)),
            completer=WordCompleter(list(commands), sentence=True),
            complete_while_typing=False,
            multiline=True,
            prompt_continuation=_MORE,
            key_bindings=keys,
            enable_open_in_editor=True,
            style=_STYLE,
        )

    def read(self) -> str | None:
        """Return what the user typed; None at the end of input."""
        try:
            with patch_stdout(raw=True):
                return self._session.prompt(
                    _PROMPT,
                    bottom_toolbar=self._toolbar,
                    refresh_interval=_REFRESH,
                    pre_run=self._begin_telling,
                )
        except EOFError:
            return None

    def ask(self, question: str) -> str:
        """Return the answer to a question, which is not kept in the history."""
        asking: PromptSession[str] = PromptSession()
        try:
            return asking.prompt(question)
        except EOFError:
            return ""

    @property
    def echoes(self) -> bool:
        """Return False: the user sees what they type."""
        return False

    def _toolbar(self) -> FormattedText:
        return FormattedText(
            [
                (" ".join(filter(None, map(_COLORS.get, span.style.split()))), span.text)
                for span in self._below.line()
            ]
        )

    def _begin_telling(self) -> None:
        """Draw news above the prompt for as long as it waits."""

        async def tell() -> None:
            while True:
                # What it writes goes through the patched output, which makes room for it.
                self._below.news()
                await asyncio.sleep(_REFRESH)

        get_app().create_background_task(tell())


class _History(FileHistory):
    """What was typed, in a file; a file that cannot be read or written is no reason to stop."""

    def load_history_strings(self) -> Iterable[str]:
        """Return what was typed before, newest first."""
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        """Keep what was typed."""
        with contextlib.suppress(OSError):
            super().store_string(string)
