"""Conditions of a choice as people give them: who may be chosen, who is there, what counts more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _containers, _labels
from ._data import Data
from ._numbers import is_bfloat16, widened

#: What functions take beside the options of a method, and ``fit`` beside the points.
CONDITIONS = ("candidates", "exclude", "include", "include_points", "represent", "sample_weight",
              "cost", "groups", "at_least", "at_most")


@dataclass
class Points:
    """The points of a run: the user's, then those to be represented in their place, then those
    that are included."""

    data: Data
    own: int
    represented: int = 0
    included: int = 0


def with_more_points(given: Mapping[str, Any], data: Data) -> Points:
    """Points of other sets behind those of `data`, all of them copied."""
    points = Points(data, len(data))
    represent, include = given.get("represent"), given.get("include_points")
    if represent is None and include is None:
        return points
    if represent is not None and given.get("sample_weight") is not None:
        raise ValueError("sample_weight is of the points that are represented; leave it out beside "
                         "represent")
    parts = [_values(data, "the points")]
    if represent is not None and not _same(represent, data):
        parts.append(_values(_containers.as_data(represent), "represent"))
        points.represented = parts[-1].shape[0]
    if include is not None:
        parts.append(_values(_containers.as_data(include), "include_points"))
        points.included = parts[-1].shape[0]
    if any(p.shape[1] != parts[0].shape[1] for p in parts):
        raise ValueError("all sets must have the same features, got "
                         f"{', '.join(str(p.shape[1]) for p in parts)} of them")
    if len(parts) > 1:
        sparse = any(sp.issparse(p) for p in parts)
        together = sp.vstack(parts).tocsr() if sparse else np.concatenate(parts)
        points.data = _containers.as_data(together)
        points.data.ids = None if data.ids is None else [
            *data.ids, *[None] * (points.represented + points.included)]
    return points


def _values(data: Data, what: str) -> Any:
    if data.values is None:
        raise ValueError(f"{what} must be in memory beside another set; this is in a file")
    return widened(data.values) if is_bfloat16(data.values.dtype) else data.values


def _same(other: Any, data: Data) -> bool:
    if other is data or other is data.source:
        return True
    values = _containers.as_data(other).values
    return (isinstance(values, np.ndarray) and isinstance(data.values, np.ndarray)
            and np.array_equal(values, data.values))


def conditions_of(given: Mapping[str, Any], points: Points, ids: Data) -> dict[str, Any]:
    """As the core takes them: marks, indices and numbers of all points."""
    found = _of_own_points(given, ids)
    behind = points.represented + points.included
    if behind == 0:
        return found
    counts = np.concatenate([np.full(points.own, float(points.represented == 0)),
                             np.ones(points.represented), np.zeros(points.included)])
    if "weights" in found:
        counts[:points.own] = found["weights"]
    found["weights"] = counts
    open_ = found.get("candidates", np.ones(points.own, dtype=np.uint8))
    found["candidates"] = np.concatenate([open_, np.zeros(behind, dtype=np.uint8)])
    if "costs" in found:
        found["costs"] = np.concatenate([found["costs"], np.ones(behind)])
    if "groups" in found:
        found["groups"] = np.concatenate([found["groups"], np.zeros(behind, dtype=np.int64)])
    first = points.own + points.represented
    found["included"] = np.concatenate([found.get("included", np.empty(0, dtype=np.int64)),
                                        np.arange(first, first + points.included)])
    return found


def described(given: Mapping[str, Any], points: Points, core: Mapping[str, Any]
              ) -> dict[str, Any] | None:
    """What was asked of a choice, in words and counts; None: nothing."""
    there = {name: value for name, value in given.items() if value is not None}
    if not there:
        return None
    n = len(points.data)
    open_ = np.array(core.get("candidates", np.ones(n)), dtype=bool)
    included = core.get("included", np.empty(0, dtype=np.int64))
    open_[included] = False
    weight = float(np.sum(core.get("weights", np.ones(n))))
    return {"given": {name: _in_words(name, value, points) for name, value in there.items()},
            "points": points.own, "represented": points.represented, "included": len(included),
            "candidates": int(open_.sum()), "weight": weight,
            "groups": len(core.get("group_names", []))}


def _in_words(name: str, value: Any, points: Points) -> str:
    if name in ("at_least", "at_most"):
        return (",".join(f"{key}={number}" for key, number in value.items())
                if isinstance(value, Mapping) else str(value))
    if name == "represent":
        return counted(points.represented or points.own, "point")
    if name == "include_points":
        return counted(points.included, "point")
    if name in ("sample_weight", "cost"):
        return counted(points.own, "number")
    if name == "groups":
        return counted(points.own, "label")
    values = np.asarray(value)
    return counted(int(values.sum()) if values.dtype.kind == "b" else len(values), "point")


def counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _of_own_points(given: Mapping[str, Any], data: Data) -> dict[str, Any]:
    n = len(data)
    found: dict[str, Any] = {}
    there = {name: value for name, value in given.items() if value is not None}
    if "candidates" in there or "exclude" in there:
        open_ = np.full(n, "candidates" not in there)
        if "candidates" in there:
            open_[points_of("candidates", there["candidates"], data)] = True
        if "exclude" in there:
            open_[points_of("exclude", there["exclude"], data)] = False
        found["candidates"] = open_.astype(np.uint8)
    if "include" in there:
        found["included"] = points_of("include", there["include"], data)
        if "exclude" in there:
            both = np.intersect1d(found["included"], points_of("exclude", there["exclude"], data))
            if len(both):
                raise ValueError(f"point {both[0]} is in include and in exclude; leave it out of "
                                 "one of them")
    for name, core in (("sample_weight", "weights"), ("cost", "costs")):
        if name in there:
            found[core] = _numbers(name, there[name], n)
    if "groups" in there:
        try:
            places, names, _ = _labels.classes_of(there["groups"], n)
        except ValueError as e:
            raise ValueError(str(e).replace("y ", "groups ", 1)
                             .replace("but y has", "but groups has")) from e
        found["groups"], found["group_names"] = places, names
    for name in ("at_least", "at_most"):
        if name in there:
            found[name] = _counts(name, there[name])
    return found


def points_of(name: str, given: Any, data: Data) -> np.ndarray:
    """Indices of points that are given as a mask, as indices or as ids, in the order given."""
    values = np.asarray(given)
    n = len(data)
    if values.ndim != 1:
        raise ValueError(f"{name} must be a list of points, got an array of shape {values.shape}")
    if values.dtype.kind == "b":
        if len(values) != n:
            raise ValueError(f"{name} as a mask must have one entry for each of {n} points, got "
                             f"{len(values)}")
        return np.flatnonzero(values).astype(np.int64)
    if len(values) == 0:
        return np.empty(0, dtype=np.int64)
    if values.dtype.kind in "iu":
        wrong = (values < 0) | (values >= n)
        if wrong.any():
            raise ValueError(f"{name} names point {values[wrong][0]}, but the points are 0 to "
                             f"{n - 1}")
        return values.astype(np.int64)
    if data.ids is None:
        raise TypeError(f"{name} must be indices or a mask, got {values.dtype} values, and the "
                        "data has no ids")
    places = {one: i for i, one in enumerate(data.ids)}
    if len(places) < len(data.ids):
        twice = next((one for one in given if list(data.ids).count(one) > 1), None)
        if twice is not None:
            raise ValueError(f"{name} names {twice!r}, which is the id of several points; give "
                             "indices")
    try:
        return np.array([places[one] for one in given], dtype=np.int64)
    except KeyError as e:
        raise ValueError(f"{name} names {e.args[0]!r}, which is no id of a point") from None


def _numbers(name: str, given: Any, n: int) -> np.ndarray:
    numbers = np.asarray(given, dtype=np.float64)
    if numbers.ndim == 0:
        numbers = np.full(n, float(numbers))
    if numbers.shape != (n,):
        raise ValueError(f"{name} must have one number for each of {n} points, got shape "
                         f"{numbers.shape}")
    return np.ascontiguousarray(numbers)


def _counts(name: str, given: Any) -> Any:
    if isinstance(given, Mapping):
        return {_labels.class_name(key): _whole(f"{name}[{key!r}]", number)
                for key, number in given.items()}
    return _whole(name, given)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    return int(value)
