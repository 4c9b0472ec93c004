"""What the functions and the estimators share: from words of the user's to a call of the core."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from . import _containers, _core, _data, _labels, _mapped
from ._answers import joined, plan_of, selection_of
from ._cards import CardData, find_libraries
from ._conditions import CONDITIONS, conditions_of, described, with_more_points
from ._data import Data
from ._encoder import Encoder, Kernel
from ._numbers import widened
from ._progress import Watcher
from ._results import ByClass, Plan, Selection

T = TypeVar("T")

Interrupted = _core.Interrupted
Interrupted.__doc__ = """The callback returned False.

Examples
--------
>>> import numpy as np, fwsr
>>> X = np.random.default_rng(0).normal(size=(200, 5))
>>> try:
...     fwsr.FWSR(4, callback=lambda progress: progress.exemplars < 2).fit(X)
... except fwsr.Interrupted as e:
...     print(e)
the callback stopped the run; the estimator is not fitted
"""


@cache
def method_table() -> dict[str, dict[str, Any]]:
    return {m["name"]: m for m in _core.methods()}


@cache
def option_table() -> dict[str, tuple[Any, str]]:
    return {name: (default, sentence) for name, default, sentence in _core.options()}


def is_solver(method: str) -> bool:
    """Whether the method is the Frank-Wolfe solver, by one of its names."""
    return bool(method_table()[method]["solver"])


def keyword_of(option: str) -> str:
    """As users of Python write it: lambda is a word of the language."""
    return "lambda_" if option == "lambda" else option


#: What only `fwsr.read` takes.
_OF_READING = ("label_column", "id_column", "columns", "exclude_columns", "header", "variable")


def nearest_name(name: str, there: Iterable[str]) -> str:
    """The one that looks like a name that is not there; "" where none does."""
    return next(iter(difflib.get_close_matches(name.lower(), list(there), n=1)), "")


def meant(name: str, there: Iterable[str]) -> str:
    """A question after a name that is not there, if one that is there looks like it."""
    near = nearest_name(name, there)
    return f" (did you mean '{near}'?)" if near else ""


def no_option(who: str, name: str, allowed: Sequence[str], more: str = "") -> TypeError:
    """What to say about an option that is not there."""
    if name in _OF_READING:
        return TypeError(f"{name} says how to read a file: give fwsr.read('file.csv', {name}=...) "
                         "in place of the file's name")
    if name == "labels":
        return TypeError("labels of points are called y: give y=..., or for a file of them "
                         "fwsr.read('file.npy', labels='labels.npy') in place of the file's name")
    if name == "random_state":
        return TypeError("random_state of estimators is called seed in select, path and compare: "
                         "give seed=...")
    there = [keyword_of(option) for option in allowed]
    if who == _core.default_method:
        known = {*allowed, "exemplars"}
        of_paper = [option for option in method_table()["fwsr"]["options"] if option not in known]
        near = name if name in of_paper else nearest_name(name, [*there, *of_paper])
        if near in of_paper:
            asked = "" if near == name else f" (did you mean '{near}'?)"
            return TypeError(f"{who}, the default method, has no option '{name}'{asked}; "
                             f"method='fwsr' and method='k-fwsr', the paper's, have {near}. {who} "
                             f"has {', '.join(there)}")
    return TypeError(f"{who} has no option '{name}'{meant(name, there)}; it has "
                     f"{', '.join(there)}{more}")


def setting_text(value: Any) -> str:
    """A setting of a method as the core reads it."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return str(value)


