"""X as Dask has it: chunks of rows, what they are, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._layout import share_out
from ._shards import Facts, facts_of


def release(futures: list[Any]) -> None:
    """Lets go of them now: a frame of an exception may keep them for long."""
    for future in futures:
        future.release()


def gathered(client: Any, chunks: Chunks) -> Any:
    """All rows, in this process."""
    pieces = client.gather(client.compute(chunks.delayed))
    if hasattr(pieces[0], "iloc"):
        import pandas as pd

        return pd.concat(pieces)
    return (sp.vstack(pieces).tocsr() if any(map(sp.issparse, pieces))
            else np.concatenate(pieces))


class Chunks:
    """Chunks of rows, first to last."""

    def __init__(self, X: Any):
        self.X = X
        self.frame = hasattr(X, "map_partitions")
        self.columns: list[Any] | None = list(X.columns) if self.frame else None
        if self.frame:
            self._delayed = list(_checked_frame(X).to_delayed())
            self.known = [float("nan")] * len(self._delayed)
        else:
            self._delayed = _checked_array(X).to_delayed().ravel().tolist()
            self.known = list(X.chunks[0])
        self.facts: list[Facts] = []

    @classmethod
    def of_pieces(cls, pieces: list[Any], sizes: list[int], columns: list[Any] | None) -> Chunks:
        """Rows that are persisted as delayed objects."""
        chunks = cls.__new__(cls)
        chunks.X, chunks._delayed, chunks.known = pieces, pieces, [float(size) for size in sizes]
        chunks.frame, chunks.columns, chunks.facts = columns is not None, columns, []
        return chunks

    @property
    def delayed(self) -> list[Any]:
        return self._delayed

    def __len__(self) -> int:
        return len(self._delayed)

    @property
    def counted(self) -> bool:
        """Whether the sizes had to be counted."""
        return any(size != size for size in self.known)

    def begin(self, client: Any, threads: dict[str, int]) -> list[Any]:
        """A future for each chunk, neighbours together unless they are somewhere already."""
        from distributed import futures_of

        if futures_of(self.X):  # where it is persisted, or near what it is made from
            return self.again(client, range(len(self)), None)
        places = share_out(self.known, threads)
        futures: list[Any] = [None] * len(self)
        for place in dict.fromkeys(places):
            own = [chunk for chunk, there in enumerate(places) if there == place]
            for chunk, future in zip(own, self.again(client, own, place)):
                futures[chunk] = future
        return futures

    def again(self, client: Any, which: Sequence[int], place: str | None) -> list[Any]:
        """A future for each of some chunks, on a worker if it is there, else anywhere."""
        where = {} if place is None else {"workers": [place], "allow_other_workers": True}
        return list(client.compute([self._delayed[chunk] for chunk in which], **where))

    def look(self, client: Any, futures: list[Any], wait: Callable[[list[Any]], None]) -> None:
        """What the chunks are, from where they are."""
        asked = client.map(facts_of, futures, pure=False, key="fwsr-facts")
        try:
            wait(asked)
            self.facts = client.gather(asked)
        finally:
            release(asked)
        features = {f.features for f in self.facts}
        kinds = {f.sparse for f in self.facts if f.rows}
        if len(features) > 1:
            raise ValueError("the chunks of X have different numbers of columns: "
                             f"{', '.join(map(str, sorted(features)))}")
        if len(kinds) > 1:
            raise ValueError("some chunks of X are sparse and some dense; make them all of one "
                             "kind, as in X.map_blocks(scipy.sparse.csr_matrix)")

    @property
    def sizes(self) -> list[int]:
        return [f.rows for f in self.facts]

    @property
    def features(self) -> int:
        return self.facts[0].features

    @property
    def sparse(self) -> bool:
        return any(f.sparse for f in self.facts)

    @property
    def dtype(self) -> str:
        """One for all points: narrow where every chunk is of one such type, else float32 where that
        holds all."""
        kinds = {f.dtype for f in self.facts if f.rows}
        if len(kinds) == 1:
            return next(iter(kinds))
        return "float64" if "float64" in kinds else "float32"


def _checked_array(X: Any) -> Any:
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} axes, and points are rows of numbers: give "
                         "X.reshape(len(X), -1), where each image or series is one row")
    if X.numblocks[1] > 1:
        raise ValueError(f"X is cut into {X.numblocks[1]} blocks of columns, and a point must be "
                         "in one place: give X.rechunk({1: -1})")
    return X


def _checked_frame(X: Any) -> Any:
    if not hasattr(X, "columns") or not len(X.columns):
        raise ValueError("X has no columns, so the points have no features; a table is needed")
    for name, kind in X.dtypes.items():
        plain = getattr(kind, "numpy_dtype", kind)
        if not isinstance(plain, np.dtype) or plain.kind not in "biuf":
            raise ValueError(f"column '{name}' holds {kind} and not numbers; leave it out, or turn "
                             "it into numbers")
    return X
