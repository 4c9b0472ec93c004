"""Rows of numbers as images."""

from __future__ import annotations

import math
from typing import Any


def shape_of(d: int, given: Any) -> tuple[int, ...]:
    """Height and width, and 3 or 4 for colours; of None: square ones."""
    if given is None:
        for pixels, colours in ((d, ()), (d // 3, (3,))):
            side = math.isqrt(pixels)
            if side * side * math.prod(colours) == d:
                return (side, side, *colours)
        raise ValueError(f"{d} pixels are no square image; give shape=(height, width)")
    shape = tuple(int(s) for s in given)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (3, 4)):
        raise ValueError(f"shape is (height, width) or (height, width, 3) and 4, got {shape}")
    if math.prod(shape) != d:
        raise ValueError(f"an image of shape {shape} has {math.prod(shape)} values, the points "
                         f"have {d}")
    return shape