@dataclass
class Request:
    """A method with its options, its own settings and its seed."""

    method: str = "fwsr"
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    kernel_function: Callable[..., Any] | None = None
    conditions: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, method: str, given: Mapping[str, Any], seed: int = 0) -> Request:
        """Sorts keyword arguments into options of a selection and settings of the method."""
        if not isinstance(method, str):
            raise TypeError(f"method must be a name, got {method!r}")
        table = method_table()
        name, _, settings = method.partition(":")
        if settings and name in table:
            raise ValueError(f"settings of a method are keyword arguments here: method={name!r}, "
                             + settings.replace(",", ", "))
        if method not in table:
            raise ValueError(f"there is no method '{method}'{meant(method, table)}; the methods "
                             f"are {', '.join(table)}")
        own = {name: default for name, default, _ in table[method]["settings"]}
        allowed = list(own) + [o for o in table[method]["options"] if o != "exemplars"]
        request = cls(method=method, seed=seed)
        for name, value in given.items():
            name = "lambda" if name == "lambda_" else name
            if name in CONDITIONS:
                request.conditions[name] = value
            elif name == "device":
                if value is not None:
                    request.options[name] = value
            elif name == "device_memory":
                request.options[name] = _data.memory_limit(value)
            elif name in own:
                request.settings[name] = setting_text(value)
            elif name in allowed:
                request.options[name] = "auto" if name == "alpha" and value is None else value
            else:
                raise no_option(method, name, allowed, f"; and {', '.join(CONDITIONS)}"
                                if table[method]["solver"] else "")
        kernel = request.options.get("kernel")
        if kernel == "auto" and table[method]["suits"]:
            del request.options["kernel"]
        if request.options.get("refine") == "auto" and table[method]["suits"]:
            del request.options["refine"]
        if kernel == "poly":
            raise ValueError("kernel='poly' of scikit-learn is called 'polynomial' here: give "
                             "kernel='polynomial', (gamma <x, y> + coef0)^degree as there")
        if kernel == "linear" and table[method]["suits"]:
            raise ValueError(f"{method} takes the kernel that suits the points unless another than "
                             "the linear one is named; method='fwsr', refine='exchange' is the "
                             "same with kernel='linear'")
        if request.options.get("refine") == "none" and table[method]["suits"]:
            raise ValueError(f"{method} exchanges exemplars; method='fwsr' and method='k-fwsr' "
                             "leave them as they were chosen")
        if kernel == "linear" and table[method]["uses_rbf"]:
            raise ValueError(f"{method} works in the space of a kernel, rbf unless another is "
                             "named, and has no kernel='linear'; kernel='polynomial', degree=1, "
                             "gamma=1, coef0=0 is the same")
        if callable(kernel):
            request.kernel_function = kernel
            request.options["kernel"] = "precomputed"
        return request

    @property
    def given_matrix(self) -> str:
        """What the data is when it is no points: "kernel", "distance", or ""."""
        if self.settings.get("metric") == "precomputed":
            return "distance"
        return "kernel" if self.options.get("kernel") == "precomputed" else ""


@dataclass
class Classes:
    """Labels of the points, and how many exemplars each class gives (None: not per class)."""

    places: np.ndarray | None = None
    names: list[str] = field(default_factory=list)
    values: np.ndarray | None = None
    counts: tuple[str, Any] | None = None


