"""A chat in a terminal of its own, typed to as a person does."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[=>]|\r")
PATIENCE = 60.0
"""Seconds that a program may take to answer; a busy machine starts one in ten."""


class Keyboard:
    """The other end of a terminal."""

    def __init__(self, end: int, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._end = end
        self._raw = b""
        self._from = 0

    @property
    def raw(self) -> str:
        """Return everything that was written, as it was."""
        return self._raw.decode("utf-8", "replace")

    @property
    def screen(self) -> str:
        """Return everything that was ever drawn, without the commands that drew it."""
        return _ESCAPES.sub("", self.raw)

    def type(self, keys: str) -> None:
        """Press keys; what is waited for next must come after them."""
        self._from = len(self.screen)
        os.write(self._end, keys.encode())

    def wait(self, words: str) -> str:
        """Wait until words are drawn, and return what was drawn since the last keys."""
        end = time.monotonic() + PATIENCE
        while words not in self.screen[self._from :]:
            if time.monotonic() > end or not self._read(0.1):
                raise AssertionError(f"{words!r} is not in {self.screen[self._from :]!r}")
        return self.screen[self._from :]

    def ended(self) -> int:
        """Wait for the end of the program, and return its exit code."""
        while self._read(PATIENCE):
            pass
        return self.process.wait(PATIENCE)

    def _read(self, patience: float) -> bool:
        ready, _, _ = select.select([self._end], [], [], patience)
        if not ready:
            return patience < PATIENCE
        try:
            more = os.read(self._end, 65_536)
        except OSError:
            return False
        if b"\x1b[6n" in more:
            # Where the cursor is; nobody who asks needs the truth here.
            os.write(self._end, b"\x1b[1;1R")
        self._raw += more
        return bool(more)


@contextmanager
def terminal(
    *arguments: str,
    columns: int = 80,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    program: tuple[str, ...] = (sys.executable, "-m", "holdfast"),
) -> Generator[Keyboard]:
    """Run `holdfast`, or another program, in a terminal."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [*program, *arguments],
        stdin=far,
        stdout=far,
        stderr=far,
        env={**os.environ, "TERM": "xterm-256color", **(env or {})},
        cwd=cwd,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(far)
    try:
        yield Keyboard(near, process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(near)
