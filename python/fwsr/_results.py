"""Answers: what was chosen, how the run went, how good it is."""

from __future__ import annotations

import dataclasses
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core, _html
from ._fields import FIELDS, described
from ._labels import class_name


class ByClass(dict[str, Any]):
    """By the name of a class, which is text; its number finds it too."""

    def __missing__(self, key: Any) -> Any:
        name = class_name(key)
        if name in self:
            return self[name]
        if not self:
            raise KeyError(f"there is no class {key!r}; nothing was chosen per class")
        there = [repr(one) for one in self]
        shown = ", ".join(there[:20] + ["..."] * (len(there) > 20))
        raise KeyError(f"there is no class {key!r}; the classes are {shown}")


class Trace(dict[str, np.ndarray]):
    """An array over the steps of a run for each of their fields, by its name."""

    def __missing__(self, key: str) -> np.ndarray:
        if key != "gamma" or "step_size" not in self:
            raise KeyError(f"a step has no {key!r}; it has {', '.join(self) or 'nothing'}")
        warnings.warn("the length of a step is called step_size: take trace['step_size']; gamma is "
                      "the width of a kernel", DeprecationWarning, stacklevel=2)
        return self["step_size"]


@described(seconds="An estimate, within a factor of two where nothing else keeps the machine busy.")
@dataclass(frozen=True)
class Plan:
    """What a run does and takes, before it is begun.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> plan = fwsr.plan(X, 4)
    >>> plan.method, plan.points, plan.features
    ('exchange', 200, 5)
    """

    method: str
    form: str
    kernel: str
    kernel_by: str
    rank: int
    refine: str
    why: str
    points: int
    features: int
    passes: int
    memory_bytes: int
    data_bytes: int
    memory_per_thread: int
    setup_flops: float
    step_flops: float
    notes: list[str]
    threads: int
    device: str
    device_bytes: int
    seconds: float

    def __str__(self) -> str:
        how = self.form + (f" (kernel {self.kernel_by})" if self.form and self.kernel_by else "")
        data = _core.format_bytes(self.data_bytes)
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        lines = [
            ("method", self.method + (f", {how} form" if how else "")),
            ("why", self.why),
            ("data", f"{self.points} points of {self.features} features, {data}"),
            ("memory", f"{_core.format_bytes(self.memory_bytes)} beside the data"),
        ]
        if self.device == "cpu":
            lines.append(("time",
                          f"about {_core.words_for_seconds(self.seconds)} with {threads}"))
        else:
            taken = _core.format_bytes(self.device_bytes)
            lines.append(("device", f"{self.device}, {taken} of its memory at the most"))
        lines += [("note", note) for note in self.notes]
        return "\n".join(f"{name:<8}{text}" for name, text in lines)


@described()
@dataclass(frozen=True)
class Certificate:
    """How good the exemplars are, recomputed from the data after the run.

    Methods that solve another problem have ``f_at_zero``, ``reconstruction_error`` and
    ``boolean_objective``; other numbers are NaN, and ``feasible`` and ``trusted`` None.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> certificate = fwsr.select(X, 4).certificate
    >>> certificate.feasible, certificate.gap >= 0
    (True, True)
    """

    f: float
    f_at_zero: float
    gap: float
    beta: float
    radius_used: float
    feasible: bool | None
    f_error: float
    gap_error: float
    trusted: bool | None
    reconstruction_error: float
    boolean_objective: float | None


@described()
@dataclass(frozen=True)
class Refinement:
    """What ``refine`` made of the exemplars that were chosen.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> found = fwsr.select(X, 4).refinement
    >>> found.after_exchange <= found.before, found.local_optimum
    (True, True)
    """

    before: float
    after_exchange: float
    after: float
    mu: float
    exchanges: int
    rounds: int
    local_optimum: bool
    moves: int
    middle_rounds: int


@described(
    weights="NaN after an interrupted run.",
    trace=f"An array over the steps for each of {', '.join(FIELDS['Step'])}.",
    seconds=f"By name: {', '.join(FIELDS['Seconds'])}.",
    classes="Per class: name of the class, as text -> its own Selection; the number 0, say, also "
            "finds ``\"0\"``.",
    conditions="Under which conditions it was chosen, None: none. ``given`` has the names of what "
               "was given, each with a few words; the others are counts: ``points`` of the data, "
               "``represented`` ones in their place, ``included`` exemplars, ``candidates``, "
               "``weight`` of all points together, ``groups``.",
    ids="Of the exemplars, where the data has ids: text from a file; of a pandas table the values "
        "of its index, as ``X.loc`` takes them.")