def whole_number(name: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    number = int(value)
    if abs(number) >= 2 ** 63:
        raise ValueError(f"{name}={number} is too large")
    return number


def seed_of(value: Any, name: str = "seed") -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if not 0 <= value < 2 ** 64:
        raise ValueError(f"{name} must be from 0 to 2^64 - 1, got {value}")
    return int(value)


def how_many(n_exemplars: Any, per_class: Any, y: Any, n: int, *,
             name: str = "n_exemplars") -> tuple[int, Classes]:
    """k, and the classes. With classes k is 0 and the counts say how many.

    `name` is what the caller's users call the number of exemplars.
    """
    if not isinstance(per_class, (bool, np.bool_)) and per_class != "proportional":
        raise TypeError(f"per_class must be True, False or 'proportional', got {per_class!r}")
    share = per_class == "proportional"
    named = isinstance(n_exemplars, Mapping)
    if named and share:
        raise ValueError(f"per_class='proportional' shares out a number; {name} as a dictionary "
                         "says already how many each class gives: leave one of them out")
    if isinstance(n_exemplars, str):
        word, _, in_all = n_exemplars.partition(":")
        if word != "proportional" or (in_all and not in_all.isdecimal()):
            raise ValueError(f"{name} as text is 'proportional', or 'proportional:50' for 50 in "
                             f"all, got {n_exemplars!r}")
        share = True
        n_exemplars = int(in_all) if in_all else None
    if not (named or share or per_class):
        return _count(n_exemplars, n, name), Classes()
    if y is None:
        # The second half is what scikit-learn's checks look for.
        raise ValueError("exemplars per class need labels: give y (it requires y to be passed, but "
                         "the target y is None)")
    classes = Classes(*_labels.classes_of(y, n))
    if named:
        known = set(classes.names)
        counts: dict[str, int] = {}
        for key, number in n_exemplars.items():
            one = _labels.class_name(key)
            if one not in known:
                raise ValueError(f"{name} names the class {key!r}, which no point has; the classes "
                                 f"are {', '.join(classes.names[:20])}")
            if one in counts:
                raise ValueError(f"{name} names the class {one} twice")
            counts[one] = whole_number(f"{name}[{key!r}]", number)
            if counts[one] < 0:
                raise ValueError(f"{name}[{key!r}] must be 0 or more, got {number}")
        classes.counts = ("named", counts)
    elif share or isinstance(n_exemplars, (float, np.floating)):
        total = (min(n, 10 * len(classes.names)) if n_exemplars is None
                 else _count(n_exemplars, n, name))
        classes.counts = ("proportional", total)
    else:
        each = whole_number(name, n_exemplars)
        if each < 1:
            raise ValueError(f"{name} must be at least 1, got {each}")
        classes.counts = ("each", each)
    return 0, classes


def _count(n_exemplars: Any, n: int, name: str) -> int:
    if isinstance(n_exemplars, (float, np.floating)):
        if not 0 < n_exemplars <= 1:
            raise ValueError(f"{name} as a fraction of the points is in (0, 1]; for a number of "
                             f"points give a whole one, got {n_exemplars}")
        return max(1, round(float(n_exemplars) * n))
    k = whole_number(name, n_exemplars)
    if k < 1:
        raise ValueError(f"{name} must be at least 1, got {k}")
    if k > n:
        raise ValueError(f"{name}={k} is more than n_samples={n}; ask for at most {n}")
    return k


def threads_of(n_jobs: int | None) -> int:
    """scikit-learn's n_jobs: None as OpenMP is set (threadpoolctl, OMP_NUM_THREADS), -1: all."""
    if n_jobs is None:
        return _core.default_threads()
    n_jobs = whole_number("n_jobs", n_jobs)
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; give a positive number, -1 or None")
    if n_jobs > 0:
        return min(n_jobs, 4096)
    from joblib import cpu_count

    return max(1, cpu_count() + 1 + n_jobs)


@dataclass
class Run:
    """A request with its data, ready to plan and to work."""

    request: Request
    data: Data
    k: int
    classes: Classes
    options: dict[str, Any]
    original: Data  # the points, where `data` is the matrix of a kernel function
    conditions: dict[str, Any] | None = None  # in words and counts

    @classmethod
    def prepare(cls, X: Any, request: Request, n_exemplars: Any, per_class: Any, y: Any,
                n_jobs: int | None, memory: Any, *, name: str = "n_exemplars") -> Run:
        original = data = _containers.as_data(X, memory)
        if y is None and data.labels is not None:
            y = data.labels
        if n_exemplars is None and request.options.get("budget") is not None and not per_class:
            k, classes = 0, Classes()  # as many as it pays for
        else:
            if request.options.get("until_error") is not None and isinstance(n_exemplars, int):
                n_exemplars = min(n_exemplars, len(data))  # no more than a limit
            k, classes = how_many(n_exemplars, per_class, y, len(data), name=name)
        points = with_more_points(request.conditions, data)
        conditions = conditions_of(request.conditions, points, data)
        original = data = points.data
        if len(data) > points.own and (classes.counts or request.given_matrix
                                       or request.kernel_function is not None):
            raise ValueError("points of another set have neither a class nor a row of a given "
                             "kernel; leave represent and include_points out")
        _look_at_device(request, data)
        limit = _data.memory_limit(memory)
        if request.kernel_function is not None:
            data = _kernel_matrix(request.kernel_function, data, limit)
        given = request.given_matrix
        if given:
            kind = "kernel" if given == "kernel" else "dissimilarity"
            what = f"a precomputed {kind} matrix must be"
            if data.shape[0] != data.shape[1]:
                raise ValueError(f"{what} square; this one is {data.shape[0]} x {data.shape[1]}")
            if sp.issparse(data.values):
                raise ValueError(f"{what} dense; this one is sparse: give its toarray()")
        options = {**request.options, "exemplars": k, "assignment": True,
                   "threads": threads_of(n_jobs), "memory": limit, "conditions": conditions}
        said = described(request.conditions, points, conditions)
        return cls(request, data, k, classes, options, original, said)

    @property
    def per_class(self) -> tuple[np.ndarray | None, list[str], tuple[str, Any] | None]:
        """The classes as the core takes them."""
        c = self.classes
        return c.places if c.counts else None, c.names, c.counts

    def planned(self) -> _core.Planned:
        """What the core will do."""
        r = self.request
        return self._in_place(lambda: _core.Planned(
            self.data.points, self.options, r.method, r.settings, r.seed, *self.per_class))

    def planned_sweep(self, alphas: list[Any], etas: list[float]) -> _core.PlannedSweep:
        return self._in_place(lambda: _core.PlannedSweep(
            self.data.points, self.options, alphas, etas, *self.per_class))

    def _in_place(self, plan: Callable[[], T]) -> T:
        """A plan of the core's; points in a file stay there when memory is short."""
        try:
            return plan()
        except MemoryError:
            streamed = None if self.request.given_matrix else _mapped.streamed(self.data)
            if streamed is None:
                raise
            self.data = self.original = streamed
            return plan()

    def plans(self) -> Plan | dict[str, Plan | None]:
        raw = self.planned().plan
        notes = self.data.notes
        if isinstance(raw, dict):
            return plan_of(raw, notes)
        return ByClass({p["name"]: None if p["plan"] is None else plan_of(p["plan"], notes)
                        for p in raw})

    def select(self, watcher: Watcher) -> Selection:
        planned = self.planned()
        long = planned.long_run
        tell([long] if long else [], UserWarning)
        with closing(watcher):
            selection = self.selection(planned.select(watcher.function, watcher.every_step))
            watcher.finish(len(selection))
        if not self.request.given_matrix:
            selection.remember(self.request.method,
                               {**self.request.options, **self.request.settings},
                               self.original.rows(selection.exemplars))
        return selection

    def selection(self, raw: Any) -> Selection:
        if isinstance(raw, dict):
            found = selection_of(raw, self.data.notes, self.original.ids)
        else:
            found = joined(raw, len(self.data), self.data.notes, self.original.ids)
        found = replace(found, conditions=self.conditions)
        r = self.request
        found.remember_how(r.method, r.options, r.settings,
                           weights=self.options["conditions"].get("weights"),
                           function=r.kernel_function is not None)
        return found

    def class_encoders(self, selection: Selection) -> Iterator[tuple[str, Encoder, Data]]:
        """For each class that gives exemplars: its name, what represents it, and its points."""
        names, places = self.classes.names, self.classes.places
        square = bool(self.request.given_matrix) and self.request.kernel_function is None
        for name, part in selection.classes.items():
            if len(part) == 0:
                continue
            members = np.flatnonzero(places == names.index(name))
            data = _containers.part(self.original, members, square=square)
            within = replace(part, exemplars=np.searchsorted(members, part.exemplars),
                             coefficients=None)
            yield name, self.encoder(within, data, like=selection), data

    def encoder(self, selection: Selection, data: Data | None = None, *,
                like: Selection | None = None) -> Encoder:
        """What represents points by these exemplars.

        Of a class: its own points are the data, and a width that it has not found is as in the
        selection of all classes.
        """
        o = self.request.options
        classes = (like or selection).classes.values()
        name = (self.request.kernel_function or o.get("kernel")
                or self._kernel_by_plan([selection, *classes]))
        kernel = Kernel(name, selection.gamma or 0.0, o.get("degree", 3), o.get("coef0", 1.0))
        if classes and not kernel.gamma > 0 and kernel.facts.get("has_gamma"):
            # A class that gives nothing, or all of its points, has no width of its own.
            found = [s.gamma for s in classes if s.gamma]
            kernel.gamma = o.get("gamma") or float(np.mean(found or [1.0]))
        given = "" if self.request.kernel_function else self.request.given_matrix
        settings = {n: d for n, d, _ in method_table()[self.request.method]["settings"]}
        metric = self.request.settings.get("metric", settings.get("metric"))
        centered = is_solver(self.request.method) and kernel.facts.get("centered")
        usual = "point" if centered else "none"
        return Encoder(self.original if data is None else data, selection, kernel,
                       center=o.get("center") or usual, scale=o.get("scale") or "none",
                       metric=metric, given=given)

    def _kernel_by_plan(self, selections: list[Selection]) -> str:
        """That of the first plan; with none, as every class gives all it has, what one would be."""
        for selection in selections:
            if selection.plan and selection.plan.points > 0:
                return selection.plan.kernel
        r, one = self.request, {**self.options, "exemplars": 1}
        planned = _core.Planned(self.data.points, one, r.method, r.settings, r.seed, None, [], None)
        return str(planned.plan["kernel"])


def _kernel_matrix(function: Callable[..., Any], data: Data, limit: int) -> Data:
    """The n x n matrix of a kernel that is a function of the user's."""
    n = len(data)
    needed, free = 8 * n * n, limit or _core.available_memory() * 8 // 10
    if needed > free:
        raise MemoryError(
            f"a kernel given as a function needs its whole matrix, {n} x {n} numbers or "
            f"{_core.format_bytes(needed)}, more than the {_core.format_bytes(free)} allowed; use "
            "a kernel by name, which needs no such matrix")
    if data.values is None:
        raise ValueError("a kernel given as a function needs the points in memory")
    values = widened(data.values)
    matrix = function(values, values)
    matrix = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"the kernel function must return a {n} x {n} matrix for {n} points, got "
                         f"shape {matrix.shape}")
    return _containers.as_data(matrix)


def _look_at_device(request: Request, data: Data) -> None:
    """Refuses a device where the points are not; has what a card needs found."""
    device = request.options.get("device")
    if isinstance(data, CardData):
        if device == "cpu":
            raise ValueError("the points are on a card; for device='cpu' move them to the CPU's "
                             "memory, as in X.cpu() or X.get()")
        request.options.pop("device", None)  # where the points are
        if request.given_matrix or request.kernel_function is not None:
            raise ValueError("a kernel that is given, as a matrix or a function, is worked on in "
                             "the CPU's memory; move it there, as in X.cpu() or X.get()")
    elif device not in (None, "cpu"):
        find_libraries()


def tell(messages: list[str], category: type[Warning] = ConvergenceWarning) -> None:
    """Warns at the line that called this package, however deep inside we are."""
    level, frame = 2, sys._getframe(1)
    inside = ("fwsr", "sklearn", "imblearn")
    while frame.f_back and str(frame.f_globals.get("__name__")).split(".")[0] in inside:
        level, frame = level + 1, frame.f_back
    for message in messages:
        warnings.warn(message, category, stacklevel=level)
