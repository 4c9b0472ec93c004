"""Pages of selections, comparisons and sweeps: one HTML file each that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _containers, _core, _labels
from ._comparison import Comparison
from ._data import Data
from ._fields import MEASURES
from ._images import shape_of
from ._results import Selection
from ._several import Setting
from ._thumbnails import thumbnails


def page_of(selection: Selection, X: Any, y: Any, images: Any, text: Any, columns: Any,
            axes: Any, name: str | None) -> str:
    """The text of the file."""
    asked = vars(selection).get("_asked")
    if asked is None:
        raise ValueError("this selection does not know how it was made (it is that of a class): "
                         "make the page of the whole")
    if asked["function"]:
        raise ValueError("the kernel of this selection is a function, whose space a page cannot "
                         "look into; select by its matrix, with kernel='precomputed', and give "
                         "that for X")
    data, words, places, names = _shown(X, y, images, text, columns, name, list(selection))
    _refuse_other_order(selection, data)
    call = _call_of(selection, asked)
    words.update({
        "warnings": selection.warnings,
        "command": f"fwsr.select({', '.join(call)})",
        "again": call,
        "seconds": float(sum(selection.seconds.values())),
    })
    if asked["weights"] is not None:
        words["weights"] = np.asarray(asked["weights"], dtype=np.float64).tolist()
    if axes is not None:
        words["axes"] = [_feature(a, words["columns"], data.shape[1]) for a in _two(axes)]
    options = {**asked["options"], "exemplars": max(1, len(selection))}
    return _core.select_page(data.points, _runs_of(selection), asked["method"], asked["settings"],
                             options, words, places, names, _core.default_threads())


def _refuse_other_order(selection: Selection, data: Data) -> None:
    """Points that have names must have those that they had."""
    for e, known in zip(selection.exemplars.tolist(), selection.ids or []):
        now = None if data.ids is None else data.ids[e]
        if known is not None and now is not None and _plain(known) not in ("", _plain(now)):
            raise ValueError(f"exemplar {e} was {_plain(known)!r} and is {_plain(now)!r} in X: "
                             "give the points in the order in which they were chosen from")


def comparison_page(comparison: Comparison, X: Any, y: Any, images: Any, text: Any, columns: Any,
                    name: str | None) -> str:
    """The same of methods side by side."""
    chosen = [m.trials[0]["exemplars"] if m.trials else np.zeros(0, dtype=np.int64)
              for m in comparison]
    largest = [int(np.max(e)) for e in chosen if len(e)]
    data, words, places, names = _shown(X, y, images, text, columns, name, largest)
    methods = [(m.name, m.reason, np.ascontiguousarray(e, dtype=np.int64),
                [m.mean(name) for name in MEASURES] if m.trials else [],
                [m.deviation(name) for name in MEASURES] if m.trials else [])
               for m, e in zip(comparison, chosen)]
    words["command"] = _plain(comparison._call)
    return _core.compare_page(data.points, methods, words, places, names)


def sweep_page(settings: Sequence[Setting], X: Any, y: Any, images: Any, text: Any, columns: Any,
               name: str | None) -> str:
    """The same of the settings of a sweep."""
    largest = [int(s.selection.exemplars.max()) for s in settings if len(s.selection)]
    data, words, places, names = _shown(X, y, images, text, columns, name, largest)
    rows = [(s.alpha if isinstance(s.alpha, str) else f"{s.alpha:g}", float(s.eta),
             s.selection.status, list(s.selection.classes.values()) or [s.selection])
            for s in settings]
    words["command"] = _plain(getattr(settings, "_call", ""))
    return _core.sweep_page(data.points, rows, words, places, names)


def _shown(X: Any, y: Any, images: Any, text: Any, columns: Any, name: str | None,
           exemplars: list[int]) -> tuple[Data, dict[str, Any], Any, list[str]]:
    """The points, what a page says of them, and their classes."""
    X, images = _as_rows(X, images)
    data = _containers.as_data(X)
    n = len(data)
    if exemplars and max(exemplars) >= n:
        raise ValueError(f"there are exemplars beyond the {n} points of X: give all points, those "
                         "of represent and include_points behind the others")
    if y is None:
        y = data.labels
    places, names = (None, []) if y is None else _labels.classes_of(y, n)[:2]
    words: dict[str, Any] = {"name": _plain(name if name is not None else _name_of(X)),
                             "columns": _columns_of(data, columns)}
    names = [_plain(c) for c in names]
    if data.ids is not None:
        words["ids"] = [_plain(i) for i in data.ids]
    if text is not None:
        words["texts"] = _one_each("text", text, n)
    words.update(_images_of(images, data, given=text is not None))
    return data, words, places, names


def _runs_of(selection: Selection) -> list[tuple[Selection, np.ndarray | None, str]]:
    """The selection, or those of its classes that gave some; each with its points."""
    if not selection.classes:
        return [(selection, None, "")]
    runs: list[tuple[Selection, np.ndarray | None, str]] = []
    first = 0
    for name, part in selection.classes.items():
        last = first + len(part)
        members = np.sort(part.exemplars)  # of one that gave all it has
        if selection.assignment is not None and part.assignment is not None:
            there = selection.assignment
            members = np.flatnonzero((there >= first) & (there < last))
        if len(part):
            runs.append((part, np.ascontiguousarray(members, dtype=np.int64), _plain(name)))
        first = last
    return runs or [(selection, None, "")]


def _call_of(selection: Selection, asked: dict[str, Any]) -> list[str]:
    """What :func:`fwsr.select` is given for the same answer, but for conditions."""
    options = {**asked["options"], **asked["settings"]}
    options = {"lambda_" if o == "lambda" else o: v for o, v in options.items()
               if o not in ("exemplars", "conditions")}
    words = ["X", str(len(selection)), f"method={asked['method']!r}"]
    if selection.classes:
        words[1:2] = [repr({c: len(s) for c, s in selection.classes.items()}), "y=y"]
    return words + [_plain(f"{option}={value!r}") for option, value in options.items()]


def _as_rows(X: Any, images: Any) -> tuple[Any, Any]:
    """Images of two or three dimensions as rows, and their shape."""
    if hasattr(X, "ndim") and X.ndim in (3, 4) and not sp.issparse(X):
        X = np.asarray(X)
        images = tuple(X.shape[1:]) if images is None else images
        X = X.reshape(len(X), -1)
    return X, images


def _images_of(images: Any, data: Data, *, given: bool) -> dict[str, Any]:
    """The shape of the points as images, or files of pictures."""
    if images is None:
        return {"images": data.points.image} if data.points.image and not given else {}
    if images is False:
        return {}
    if isinstance(images, Sequence) and images and isinstance(images[0], (str, os.PathLike)):
        files = _one_each("images", [os.fspath(i) for i in images], len(data))
        small = thumbnails()
        return {"pictures": files, **({} if small is None else {"thumbnail": small})}
    shape = shape_of(data.shape[1], None if images is True else images)
    if len(shape) == 3 and shape[2] == 4:
        raise ValueError("a page shows grey or red, green and blue; leave the fourth channel out")
    return {"images": list(shape)}


def _one_each(name: str, values: Any, n: int) -> list[str]:
    if isinstance(values, str):
        raise TypeError(f"{name} is a list with one entry for each point, got {values[:40]!r}")
    words = [_plain(value) for value in values]
    if len(words) != n:
        raise ValueError(f"X has {n} points, but {name} has {len(words)} entries")
    return words


def _columns_of(data: Data, given: Any) -> list[str]:
    d = data.shape[1]
    if given is not None:
        names = [_plain(c) for c in given]
        if len(names) != d:
            raise ValueError(f"X has {d} features, but columns has {len(names)} names")
        return names
    there = data.columns or getattr(data.source, "columns", None)
    names = [] if there is None else [_plain(c) for c in there]
    return names if len(names) == d else []


def _two(axes: Any) -> tuple[Any, Any]:
    pair = tuple(axes) if not isinstance(axes, str) else ()
    if len(pair) != 2:
        raise ValueError(f"axes are two features, by name or by number from 0, got {axes!r}")
    return pair[0], pair[1]


def _feature(axis: Any, columns: list[str], d: int) -> int:
    if isinstance(axis, str) and axis in columns:
        return columns.index(axis)
    if isinstance(axis, (int, np.integer)) and not isinstance(axis, bool) and 0 <= axis < d:
        return int(axis)
    raise ValueError(f"{axis!r} is no feature; give a name, or a number from 0 to {d - 1}")


def _name_of(X: Any) -> str:
    if isinstance(X, (str, os.PathLike)):
        return os.fspath(X)
    source = getattr(X, "source", None)
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else "X"


def _plain(value: Any) -> str:
    """Text that is UTF-8 for certain."""
    return str(value).encode("utf-8", "replace").decode("utf-8")
