"""What runs on workers: chunks are looked at, cut, and held by an actor that answers questions."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import _core
from .._data import dense_points
from .._numbers import held_type, is_bfloat16, numbers_of, point_type, widened


class Facts(NamedTuple):
    """What a chunk is."""

    rows: int
    features: int
    dtype: str
    sparse: bool


def facts_of(chunk: Any) -> Facts:
    """Of a chunk as Dask has it: an array, a sparse matrix or a table."""
    if getattr(chunk, "ndim", 0) != 2:
        raise ValueError(f"a chunk of X is a {type(chunk).__name__} and no matrix of numbers")
    rows, features = map(int, chunk.shape)
    if hasattr(chunk, "dtypes"):
        kinds = [getattr(kind, "numpy_dtype", kind) for kind in chunk.dtypes]
        dtype = np.result_type(*kinds) if kinds else np.dtype(float)
        one = len(set(chunk.dtypes)) == 1 and isinstance(chunk.dtypes.iloc[0], np.dtype)
    else:
        dtype = np.dtype(chunk.dtype)
        one = not sp.issparse(chunk)
    name = held_type(dtype).name if one and not is_bfloat16(dtype) else point_type(dtype).name
    return Facts(rows, features, name, sp.issparse(chunk))


def rows_of(chunk: Any, start: int, stop: int) -> Any:
    """Some rows by themselves: their chunk can go."""
    return (chunk.iloc if hasattr(chunk, "iloc") else chunk)[start:stop].copy()


def digest(answer: bytes) -> bytes:
    """Enough of an answer to tell whether another is the same."""
    return blake2b(answer, digest_size=8).digest()


class Shards:
    """The parts of the points that one worker holds, an actor.

    `parts` are pairs of the number of a part's first point and its pieces, which are triples: a
    place in `chunks` and rows of it.
    """

    def __init__(self, parts: Sequence[tuple[int, Sequence[tuple[int, int, int]]]], of: int,
                 dtype: str, preprocessing: bytes, *chunks: Any):
        from distributed import get_worker

        worker = get_worker()
        self._where = worker.address
        threads = int(worker.state.nthreads)
        notes: list[str] = []
        numbers = [_converted(chunk, dtype, notes) for chunk in chunks]
        ids: list[Any] = [chunk.index if hasattr(chunk, "iloc") else None for chunk in chunks]
        self._notes = notes
        self._parts = [(first, [numbers[c][start:stop] for c, start, stop in pieces],
                        [None if ids[c] is None else ids[c][start:stop]
                         for c, start, stop in pieces])
                       for first, pieces in parts]
        self._shards = [_core.Shard(_points(values), preprocessing, first, of, threads)
                        for first, values, _ in self._parts]
        self._number = 0
        self._answers: list[bytes] = []

    def where(self) -> tuple[str, list[str]]:
        """Its worker, and what was copied to make points of the chunks."""
        return self._where, self._notes

    def answer(self, number: int, questions: list[bytes]) -> list[bytes]:
        """What every part says to the last question, the others being told before.

        Of a question that comes twice, because its answer was lost on the way, the second is
        answered as the first was: the points are changed once.
        """
        if number != self._number:
            self._answers = [shard.answer(questions) for shard in self._shards]
            self._number = number
        return self._answers

    def replay(self, questions: list[bytes]) -> list[list[bytes]]:
        """All that changed the shards before: of every question a digest of each answer."""
        return [[digest(shard.answer([question])) for shard in self._shards]
                for question in questions]

    def rows(self, points: list[int]) -> tuple[list[int], Any, list[Any]]:
        """Those of some points that are here: their places in the list, their rows, their ids."""
        which, rows, ids = [], [], []
        for place, point in enumerate(points):
            for first, values, index in self._parts:
                row = point - first
                for piece, labels in zip(values, index):
                    if 0 <= row < piece.shape[0]:
                        which.append(place)
                        rows.append(piece[row:row + 1])
                        ids.append(None if labels is None else labels[row])
                    row -= piece.shape[0]
        if not rows:
            return which, None, ids
        joined = (sp.vstack(rows).tocsr() if sp.issparse(rows[0])
                  else widened(np.concatenate(rows)))
        return which, joined, ids

    async def stop(self) -> None:
        """Breaks off what is being answered. On the event loop: the thread of actors is busy."""
        for shard in self._shards:
            shard.stop()


def _converted(chunk: Any, dtype: str, notes: list[str]) -> Any:
    narrow = dtype not in ("float32", "float64")
    values = numbers_of(chunk, notes, narrow) if chunk.shape[0] else chunk
    if values.dtype == dtype:
        return values
    notes.append(f"{values.dtype} converted once to {dtype}, as other chunks are")
    return values.astype(dtype)


def _points(values: list[Any]) -> list[_core.Points]:
    """Pieces as the core borrows them; sparse ones are joined."""
    if sp.issparse(values[0]):
        joined = sp.vstack(values).tocsr() if len(values) > 1 else values[0]
        return [_core.Points.sparse(joined.data, joined.indices, joined.indptr, joined.shape[1])]
    return [dense_points(piece) for piece in values]
