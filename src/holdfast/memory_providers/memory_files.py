"""The built-in memory: two files of a profile, which people may edit too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from holdfast.errors import MemoryRefused
from holdfast.memory import (
    MEMORY_TOOL,
    NOTEBOOKS,
    AlreadyThere,
    Edited,
    applied,
    edit_from,
    prompt_block,
    read_entries,
    size_of,
    write_entries,
)
from holdfast.ports.memory import MemoryProvider
from holdfast.redaction import redact
from holdfast.system.file_edits import explained, locked, make_folder, put_in_place, read_file
from holdfast.system.project_files import project_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from holdfast.memory import Edit, Edition, Entries, Notebook
    from holdfast.wire.tool_specs import ToolSpec

_LOCK = ".lock"
_TRIES = 5
_LARGEST = 1_000_000
"""Bytes; a file this large is none of ours, and reading it would only cost."""


class MemoryFiles(MemoryProvider):
    """Keeps entries in `MEMORY.md` and `USER.md`, and reads the files of a project.

    Edits are made one at a time across processes, and each is all or nothing. An edit of a person
    that comes between is read again and kept.
    """

    def __init__(
        self,
        folder: Path,
        *,
        project: Path | None = None,
        redactor: Callable[[str], str] = redact,
        patience: float = 10.0,
    ) -> None:
        """Take the folder of the files; nothing is read or made before it is needed.

        Args:
            folder: Where the files are; made by the first edit.
            project: The working directory, if its project files are to be in the prompt.
            redactor: Masks the secrets in what is kept.
            patience: Seconds to wait while another process edits.
        """
        self.folder = folder
        self._project = project
        self._redact = redactor
        self._patience = patience

    @property
    def name(self) -> str:
        """Return the name of the built-in memory."""
        return "files"

    def system_block(self) -> str:
        """Return the entries and the project's files as they are now.

        A file that cannot be read is named in its place: a session begins all the same.
        """
        found: list[tuple[Notebook, Entries]] = []
        troubles: list[str] = []
        for notebook in NOTEBOOKS.values():
            try:
                found.append((notebook, self.entries(notebook)))
            except MemoryRefused as error:
                troubles.append(f"[Memory: {error}]")
        projects = project_files(self._project, self._redact) if self._project else ()
        return "\n\n".join(filter(None, [prompt_block(found, projects, self._redact), *troubles]))

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the `memory` tool."""
        return (MEMORY_TOOL,)

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Carry out an edit that the model asks for, and say what is kept now.

        Raises:
            MemoryRefused: when the edit is not allowed or not possible.
        """
        if name != MEMORY_TOOL.name:
            return super().call(name, arguments)
        edit = edit_from(arguments)
        edition = self.edit(edit)
        notebook = NOTEBOOKS[edit.target]
        answer = {
            "done": isinstance(edition, Edited),
            "message": edition.words,
            "target": notebook.name,
            "entries": list(edition.entries),
            "characters": size_of(edition.entries),
            "limit": notebook.limit,
        }
        return json.dumps(answer, ensure_ascii=False)

    def path(self, notebook: Notebook) -> Path:
        """Return where a file is, or would be."""
        return self.folder / notebook.file

    def entries(self, notebook: Notebook) -> Entries:
        """Return what a file holds now; a file that does not exist holds nothing.

        Raises:
            MemoryRefused: when it cannot be read.
        """
        return _read(self._content(notebook), self.path(notebook))

    def edit(self, edit: Edit) -> Edition:
        """Change a file, or leave it exactly as it was.

        Raises:
            MemoryRefused: when the edit is not allowed or not possible.
        """
        notebook = NOTEBOOKS[edit.target]
        file = self.path(notebook)
        try:
            make_folder(self.folder)
            with locked(self.folder / _LOCK, self._patience):
                return self._edited(edit, notebook)
        except OSError as error:
            raise explained(error, file, "written") from error

    def _edited(self, edit: Edit, notebook: Notebook) -> Edition:
        file = self.path(notebook)
        for _ in range(_TRIES):
            before = self._content(notebook)
            edition = applied(edit, _read(before, file), notebook, self._redact)
            if isinstance(edition, AlreadyThere):
                return edition
            # An editor knows nothing of the lock: what somebody saved meanwhile is not lost.
            if self._content(notebook) == before:
                put_in_place(file, write_entries(edition.entries).encode())
                return edition
        raise MemoryRefused(f"{file} is being changed by somebody else all the time; try again")

    def _content(self, notebook: Notebook) -> bytes:
        file = self.path(notebook)
        try:
            content = read_file(file, _LARGEST + 1)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise explained(error, file, "read") from error
        if len(content) > _LARGEST:
            raise MemoryRefused(f"{file} is larger than {_LARGEST:,} bytes; shorten it")
        return content


def _read(content: bytes, file: Path) -> Entries:
    try:
        return read_entries(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MemoryRefused(
            f"{file} is not UTF-8 text (byte {error.start}); save it as UTF-8, nothing was changed"
        ) from None