@dataclass(frozen=True, eq=False)
class Selection:
    """Exemplars, in the order of choosing, and everything known about them.

    To be iterated: the indices of the exemplars, as whole numbers of Python. It stands for these
    where NumPy takes indices, ``X[chosen]``, and ``chosen[0]`` and ``chosen[:3]`` are some of them.
    Two selections are equal only if they are the same object; to compare what was chosen, compare
    ``exemplars``. Notebooks show a table of the first ones.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> chosen = fwsr.select(X, 4)
    >>> chosen.exemplars.shape, chosen.status, int(chosen.weights.sum())
    ((4,), 'exemplars_reached', 200)
    >>> list(chosen) == chosen.exemplars.tolist()
    True
    >>> X[chosen].shape
    (4, 5)
    """

    exemplars: np.ndarray
    weights: np.ndarray
    strength: np.ndarray
    filled: np.ndarray
    included: np.ndarray
    status: str
    f_at_zero: float
    beta: float
    eta: float
    eta_in_rms: float
    gamma: float | None
    kernel_rank: int | None
    kernel_error: float | None
    trace: dict[str, np.ndarray]
    facts: dict[str, float]
    refinement: Refinement | None
    certificate: Certificate | None
    plan: Plan | None
    seconds: dict[str, float]
    assignment: np.ndarray | None
    codes: np.ndarray | None
    warnings: list[str]
    importance: np.ndarray | None = None
    clusters: np.ndarray | None = None
    atoms: np.ndarray | None = None
    coefficients: dict[str, Any] | None = field(default=None, repr=False)
    classes: dict[str, Selection] = field(default_factory=ByClass)
    ids: list[Any] | None = None
    conditions: dict[str, Any] | None = None

    def remember(self, method: str, options: dict[str, Any], points: Any) -> None:
        """What :meth:`update` needs: how the exemplars were chosen, and their points."""
        object.__setattr__(self, "_remembered", (method, options, points))

    def remember_how(self, method: str, options: dict[str, Any], settings: dict[str, Any], *,
                     weights: Any, function: bool) -> None:
        """What :meth:`report` needs: how the exemplars were chosen."""
        object.__setattr__(self, "_asked", {
            "method": method, "options": options, "settings": settings, "weights": weights,
            "function": function})

    def report(self, path: Any, X: Any, y: Any = None, *, images: Any = None, text: Any = None,
               columns: Any = None, axes: Any = None, name: str | None = None) -> int:
        """Write a page to look at: what was chosen, what it stands for and what it misses.

        One HTML file that any browser shows, from disk and without a network; at most 2 MB, and
        5 MB with images.

        Parameters
        ----------
        path : str or path
            Where to write it; whole or not at all.
        X : as for :func:`fwsr.select`
            The points the exemplars were chosen from; also images of shape (n, height, width) or
            (n, height, width, 3).
        y : array-like, optional
            A class for every point.
        images : tuple, True or list of paths, optional
            The points are images of this shape, (height, width) or (height, width, 3); True:
            square ones. Or a png or jpeg file for every point. Built-in digits and idx files are
            shown as images by themselves; False: not.
        text : sequence of str, optional
            A text for every point.
        columns : sequence of str, optional
            Names of the features; those of a table are known.
        axes : pair, optional
            Two features for the map, by name or number; None: principal components.
        name : str, optional
            What the page calls the data.

        Returns
        -------
        int
            The size of the page in bytes.

        Examples
        --------
        >>> import fwsr
        >>> digits = fwsr.read("digits")
        >>> size = fwsr.select(digits, 20).report("digits.html", digits)  # doctest: +SKIP
        """
        from ._report import page_of

        page = page_of(self, X, y, images, text, columns, axes, name)
        _core.write_file(os.fspath(path), page)
        return len(page.encode())

    def update(self, X: Any, k: Any, **options: Any) -> Selection:
        """Choose k more for new data, beside these exemplars.

        They are included: they are free, come first and are marked. The new ones, out of ``X``,
        represent what they leave of ``X``.

        Parameters
        ----------
        X : as for :func:`fwsr.select`
            The new points.
        k : int
            How many more.
        **options
            As for :func:`fwsr.select`; those of the run that chose these are kept, and of the
            default method the kernel and the width that it found.

        Returns
        -------
        Selection
            Indices from ``len(X)`` on are the exemplars that were there already.

        Examples
        --------
        >>> import numpy as np, fwsr
        >>> X = np.random.default_rng(0).normal(size=(200, 20))
        >>> both = fwsr.select(X[:100], 3, method="fwsr").update(X[100:], 2)
        >>> both.included.tolist()
        [True, True, True, False, False]
        >>> fwsr.select(X[:100], 3).update(X[100:], 2).plan.method
        'exchange'
        """
        if "_remembered" not in vars(self):
            raise ValueError("this selection does not know its points (it is that of a class, of a "
                             "sweep, or of a given matrix); give include_points to fwsr.select")
        from ._functions import select

        method, kept, points = vars(self)["_remembered"]
        if method == "exchange" and self.plan and self.plan.kernel != "linear":
            kept = {**kept, "kernel": self.plan.kernel, "gamma": self.gamma}
        kept = {"lambda_" if name == "lambda" else name: value for name, value in kept.items()}
        return select(X, k, **{"method": method, **kept, **options, "include_points": points})

    def __len__(self) -> int:
        return len(self.exemplars)

    def __iter__(self) -> Iterator[int]:
        return iter(self.exemplars.tolist())

    def __getitem__(self, which: Any) -> Any:
        """Indices of exemplars, as NumPy takes them out of ``exemplars``."""
        return self.exemplars[which]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The indices of the exemplars."""
        if copy is False and dtype is not None and self.exemplars.dtype != dtype:
            raise ValueError(f"indices as {np.dtype(dtype)} need a copy")
        return self.exemplars.astype(dtype or self.exemplars.dtype, copy=bool(copy))

    def __repr__(self) -> str:
        shown = ", ".join(str(i) for i in self.exemplars[:8])
        more = ", ..." if len(self) > 8 else ""
        return f"<Selection of {len(self)}{self._by()}: [{shown}{more}], {self._outcome()}>"

    def _by(self) -> str:
        """The method, where there was something to choose."""
        plans = [part.plan for part in self.classes.values() or [self]]
        names = {plan.method for plan in plans if plan and plan.points > 0}
        return f" by {names.pop()}" if len(names) == 1 else ""

    def _outcome(self) -> str:
        error = self.certificate and self.certificate.reconstruction_error
        return self.status + ("" if error is None else f", reconstruction error {error:.4g}")

    def _repr_html_(self) -> str:
        count = "1 exemplar" if len(self) == 1 else f"{len(self)} exemplars"
        return _html.selection(self._columns(), f"{count}{self._by()}: {self._outcome()}")

    def _columns(self) -> dict[str, list[Any]]:
        """Those of the program's CSV."""
        ranks = [rank for part in self.classes.values() or [self] for rank in range(len(part))]
        names = [name for name, part in self.classes.items() for _ in range(len(part))]
        columns = {"rank": ranks, "index": self.exemplars.tolist(), "id": self.ids, "class": names,
                   "weight": self.weights.tolist(), "strength": self.strength.tolist(),
                   "filled": self.filled.tolist() if self.filled.any() else None,
                   "included": self.included.tolist() if self.included.any() else None}
        if not self.classes:
            del columns["class"]
        return {name: column for name, column in columns.items() if column is not None}

    def to_frame(self) -> Any:
        """One line for each exemplar as a pandas table, with the columns of the program's CSV.

        ``rank``, ``index``, ``id`` where there are ids, ``class`` where classes were chosen from
        one by one (``rank`` then counts within the class), ``weight``, ``strength``, and
        ``filled`` and ``included`` where points were.
        """
        try:
            import pandas as pd
        except ImportError as e:
            raise ImportError("to_frame makes a table of pandas, which is not here; "
                              "pip install pandas") from e
        return pd.DataFrame(self._columns())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and dictionaries, ready for JSON.

        ``schema`` is the number of this list of names, as in the program's JSON: it is larger
        whenever a name goes or means something else.
        """
        return {"schema": _core.result_schema, **_plain(dataclasses.asdict(self))}

    def to_json(self, **kwargs: Any) -> str:
        """Everything as JSON; NaN and infinity become null. ``kwargs`` go to :func:`json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **kwargs)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)  # ids: dates, and what else an index can hold
