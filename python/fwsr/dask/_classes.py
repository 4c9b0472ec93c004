"""One class after the other, out of points on a cluster."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._answers import joined
from .._clusters import is_collection
from .._run import Request, Run, how_many
from ._chunks import Chunks, gathered, release
from ._lazy import _represented_by
from ._shards import facts_of

#: Classes of no more points are chosen from in one place: there is no time to win by sharing them.
FEW = 4096


def in_order(names: Sequence[str]) -> list[str]:
    """As the core has classes: numbers by their values, then words."""
    def key(name: str) -> tuple[bool, float, str]:
        number = re.fullmatch(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", name)
        return (False, float(name), name) if number else (True, 0.0, name)

    return sorted(names, key=key)


def wanted_of(names: Sequence[str], sizes: Sequence[int], counts: tuple[str, Any]) -> list[int]:
    """How many exemplars each class gives."""
    kind, number = counts
    if kind == "each":
        return [number] * len(names)
    if kind == "named":
        return [number.get(name, 0) for name in names]
    n = sum(sizes)
    shares = [size * number // n for size in sizes]
    rest = sorted(range(len(sizes)), key=lambda c: (-(sizes[c] * number % n), c))
    for c in rest[:number - sum(shares)]:
        shares[c] += 1
    return shares


def split(chunk: Any, places: np.ndarray, classes: int) -> list[Any]:
    """The rows of a chunk, class by class."""
    rows = chunk.iloc if hasattr(chunk, "iloc") else chunk
    return [rows[np.flatnonzero(places == c)] for c in range(classes)]


class Split:
    """The points of a collection, in pieces of one class each, persisted until it is closed."""

    def __init__(self, client: Any, X: Any, y: Any, k: Any, per_class: Any):
        from dask import delayed
        from distributed import futures_of, wait

        chunks = Chunks(X)
        self.client, self.columns = client, chunks.columns
        labels = np.asarray(y.compute() if is_collection(y) else y) if y is not None else None
        sizes = chunks.known
        if chunks.counted:
            counted = client.gather(client.compute([delayed(facts_of)(one)
                                                    for one in chunks.delayed]))
            sizes = [facts.rows for facts in counted]
        self.sizes = [int(size) for size in sizes]
        n = sum(self.sizes)
        _, self.classes = how_many(k, per_class, labels, n, name="k")
        assert self.classes.places is not None and self.classes.counts is not None
        ends = np.cumsum(self.sizes)[:-1]
        self.places = np.split(self.classes.places, ends)
        count = len(self.classes.names)
        parts = [delayed(split, nout=count, pure=False)(chunk, own, count)
                 for chunk, own in zip(chunks.delayed, self.places)]
        pieces = [[part[c] for part in parts] for c in range(count)]
        flat = client.persist([piece for of_class in pieces for piece in of_class])
        self.pieces = [flat[c * len(parts):(c + 1) * len(parts)] for c in range(count)]
        self._futures = futures_of(flat)
        try:
            wait(self._futures)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return sum(self.sizes)

    def members(self, name: str) -> np.ndarray:
        """Rows of all points."""
        assert self.classes.places is not None
        return np.flatnonzero(self.classes.places == self.classes.names.index(name))

    def chunks(self, name: str) -> Chunks:
        c = self.classes.names.index(name)
        return Chunks.of_pieces(self.pieces[c], [int((own == c).sum()) for own in self.places],
                                self.columns)

    def close(self) -> None:
        futures, self._futures, self.pieces = self._futures, [], []
        release(futures)


@dataclasses.dataclass
class Part:
    """What one class gave."""

    raw: dict[str, Any]  # as the core tells it of a class
    encoder: Any  # None: no exemplars
    points: Any
    ids: list[Any] | None
    wire: dict[str, int]
    notes: list[str]


def of_all_points(raw: dict[str, Any], members: np.ndarray) -> dict[str, Any]:
    """Numbers of points within a class become those of all points."""
    raw = {**raw, "exemplars": members[raw["exemplars"]], "assignment": None, "codes": None}
    picks = raw["trace"]["pick"]
    raw["trace"] = {**raw["trace"],
                    "pick": np.where(picks >= 0, members[picks], picks) if len(picks) else picks}
    if raw.get("coefficients") is not None:
        basis = raw["coefficients"]["basis"]
        raw["coefficients"] = {**raw["coefficients"], "basis": members[basis]}
    return raw


def chosen_here(points: Split, name: str, wanted: int, request: Request, n_jobs: int | None,
                watcher: Any) -> Part:
    """From a class that is brought to this process."""
    rows, members = gathered(points.client, points.chunks(name)), points.members(name)
    run = Run.prepare(rows, request, {name: wanted}, False, [name] * len(members), n_jobs, None,
                      name="k")
    run.options["assignment"] = False
    raw = run.planned().select(watcher.function, watcher.every_step)
    selection = run.selection(raw)
    encoder = next((encoder for _, encoder, _ in run.class_encoders(selection)), None)
    ids = None
    if points.columns is not None:
        ids = [rows.index[i] for i in selection.exemplars.tolist()]
    return Part({"name": name, "members": members,
                 "selection": of_all_points(raw[0]["selection"], members)},
                encoder, run.original.rows(selection.exemplars), ids, {}, run.data.notes)


def joined_parts(parts: list[Part], points: Split, frame: bool) -> dict[str, Any]:
    """The fields of the selection of all classes."""
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    found = joined([part.raw for part in parts], len(points), notes, None)
    rows = [part.points for part in parts if part.points.shape[0]]
    together = None
    if rows:
        together = sp.vstack(rows).tocsr() if sp.issparse(rows[0]) else np.concatenate(rows)
    wire: dict[str, int] = {}
    for part in parts:
        for name, number in part.wire.items():
            wire[name] = wire.get(name, 0) + number
    fields = {f.name: getattr(found, f.name) for f in dataclasses.fields(found)}
    if frame:
        fields["ids"] = [one for part in parts for one in part.ids or []]
    return {**fields, "points": together, "wire": wire}


def lazy_assignment(X: Any, points: Split, parts: list[Part]) -> Any:
    """For each point the place of its exemplar among those of all classes."""
    from dask import delayed

    names, first = points.classes.names, 0
    encoders: list[Any] = [None] * len(names)
    for part in parts:
        if part.encoder is not None:
            encoders[names.index(part.raw["name"])] = (part.encoder, first)
        first += len(part.raw["selection"]["exemplars"])
    told = delayed(encoders)
    pieces = [delayed(represented)(chunk, own, told)
              for chunk, own in zip(Chunks(X).delayed, points.places)]
    if hasattr(X, "map_partitions"):
        import dask.dataframe as dd
        import pandas as pd

        return dd.from_delayed(pieces, meta=pd.Series(dtype=np.int64), verify_meta=False)
    import dask.array as da
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    name = f"fwsr-assignment-{tokenize(*[piece.key for piece in pieces])}"
    layer: dict[Any, Any] = {(name, block): piece.key
                             for block, piece in enumerate(pieces)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=pieces)
    return da.Array(graph, name, (X.chunks[0],), dtype=np.int64)


def represented(chunk: Any, places: np.ndarray, encoders: list[Any]) -> Any:
    """For each row of a chunk; -1 where its class has no exemplar."""
    rows = chunk.iloc if hasattr(chunk, "iloc") else chunk
    found = np.full(len(places), -1, dtype=np.int64)
    for c, told in enumerate(encoders):
        own = np.flatnonzero(places == c)
        if told is not None and len(own):
            encoder, first = told
            own_places = _represented_by(rows[own], encoder)
            found[own] = np.where(own_places >= 0, own_places + first, -1)
    if hasattr(chunk, "iloc"):
        import pandas as pd

        return pd.Series(found, index=chunk.index)
    return found
