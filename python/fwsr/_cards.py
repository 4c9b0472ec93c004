"""Points in the memory of a graphics card, used in place there; and what a card needs to work."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from fwsr_cli import libraries

from . import _core
from ._data import Data
from ._numbers import is_from, point_type

#: Types of devices as DLPack counts them: CUDA, and memory that CUDA shares with the processor.
_CUDA = (2, 13)

#: As NumPy writes the types that a card reads.
_TYPES = {"<f2": "float16", "<f4": "float32", "<f8": "float64", "|u1": "uint8", "|i1": "int8",
          "<u2": "uint16", "<i2": "int16"}


def is_on_card(X: Any) -> bool:
    """Whether these are numbers in the memory of a card."""
    if isinstance(X, np.ndarray):
        return False
    if hasattr(X, "__dlpack_device__"):
        return X.__dlpack_device__()[0] in _CUDA
    return hasattr(X, "__cuda_array_interface__")


def to_host(X: Any) -> np.ndarray:
    """The same numbers in the memory of the processor, as float32 or float64."""
    if is_from(X, "torch"):
        X = X.detach()
        X = (X if X.element_size() > 2 else X.float()).cpu().numpy()
    elif hasattr(X, "get") and is_from(X, "cupy"):
        X = X.get()
    elif hasattr(X, "copy_to_host"):
        X = X.copy_to_host()
    X = np.asarray(X)
    return np.ascontiguousarray(X, dtype=point_type(X.dtype))


@dataclass(eq=False)
class CardData(Data):
    """Points that stay on their card."""

    def __repr__(self) -> str:
        return f"<{self.shape[0]} points of {self.shape[1]} features, on a card>"

    def rows(self, indices: np.ndarray) -> Any:
        """Some points, as numbers in the memory of the processor."""
        return to_host(self.source[np.asarray(indices).tolist()])

    def blocks(self, numbers: int = 1 << 21) -> Any:
        """All points, a few at a time: pairs of the first row and the rows."""
        n, d = self.shape
        step = max(1, numbers // max(1, d))
        for first in range(0, n, step):
            yield first, to_host(self.source[first:first + step])


def of_card(X: Any) -> CardData:
    """Of an array on a card: a tensor of PyTorch, an array of CuPy, JAX, Numba, ..."""
    names, why = _core.cards()
    if not names:
        raise ValueError(f"the points are on a card, and {why}; move them to the CPU's memory, as "
                         "in X.cpu() or X.get()")
    find_libraries()
    if hasattr(X, "detach"):
        X = X.detach()
    if len(X.shape) != 2:
        raise ValueError(f"X has the shape {tuple(X.shape)}, and points are rows of numbers: give "
                         "X.reshape(len(X), -1), where each image or series is one row")
    if hasattr(X, "__dlpack__"):
        return CardData(_core.Points.on_card(X), None, X)
    told = X.__cuda_array_interface__
    (rows, cols), strides = told["shape"], told.get("strides")
    if told["typestr"] not in _TYPES:
        raise ValueError("points on a card are float16, float32, float64, or integers of 8 or 16 "
                         f"bits, and these are {told['typestr']}; convert them there")
    size = int(told["typestr"][2:])
    if strides is not None and cols > 1 and strides[1] != size:
        raise ValueError("points on a card are stored row by row; make a copy that is")
    stride = cols if strides is None or rows < 2 else strides[0] // size
    points = _core.Points.on_card_at(told["data"][0], _TYPES[told["typestr"]], rows, cols, stride,
                                     0)
    return CardData(points, None, X)


@cache
def find_libraries() -> None:
    """cuBLAS where pip has installed it, so that the core finds it by its name."""
    for path in libraries():
        for name in ("libcublasLt.so.13", "libcublas.so.13"):
            library = os.path.join(path, name)
            if os.path.exists(library):
                ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
