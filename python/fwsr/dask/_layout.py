"""Which rows go where: whole segments to each worker, out of the chunks that it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Piece:
    """Rows of a chunk."""

    chunk: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Part:
    """Neighbouring points, in whole segments, that live in one place."""

    first: int
    place: str
    pieces: tuple[Piece, ...]

    def __len__(self) -> int:
        return sum(map(len, self.pieces))


def share_out(sizes: Sequence[float], threads: Mapping[str, int]) -> list[str]:
    """A worker for each chunk: neighbours together, rows in proportion to the threads.

    Sizes that nobody knows (NaN) count as one another's equals.
    """
    unknown = any(size != size for size in sizes)
    weights = [1.0 if unknown else float(size) for size in sizes]
    workers = sorted(threads)
    ends = list(accumulate(max(1, threads[worker]) for worker in workers))
    total, before, places = sum(weights) or 1.0, 0.0, []
    for weight in weights:
        middle = (before + weight / 2) / total * ends[-1]
        places.append(next((worker for worker, end in zip(workers, ends) if middle < end),
                           workers[-1]))
        before += weight
    return places


def cut(sizes: Sequence[int], places: Sequence[str], segment: int) -> list[Part]:
    """Parts of whole segments, first to last, out of chunks where they are.

    Neighbouring chunks in one place are one part. Where a part ends within a segment, the border
    moves to the nearest one of segments: fewer rows than half a segment change their place.
    """
    n, starts = sum(sizes), [0, *accumulate(sizes)]
    borders = [0]
    owners: list[str] = []
    for chunk, place in enumerate(places):
        if not sizes[chunk]:
            continue
        if owners and owners[-1] == place:
            borders[-1] = starts[chunk + 1]
        else:
            owners.append(place)
            borders.append(starts[chunk + 1])
    moved = [min(n, (border + segment // 2) // segment * segment) for border in borders[:-1]]
    moved.append(n)
    return [Part(first, owner, pieces_of(starts, first, last))
            for first, last, owner in zip(moved, moved[1:], owners) if last > first]


def pieces_of(starts: Sequence[int], first: int, last: int) -> tuple[Piece, ...]:
    """Rows first to last by the chunks they are in."""
    pieces = []
    for chunk, (start, stop) in enumerate(zip(starts, starts[1:])):
        start_here, stop_here = max(first, start), min(last, stop)
        if start_here < stop_here:
            pieces.append(Piece(chunk, start_here - start, stop_here - start))
    return tuple(pieces)
