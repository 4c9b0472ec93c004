"""Which rows go where: without Dask, and without a cluster."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="fwsr.dask is tested where Dask is: pip install "
                    "'fwsr[dask]'")
from fwsr.dask._layout import cut, share_out


def rows(parts, sizes):
    """The number of each row, as the parts name them."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return [i for part in parts for piece in part.pieces
            for i in range(starts[piece.chunk] + piece.start, starts[piece.chunk] + piece.stop)]


@pytest.mark.parametrize("seed", range(30))
def test_parts_are_whole_segments_and_hold_every_row_once(seed):
    random = np.random.default_rng(seed)
    sizes = [int(s) for s in random.integers(0, 3000, size=random.integers(1, 12))]
    sizes[random.integers(len(sizes))] = 1 + int(random.integers(5000))
    places = [f"w{random.integers(3)}" for _ in sizes]
    parts = cut(sizes, places, 1024)
    assert rows(parts, sizes) == list(range(sum(sizes)))
    assert all(part.first % 1024 == 0 and len(part) > 0 for part in parts)
    assert all(part.first + len(part) == after.first for part, after in zip(parts, parts[1:]))


@pytest.mark.parametrize("seed", range(10))
def test_fewer_rows_than_a_segment_move_at_each_border(seed):
    random = np.random.default_rng(seed)
    sizes = [int(s) for s in random.integers(2000, 9000, size=6)]
    places = [f"w{i}" for i in range(6)]
    moved = {}
    for part in cut(sizes, places, 1024):
        for piece in part.pieces:
            if places[piece.chunk] != part.place:
                moved[piece.chunk, part.place] = len(piece)
    assert all(count <= 512 for count in moved.values())


def test_neighbours_in_one_place_are_one_part():
    parts = cut([2000, 100, 0, 3000, 5000], ["a", "a", "b", "a", "b"], 1024)
    assert [(part.place, part.first) for part in parts] == [("a", 0), ("b", 5120)]


def test_chunks_are_shared_out_by_rows_and_threads():
    assert share_out([10] * 6, {"a": 1, "b": 1}) == ["a"] * 3 + ["b"] * 3
    assert share_out([10] * 6, {"a": 2, "b": 1}) == ["a"] * 4 + ["b"] * 2
    assert share_out([50, 10, 10, 10, 10, 10], {"a": 1, "b": 1}) == ["a"] + ["b"] * 5
    assert share_out([float("nan")] * 4, {"a": 1, "b": 1}) == ["a", "a", "b", "b"]
    assert share_out([0, 0], {"a": 1}) == ["a", "a"]
