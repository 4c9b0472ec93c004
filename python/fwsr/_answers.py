"""What the core answers, with names: plans and selections, also of several classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._results import ByClass, Certificate, Plan, Refinement, Selection, Trace


def plan_of(raw: dict[str, Any], notes: list[str]) -> Plan:
    return Plan(**{**raw, "notes": notes + raw["notes"]})


def selection_of(raw: dict[str, Any], notes: list[str], ids: Any) -> Selection:
    """What the core answers, with names."""
    certificate, k = raw["certificate"], len(raw["exemplars"])
    unknown = {name: np.full(k, np.nan) for name in ("weights", "strength") if len(raw[name]) != k}
    return Selection(**{
        **raw,
        **unknown,
        "filled": raw["filled"].astype(bool),
        "included": raw["included"].astype(bool),
        "trace": Trace(raw["trace"]),
        "certificate": None if certificate is None else Certificate(**certificate),
        "refinement": raw["refinement"] and Refinement(**raw["refinement"]),
        "plan": plan_of(raw["plan"], notes),
        "ids": _taken(ids, raw["exemplars"]),
    })


def _taken(ids: Any, indices: np.ndarray) -> list[Any] | None:
    """Those of some points, out of a list or an index of pandas."""
    if ids is None:
        return None
    return ids.take(indices).tolist() if hasattr(ids, "take") else [ids[i] for i in indices]


def joined(parts: list[dict[str, Any]], n: int, notes: list[str], ids: Any) -> Selection:
    """The selections of all classes as one, class after class."""
    classes = ByClass({part["name"]: selection_of(part["selection"], notes, ids)
                       for part in parts})
    all_ = list(classes.values())
    sizes = [len(s) for s in all_]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    assignment = codes = None
    if any(s.assignment is not None for s in all_):
        assignment = np.full(n, -1, dtype=np.int64)
    if any(s.codes is not None for s in all_):
        codes = np.zeros((n, int(first[-1])))
    for part, own, start in zip(parts, all_, first):
        members = part["members"]
        if assignment is not None and own.assignment is not None:
            assignment[members] = np.where(own.assignment >= 0, own.assignment + start, -1)
        if codes is not None and own.codes is not None:
            codes[members, start:start + len(own)] = own.codes
    clusters = _joined_clusters(parts, all_, n)
    warnings = [w if w.startswith("class ") else f"class '{name}': {w}"
                for name, s in classes.items() for w in s.warnings]
    status = next((s.status for s in all_ if s.status != "exemplars_reached"), "exemplars_reached")

    def one(name: str) -> np.ndarray:
        return np.concatenate([getattr(s, name) for s in all_])

    return Selection(
        exemplars=one("exemplars"), weights=one("weights"), strength=one("strength"),
        filled=one("filled"), included=one("included"), status=status, trace=Trace(),
        refinement=None, certificate=None, plan=None,
        seconds={key: sum(s.seconds[key] for s in all_) for key in all_[0].seconds},
        facts={}, f_at_zero=sum(s.f_at_zero for s in all_), beta=float("nan"), eta=float("nan"),
        eta_in_rms=float("nan"), gamma=None, kernel_rank=None, kernel_error=None,
        assignment=assignment, codes=codes, warnings=warnings, classes=classes,
        importance=_joined_importance(all_), clusters=clusters,
        ids=None if ids is None else [i for s in all_ for i in s.ids or []])


def _joined_importance(all_: list[Selection]) -> np.ndarray | None:
    """A class that gives all its points counts each of them once."""
    if all(s.importance is None for s in all_):
        return None
    return np.concatenate([s.weights if s.importance is None else s.importance for s in all_])


def _joined_clusters(parts: list[dict[str, Any]], all_: list[Selection],
                     n: int) -> np.ndarray | None:
    """Those of each class behind those of the classes before; -1 where a class has none."""
    if all(s.clusters is None for s in all_):
        return None
    clusters, first = np.full(n, -1, dtype=np.int64), 0
    for part, own in zip(parts, all_):
        if own.clusters is not None:
            clusters[part["members"]] = own.clusters + first
            first += int(own.clusters.max()) + 1
    return clusters
