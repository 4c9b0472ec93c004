"""Labels: the classes of points, and their names."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets


def classes_of(y: Any, n: int) -> tuple[np.ndarray, list[str], np.ndarray]:
    """For each point the place of its class, the names of the classes, and the classes as given.

    Names are those the command line would use: whole numbers without a decimal point.
    """
    labels = np.asarray(y)
    if labels.dtype.kind == "U" and isinstance(y, (list, tuple)):
        labels = np.asarray(y, dtype=object)  # NumPy has made text of numbers beside text
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError("y must hold one label for each point, got an array of shape "
                         f"{labels.shape}")
    if len(labels) != n:
        raise ValueError(f"X has {n} points, but y has {len(labels)} labels")
    if labels.dtype == object:
        missing = next((i for i, v in enumerate(labels) if _is_missing(v)), None)
        if missing is not None:
            raise ValueError(f"y has no label for point {missing} (counted from 0)")
        kinds = {str if isinstance(v, str) else float for v in labels}
        if len(kinds) > 1:
            raise ValueError("y mixes text and numbers; make all labels text, or all numbers")
    elif labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity; give every point a label")
    check_classification_targets(labels)
    values, places = np.unique(labels, return_inverse=True)
    names = [class_name(v) for v in values]
    if len(set(names)) < len(names):
        raise ValueError("y has different labels of the same name, such as 1 and '1'")
    return np.ascontiguousarray(places.reshape(-1), dtype=np.int64), names, values


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or (
        isinstance(label, (float, np.floating)) and bool(np.isnan(label)))


def class_name(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)
