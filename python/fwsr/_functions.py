"""Functions for people who want no estimator."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from . import _containers, _core, _data, _labels
from ._cards import find_libraries
from ._checkpoint import written_down
from ._clusters import has_cluster
from ._comparison import ComparedMethod, Comparison
from ._progress import Progress, Watcher
from ._results import ByClass, Plan, Selection
from ._run import (
    Classes,
    Request,
    Run,
    how_many,
    method_table,
    no_option,
    seed_of,
    setting_text,
    tell,
    threads_of,
    whole_number,
)
from ._several import Path, Setting, Sweep

Callback = Callable[[Progress], Any]


def select(
    X: Any,
    k: Any = None,
    *,
    method: str = _core.default_method,
    y: Any = None,
    per_class: bool | str = False,
    codes: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    device: str | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    checkpoint_seconds: float = 30,
    **options: Any,
) -> Selection:
    """The k points that represent a data set.

    Parameters
    ----------
    X : array, sparse matrix, table, :class:`Data` or path
        The points, one a row. Float32 and float64 arrays and CSR matrices are used in place, and
        so are tensors and arrays on a graphics card (PyTorch, CuPy, ...), also of float16 and
        bfloat16. Those of Dask are chosen from where they are, by ``fwsr.dask.select``, if there
        is a client.
    k : int, float, dict or str
        How many: a number, a fraction of the points, or per class a dictionary or
        ``"proportional:50"``. With ``budget`` it may be left out.
    method : str
        One of :func:`fwsr.methods`. ``"exchange"``, the default, is best for people who give only
        k: Frank-Wolfe selection with a kernel that suits the points, then exchanges until none
        helps. ``"fwsr"`` and ``"k-fwsr"`` are the paper's, with options that only they have.
    y : array-like, optional
        Labels, for ``per_class``.
    per_class : bool or "proportional"
        Choose k for each class, or k in all in proportion to the classes.
    codes : bool
        Also return the codes of all points, n x k numbers.
    seed : int
        For methods that draw at random.
    n_jobs : int, optional
        Threads; None: as OpenMP is set, -1: all cores. The answer does not depend on it.
    memory : int or str, optional
        What may be taken, the data included, as in ``"4G"``; mapped files that do not fit are
        read in blocks.
    device : str, optional
        ``"cuda"`` or ``"cuda:1"``: the work is done on a graphics card, ``"auto"``: where that is
        worth it, ``"cpu"``: on the processor. None: where the points are. ``device_memory`` is what
        may be taken of the card.
    verbose : int
        1 shows a progress bar.
    callback : callable, optional
        Called with a :class:`fwsr.Progress` after each step, and ten times a second
        between steps. Returning False stops the run: the answer holds what was chosen so far, its
        status is ``interrupted``.
    checkpoint : path, optional
        A file: what was decided so far is written there every ``checkpoint_seconds``, and when the
        run ends or is stopped.
    resume : bool
        Go on from the checkpoint, where there is one, to the answer of a run that nobody disturbed.
    checkpoint_seconds : float
        How often; 0: after every step.
    **options
        Of the method: ``kernel``, ``gamma``, ``scale``, ... (:class:`fwsr.Exchange` explains them;
        ``alpha``, ``eta``, ... with ``method="fwsr"``: :class:`fwsr.FWSR`), or its own settings.
        And conditions, where the method takes them: ``candidates`` (only these
        may be chosen), ``exclude`` (these may not), ``include`` (these are exemplars already), each
        as indices, a mask or ids; ``include_points`` (points that are exemplars already),
        ``represent`` (points that are to be represented in place of X); ``sample_weight`` and
        ``cost``, a number for each point; ``groups``, one for each point, with ``at_least`` and
        ``at_most``, a number or a dictionary.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> chosen = fwsr.select(X, 4)
    >>> len(chosen), chosen.status
    (4, 'exemplars_reached')
    >>> X[chosen.exemplars].shape
    (4, 5)
    >>> len(fwsr.select(X, 4, method="fwsr", alpha=5))
    4
    >>> int(fwsr.select(X, 4, method="kmedoids", seed=1).weights.sum())
    200
    """
    if has_cluster(X):
        from .dask import select as select_there

        _refuse_memory(memory)
        return select_there(X, k, method=method, y=y, per_class=per_class, codes=codes, seed=seed,
                            n_jobs=n_jobs, verbose=verbose, callback=callback, resume=resume,
                            checkpoint=checkpoint, checkpoint_seconds=checkpoint_seconds,
                            **{**options, **({} if device is None else {"device": device})})
    request = Request.of(method, {**options, "device": device}, seed_of(seed))
    run = Run.prepare(X, request, k, per_class, y, n_jobs, memory, name="k")
    run.options["codes"] = codes
    with written_down(run, checkpoint, resume, checkpoint_seconds):
        selection = run.select(Watcher(verbose, callback, method))
    tell(selection.warnings)
    return selection


def plan(
    X: Any,
    k: Any,
    *,
    method: str = _core.default_method,
    y: Any = None,
    per_class: bool | str = False,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    device: str | None = None,
    **options: Any,
) -> Plan | dict[str, Plan | None]:
    """What :func:`select` would do, its memory and its time, without doing it.

    Parameters
    ----------
    X, k, method, y, per_class, n_jobs, memory, device, **options
        As for :func:`select`.

    Returns
    -------
    Plan
        Per class a dictionary of plans by the name of the class as text (``"0"`` for the number 0);
        None for a class that gives all it has.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> plan = fwsr.plan(np.zeros((1000, 20), dtype=np.float32), 10)
    >>> plan.method, plan.kernel, plan.points
    ('exchange', 'rbf', 1000)
    """
    request = Request.of(method, {**options, "device": device})
    return Run.prepare(X, request, k, per_class, y, n_jobs, memory, name="k").plans()


def sweep(
    X: Any,
    k: Any,
    alphas: Sequence[float | str] = (),
    etas: Sequence[float] = (),
    *,
    y: Any = None,
    per_class: bool | str = False,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    **options: Any,
) -> Sweep:
    """FWSR with many settings of alpha and eta, for little more than the price of a few.

    Parameters
    ----------
    X, k, y, per_class, n_jobs, memory, verbose, callback, **options
        As for :func:`select`.
    alphas, etas : sequence of float
        What to try, each alpha with each eta. ``"auto"`` among the alphas, or none of them, is the
        default radius.

    Returns
    -------
    Sweep
        A list of :class:`Setting`: ``alphas[0], etas[0]``, then ``alphas[0], etas[1]``, and so on.
        Each has ``.alpha``, ``.eta`` and ``.selection``, as :func:`select` would answer.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> settings = fwsr.sweep(X, 4, alphas=[1, 5], etas=[0, 0.3])
    >>> [(s.alpha, s.eta) for s in settings]
    [(1.0, 0.0), (1.0, 0.3), (5.0, 0.0), (5.0, 0.3)]
    """
    for name in ("alpha", "beta", "eta"):
        if name in options:
            raise TypeError(f"sweep tries alphas and etas; leave {name} out")
    if has_cluster(X):
        from .dask import sweep as sweep_there

        _refuse_memory(memory)
        return sweep_there(X, k, alphas, etas, y=y, per_class=per_class, n_jobs=n_jobs,
                           verbose=verbose, callback=callback, **options)
    run = Run.prepare(X, Request.of("fwsr", options), k, per_class, y, n_jobs, memory, name="k")
    alphas, etas = _listed("alphas", alphas), _numbers("etas", etas)
    planned = run.planned_sweep(alphas, etas)
    watcher = Watcher(verbose, callback, "sweep")
    with closing(watcher):
        raw = planned.sweep(watcher.function, watcher.every_step)
        watcher.finish()
    settings = Sweep(Setting(alpha, eta, run.selection(answer)) for alpha, eta, answer in raw)
    settings._call = _call("sweep", k, alphas=alphas or None, etas=etas or None, y=y,
                           per_class=per_class or None, **options)
    tell([f"alpha {s.alpha if s.alpha == 'auto' else f'{s.alpha:g}'}, eta {s.eta:g}: {w}"
          for s in settings for w in s.selection.warnings])
    return settings


def path(
    X: Any,
    k: Any,
    *,
    method: str = _core.default_method,
    y: Any = None,
    per_class: bool | str = False,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    **options: Any,
) -> Path:
    """One run to k exemplars, and the reconstruction error of its first 1, 2, ..., k.

    With ``method="fwsr"`` and ``alpha`` or ``beta`` given, the answer for fewer exemplars is the
    beginning of the answer for more. Else the radius grows with k, and by default exemplars are
    exchanged and put in the order of what each adds: a run for fewer can choose others.

    Parameters
    ----------
    X, k, method, y, per_class, seed, n_jobs, memory, verbose, callback, **options
        As for :func:`select`.

    Returns
    -------
    Path
        Per class ``.classes`` has one for each class; ``.error`` is that of all classes together.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> errors = fwsr.path(X, 4).error
    >>> bool((np.diff(errors) <= 0).all())
    True
    >>> path = fwsr.path(X, 3, y=np.arange(200) % 2, per_class=True)
    >>> [(name, len(of_class.error)) for name, of_class in path.classes.items()]
    [('0', 3), ('1', 3)]
    """
    request = Request.of(method, options, seed_of(seed))
    if request.given_matrix == "distance":
        raise ValueError("dissimilarities have no reconstruction error; give points")
    run = Run.prepare(X, request, k, per_class, y, n_jobs, memory, name="k")
    selection = run.select(Watcher(verbose, callback, method))
    tell(selection.warnings)
    if selection.classes:
        return _class_paths(run, selection)
    return Path(selection, run.encoder(selection).error_path(run.original))


def _class_paths(run: Run, selection: Selection) -> Path:
    """The path of each class, and that of the points of all of them."""
    classes, parts, total = ByClass(), [], 0.0
    for name, encoder, data in run.class_encoders(selection):
        left, whole = encoder.left_out(data)
        classes[name] = Path(selection.classes[name],
                             left / whole if whole > 0 else np.zeros(len(left)))
        parts.append(left)
        total += whole
    longest = max((len(left) for left in parts), default=0)
    together = sum((np.pad(left, (0, longest - len(left)), mode="edge") for left in parts),
                   start=np.zeros(longest))
    return Path(selection, together / total if total > 0 else np.zeros(longest), classes)


def compare(
    X: Any,
    k: Any,
    methods: str | Sequence[Any] = _core.default_methods,
    *,
    y: Any = None,
    per_class: bool | str = False,
    repeats: int = 20,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    device: str | None = None,
    device_memory: int | str | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    **options: Any,
) -> Comparison:
    """Several methods on the same points, judged by the same measures.

    Parameters
    ----------
    X, k, y, per_class, seed, n_jobs, memory, verbose, callback
        As for :func:`select`.
    device, device_memory : str, optional
        As for :func:`select`. Methods that a card serves run there, the others on the processor.
    methods : sequence or str
        Names, with settings as on the command line (``"smrs:alpha=20"``), or estimators
        (``SMRS(alpha=20)``); ``"all"`` is every method. A string is names between commas. Of an
        estimator its parameters are taken where they differ from the
        defaults of its class, and a whole number as ``random_state`` is its seed; how many
        exemplars, classes, threads and memory are those given here.
    repeats : int
        Runs of methods that draw at random.
    time_limit : float, optional
        Seconds that one run may take; a method that takes longer is listed as ``too_slow``.
    **options
        ``center``, ``scale``, ``lambda_`` and ``rho`` for all methods and for the measures;
        ``fill`` for all methods; ``kernel``, ``gamma``, ``degree`` and ``coef0`` for the methods
        that use one.
        What a method says for itself goes before. Nothing is centred unless ``center`` is given,
        so that all see the same points, while FWSR elsewhere centres each point.

    Returns
    -------
    Comparison
        A list, one :class:`ComparedMethod` each, which prints as a table.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> table = fwsr.compare(X, 4, ["fwsr", "kmedoids:init=build"], repeats=2)
    >>> [m.name for m in table]
    ['fwsr', 'kmedoids:init=build']
    >>> table.best("medoid_cost")
    'kmedoids:init=build'
    """
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if not isinstance(methods, Iterable):
        raise TypeError(f"methods must be a list of names or estimators, got {methods!r}")
    repeats = whole_number("repeats", repeats)
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    if time_limit is not None:
        if isinstance(time_limit, bool) or not isinstance(time_limit, numbers.Real):
            raise TypeError(f"time_limit must be a number of seconds, got {time_limit!r}")
        if not time_limit > 0:
            raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit}")
    common = {"center": "none", **{("lambda" if n == "lambda_" else n): v
                                   for n, v in options.items()}}
    allowed = _core.compare_options()
    for name in common:
        if name not in allowed:
            raise no_option("compare", name, allowed,
                            f". Options of one method are written 'fwsr:{name}=...'")
    data = _containers.as_data(X, memory)
    if data.points.streamed:
        raise ValueError("a comparison needs the points in memory; allow more, or compare on some "
                         "of them")
    if y is None and data.labels is not None:
        y = data.labels
    number, classes = how_many(k, per_class, y, len(data), name="k")
    if y is not None and classes.counts is None:
        classes = Classes(*_labels.classes_of(y, len(data)))
    if ("lambda" in common) != ("rho" in common):
        raise ValueError("lambda_ and rho go together: give both, or neither")
    basics: dict[str, Any] = {"exemplars": number, "threads": threads_of(n_jobs),
                              "memory": _data.memory_limit(memory)}
    if device_memory is not None and device in (None, "cpu"):
        raise ValueError("device_memory is of a card; add device='cuda', or leave it out")
    if device not in (None, "cpu"):
        find_libraries()
        basics |= {"device": device, "device_memory": _data.memory_limit(device_memory)}
    contestants = [_contestant(one, common, basics, seed_of(seed))
                   for one in _expanded(methods, common.get("kernel") == "precomputed")]
    if not contestants:
        raise ValueError("there is no method to compare; name some")
    judged_by = {**common, **basics}
    watcher = Watcher(verbose, callback, "compare")
    with closing(watcher):
        raw = _core.compare(data.points, contestants, judged_by, classes.places, classes.names,
                            classes.counts, repeats, time_limit, watcher.function,
                            watcher.every_step)
        watcher.finish()
    table = Comparison(ComparedMethod(**row) for row in raw)
    table._call = _call("compare", k, methods, y=y, per_class=per_class or None,
                        repeats=None if repeats == 20 else repeats, time_limit=time_limit,
                        seed=seed or None, **options)
    tell([f"{m.name}: {w}" for m in table for w in m.warnings])
    return table


def methods() -> dict[str, str]:
    """The methods there are: name -> one sentence.

    Examples
    --------
    >>> import fwsr
    >>> fwsr.methods()["random"]
    'uniformly, without replacement'
    """
    return {name: m["about"] for name, m in method_table().items()}


def _call(function: str, *places: Any, y: Any, **options: Any) -> str:
    """What was called, in words; '' where it is more than anybody reads."""
    words = ["X", *map(repr, places), *([] if y is None else ["y=y"]),
             *(f"{name}={value!r}" for name, value in options.items() if value is not None)]
    call = f"fwsr.{function}({', '.join(words)})"
    return call if len(call) <= 2000 else ""


def _expanded(methods: Iterable[Any], matrix_given: bool) -> list[Any]:
    """With every method in place of ``"all"``, or those that work on a kernel matrix; each once."""
    every = [name for name, m in method_table().items() if m["any_kernel"] or not matrix_given]
    wanted = [w for one in methods
              for w in (every if isinstance(one, str) and one == "all" else [one])]
    return [w for i, w in enumerate(wanted)
            if not isinstance(w, str) or w not in [v for v in wanted[:i] if isinstance(v, str)]]


def _contestant(one: Any, common: dict[str, Any], basics: dict[str, Any],
                seed: int) -> tuple[str, str, dict[str, str], dict[str, Any], int]:
    if hasattr(one, "_request") and not isinstance(one, type):
        request, name = one._request(), None
        usual = {f.name.rstrip("_"): f.default for f in dataclasses.fields(one)}
        own = {n: v for n, v in request.options.items() if v != usual[n]}
        state = getattr(one, "random_state", None)
        seed = seed_of(state, "random_state") if isinstance(state, numbers.Integral) else seed
        if request.kernel_function is not None:
            raise ValueError("a comparison takes kernels by name, or 'precomputed'; compute the "
                             "matrix of this kernel and give that")
    else:
        if not isinstance(one, str):
            raise TypeError(f"methods are names or estimators, got {one!r}")
        method, *parts = one.split(":")
        given = dict(_setting(one, part) for part in parts)
        request, name = Request.of(method, given), one
        own = request.options
    table = method_table()[request.method]
    shared = {n: v for n, v in common.items() if n not in ("lambda", "rho")}
    if not table["uses_rbf"] and shared.get("kernel") != "precomputed":
        kernels = ("kernel", "gamma", "degree", "coef0")
        shared = {n: v for n, v in shared.items() if n not in kernels}
    own = {n: v for n, v in own.items() if n not in ("certificate", "lambda", "rho")}
    if shared.get("kernel") == "precomputed" != own.get("kernel", "precomputed"):
        raise ValueError(f"with kernel='precomputed' the data is a kernel matrix, and "
                         f"{request.method} asks for kernel={own['kernel']!r}; leave one of them "
                         "out")
    if name is None:
        usual = {n: setting_text(d) for n, d, _ in table["settings"]}
        given = {n: v for n, v in request.settings.items() if v != usual[n]}
        given.update({n: setting_text(v) for n, v in own.items()})
        name = ":".join([request.method, *(f"{n}={v}" for n, v in given.items())])
    return (name, request.method, request.settings, {**shared, **own, **basics}, seed)


def _setting(whole: str, part: str) -> tuple[str, Any]:
    name, equals, text = part.partition("=")
    if not equals:
        raise ValueError(f"'{part}' in '{whole}' is no setting; write name=value")
    if text in ("yes", "no"):
        return name, text == "yes"
    for kind in (int, float):
        try:
            return name, kind(text)
        except ValueError:
            pass
    return name, text


def _refuse_memory(memory: Any) -> None:
    if memory is not None:
        raise ValueError("memory is that of one machine; on a cluster Dask limits what its workers "
                         "take (memory_limit)")


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list of numbers or 'auto', got {values!r}")
    return list(values)


def _numbers(name: str, values: Any) -> list[float]:
    try:
        if isinstance(values, str):
            raise TypeError
        return [float(v) for v in values]
    except (TypeError, ValueError) as e:
        raise TypeError(f"{name} must be a list of numbers, got {values!r}") from e
