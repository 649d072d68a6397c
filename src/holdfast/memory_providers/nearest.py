"""The vectors of a file as one matrix in memory: a search is one product."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from holdfast.memory_providers.embedding import WIDTH
from holdfast.memory_providers.one_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.memory_providers.embedding import Array
    from holdfast.memory_providers.vector_file import VectorFile

__all__ = ["Nearest"]

_MOST = 100_000
"""Passages that are searched, the newest; as a matrix they take 150 MB."""
_BYTES = 4 * WIDTH
_ROOM = 256


class Nearest:
    """Finds the passages whose vectors point most nearly where a query's does.

    The matrix is read from the file when it is first needed, and later only what other steps and
    other processes have added.
    """

    def __init__(self, file: VectorFile) -> None:
        self._file = file
        self._ids: list[int] = []
        self._matrix: Array | None = None
        self._turn = threading.Lock()

    def to(self, query: Array, count: int) -> list[tuple[int, float]]:
        """Return the numbers of the nearest passages with their cosines, best first."""
        import numpy as np

        with self._turn:
            self._refresh()
            if self._matrix is None or not self._ids:
                return []
            with one_thread():
                cosines = self._matrix[: len(self._ids)] @ query
            count = min(count, len(self._ids))
            places = np.argpartition(-cosines, count - 1)[:count]
            ordered = sorted(places.tolist(), key=lambda place: -float(cosines[place]))
            return [(self._ids[place], float(cosines[place])) for place in ordered]

    def _refresh(self) -> None:
        newest = self._file.newest_id()
        last = self._ids[-1] if self._ids else 0
        if newest < last:
            # Somebody has moved the file away; another one has taken its place, or none.
            self._ids, self._matrix, last = [], None, 0
        if newest > last:
            self._append(self._file.vectors(max(last, newest - _MOST)))

    def _append(self, rows: Sequence[tuple[int, bytes]]) -> None:
        import numpy as np

        # A vector of another width is nothing that this version has written.
        whole = [(id_, vector) for id_, vector in rows if len(vector) == _BYTES]
        if not whole:
            return
        added = np.frombuffer(b"".join(vector for _, vector in whole), dtype="<f4")
        size = len(self._ids)
        matrix = self._roomy(size + len(whole))
        matrix[size : size + len(whole)] = added.reshape(-1, WIDTH)
        self._matrix = matrix
        self._ids.extend(id_ for id_, _ in whole)

    def _roomy(self, needed: int) -> Array:
        """Return the matrix with room for so many rows; it doubles, so that adding is cheap."""
        import numpy as np

        if self._matrix is not None and len(self._matrix) >= needed:
            return self._matrix
        larger = np.zeros((max(needed + _ROOM, 2 * len(self._ids)), WIDTH), dtype=np.float32)
        if self._matrix is not None:
            larger[: len(self._ids)] = self._matrix[: len(self._ids)]
        return larger
