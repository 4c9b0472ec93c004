"""Selections and sweeps over points on the workers of a Dask cluster."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._answers import selection_of
from .._checkpoint import checkpoint_of
from .._clusters import is_collection
from .._conditions import Points, conditions_of, described
from .._encoder import Encoder, Kernel
from .._functions import _listed, _numbers
from .._progress import Progress, Watcher
from .._results import Selection as LocalSelection
from .._run import Classes, Request, Run, how_many, is_solver, seed_of, tell, threads_of
from .._several import Setting, Sweep
from ._chunks import Chunks, gathered
from ._classes import (
    FEW,
    Part,
    Split,
    chosen_here,
    in_order,
    joined_parts,
    lazy_assignment,
    of_all_points,
    wanted_of,
)
from ._lazy import codes, represented_by
from ._leader import Leader

Callback = Callable[[Progress], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Selection(LocalSelection):
    """What :func:`fwsr.dask.select` answers: a :class:`fwsr.Selection` of points on a cluster.

    ``exemplars`` are row numbers of all of X, ``ids`` the values of a table's index.
    ``assignment``, and ``codes`` where they were asked for, are collections of Dask with the chunks
    and the index of X: nothing of them is computed before it is asked for.

    Attributes
    ----------
    points : ndarray or CSR matrix
        The rows of the exemplars.
    wire : dict
        What the run told the workers: ``questions``, ``round_trips``, bytes ``sent`` and
        ``received``, workers ``lost``, questions ``replayed`` to those that took their place.

    Examples
    --------
    >>> import fwsr.dask
    >>> chosen = fwsr.dask.select(X, 20)  # doctest: +SKIP
    >>> chosen.assignment.compute()[:3], chosen.wire["lost"]  # doctest: +SKIP
    (array([4, 0, 7]), 0)
    """

    points: Any = None
    wire: dict[str, int] = dataclasses.field(default_factory=dict)

    def to_local(self) -> LocalSelection:
        """The same with ``assignment`` and ``codes`` computed, as :func:`fwsr.select` has them."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(LocalSelection)}
        for name in ("assignment", "codes"):
            if fields[name] is not None:
                fields[name] = np.asarray(fields[name])
        return LocalSelection(**fields)


def client_of(client: Any) -> Any:
    """The user's client, or the one that is there."""
    from distributed import get_client

    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError("there is no Dask client: start one, as in\n"
                             "    from dask.distributed import Client\n"
                             "    client = Client()\n"
                             "and choose again") from None
    if client.asynchronous:
        raise ValueError("the client is asynchronous, and a choice waits for its workers: give a "
                         "Client() without asynchronous=True, or call from a thread of its own")
    return client


class Rows:
    """As many points as there are, for what asks how many."""

    def __init__(self, leader: Leader):
        self._leader = leader
        self.ids = None
        self.shape = (len(leader), leader.chunks.features)
        self.notes = leader.notes
        self.columns = leader.chunks.columns

    def __len__(self) -> int:
        return self.shape[0]


class DaskRun:
    """A request with its points, on workers until it is closed."""

    def __init__(self, X: Any, request: Request, k: Any, *, client: Any, timeout: float,
                 n_jobs: int | None, name: str, sweep: bool = False, checkpoint: Any = None,
                 resume: bool = False, checkpoint_seconds: float = 30):
        if not is_collection(X) and not isinstance(X, Chunks):
            raise TypeError(f"X must be a dask array or a dask table, got {type(X).__name__}; "
                            "fwsr.select takes points in memory")
        if request.given_matrix or request.kernel_function is not None:
            raise ValueError("a kernel that is given, as a matrix or a function, is worked on in "
                             "one place: use fwsr.select")
        self.X = X
        self.request = request
        self.client = client_of(client)
        chunks = X if isinstance(X, Chunks) else Chunks(X)
        self.leader = Leader(self.client, chunks, _seconds(timeout))
        self.here: Run | None = None  # what cannot be shared, of few points that are brought here
        try:
            self.data = self.original = Rows(self.leader)
            self._prepare(k, n_jobs, name, sweep, (checkpoint, resume, checkpoint_seconds))
        except BaseException:
            self.close()
            raise

    def _prepare(self, k: Any, n_jobs: int | None, name: str, sweep: bool,
                 checkpoint: tuple[Any, bool, float]) -> None:
        n, request, chunks = len(self.leader), self.request, self.leader.chunks
        for one in ("represent", "include_points"):
            if request.conditions.get(one) is not None:
                raise ValueError(f"{one} is a set of its own, and points on a cluster are one set: "
                                 "append it to X, and name its rows by candidates, sample_weight "
                                 "and include")
        if k is None and request.options.get("budget") is not None:
            number = 0
        else:
            if request.options.get("until_error") is not None and isinstance(k, int):
                k = min(k, n)
            number, _ = how_many(k, False, None, n, name=name)
        given = {one: _gathered(value) for one, value in request.conditions.items()}
        conditions = conditions_of(given, Points(self.data, n), self.data)  # type: ignore[arg-type]
        self.conditions = described(given, Points(self.data, n), conditions)  # type: ignore[arg-type]
        self.classes = Classes()
        self.weights = conditions.get("weights")
        options = {**request.options, "exemplars": number, "assignment": False,
                   "threads": threads_of(n_jobs), "memory": 0, "conditions": conditions}
        single = chunks.dtype != "float64"
        facts = {"k": number, "points": n, "features": chunks.features, "single": single}
        self.checkpoint = checkpoint_of(*checkpoint, request, facts, conditions, False)
        if self.checkpoint is not None:
            options["recorder"] = self.checkpoint.core
        try:
            self.core = _core.ShardedRun(n, chunks.features, chunks.sparse, single, options,
                                         request.method, request.settings, request.seed)
        except ValueError:
            if n > FEW or sweep:
                raise
            self.here = self._brought_here(dataclasses.replace(request, conditions=given), k,
                                           n_jobs, name)
        else:
            self.leader.settle(self.core.preprocessing(sweep))

    def _brought_here(self, request: Request, k: Any, n_jobs: int | None, name: str) -> Run:
        run = Run.prepare(gathered(self.client, self.leader.chunks), request, k, False, None,
                          n_jobs, None, name=name)
        run.data.notes += [*self.leader.notes, f"what is asked of these {len(self.leader)} points "
                           "is not shared among workers: they were brought to the client"]
        run.options["assignment"] = False
        if self.checkpoint is not None:
            run.options["recorder"] = self.checkpoint.core
        return run

    def close(self) -> None:
        self.leader.close()

    def select(self, watcher: Watcher, codes_too: bool) -> Selection:
        with closing(watcher), self.checkpoint.kept() if self.checkpoint else nullcontext():
            if self.here is not None:
                self.here.options["codes"] = codes_too  # refused of methods that have none
                raw = self.here.planned().select(watcher.function, watcher.every_step)
            else:
                raw = self.core.select(self.leader.ask, watcher.function, watcher.every_step)
            found = self.selection(raw, codes_too)
            watcher.finish(len(found))
        found.remember(self.request.method, {**self.request.options, **self.request.settings},
                       found.points)
        return found

    def part(self, name: str, members: np.ndarray, watcher: Watcher) -> Part:
        """Of a class."""
        raw = self.core.select(self.leader.ask, watcher.function, watcher.every_step)
        found = self.selection(raw)
        encoder = self.encoder(found) if len(found) else None
        return Part({"name": name, "members": members, "selection": of_all_points(raw, members)},
                    encoder, found.points, found.ids, found.wire, self.leader.notes)

    def sweep(self, alphas: list[Any], etas: list[float], watcher: Watcher) -> Sweep:
        with closing(watcher):
            raw = self.core.sweep(self.leader.ask, alphas, etas, watcher.function,
                                  watcher.every_step)
            settings = Sweep(Setting(alpha, eta, self.selection(answer))
                             for alpha, eta, answer in raw)
            watcher.finish()
        return settings

    def selection(self, raw: dict[str, Any], codes_too: bool = False) -> Selection:
        if self.here is not None:
            plain, rows = self.here.selection(raw), self.here.original
            points, ids = rows.rows(plain.exemplars), None
            if self.leader.chunks.frame:
                ids = [rows.source.index[i] for i in plain.exemplars.tolist()]
        else:
            plain = selection_of(raw, self.leader.notes, None)
            points, ids = self.leader.rows(plain.exemplars.tolist())
        fields = {f.name: getattr(plain, f.name) for f in dataclasses.fields(plain)}
        found = Selection(**{**fields, "ids": ids, "points": points,
                             "conditions": self.conditions,
                             "wire": dataclasses.asdict(self.leader.wire)})
        found.remember_how(self.request.method, self.request.options, self.request.settings,
                           weights=self.weights, function=False)
        if found.status != "interrupted" and len(found):
            if isinstance(self.X, Chunks):  # of a class
                return found
            encoder = self.encoder(found)
            object.__setattr__(found, "assignment", represented_by(self.X, encoder))
            if codes_too:
                object.__setattr__(found, "codes", codes(self.X, encoder))
        return found

    def encoder(self, selection: LocalSelection) -> Encoder:
        """What represents points by these exemplars, wherever the points are."""
        if self.here is not None:
            return self.here.encoder(selection)
        o = self.request.options
        kernel = Kernel(self.core.kernel, selection.gamma or 0.0, o.get("degree", 3),
                        o.get("coef0", 1.0))
        centered = is_solver(self.request.method) and kernel.facts.get("centered")
        return Encoder(Fetched(self.leader, selection), selection, kernel,  # type: ignore[arg-type]
                       center=o.get("center") or ("point" if centered else "none"),
                       scale=o.get("scale") or "none", frame=self.core.frame)


class Fetched:
    """Rows of the few points that a selection knows."""

    def __init__(self, leader: Leader, selection: LocalSelection):
        known = selection.exemplars.tolist()
        if selection.coefficients is not None:
            known += [i for i in selection.coefficients["basis"].tolist() if i not in set(known)]
        self._places = {point: place for place, point in enumerate(known)}
        self._rows, _ = leader.rows(known)

    def rows(self, indices: Any) -> Any:
        return self._rows[[self._places[int(i)] for i in indices]]


@contextmanager
def running(*args: Any, **kwargs: Any) -> Iterator[DaskRun]:
    """A run, and nothing left of it on the workers."""
    with closing(DaskRun(*args, **kwargs)) as run:
        yield run


def select(
    X: Any,
    k: Any = None,
    *,
    method: str = _core.default_method,
    y: Any = None,
    per_class: bool | str = False,
    codes: bool = False,
    client: Any = None,
    timeout: float = 60.0,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    checkpoint_seconds: float = 30,
    **options: Any,
) -> Selection:
    """The k points that represent a data set that lives on a Dask cluster.

    The points stay on their workers, which hold their chunks in place; a step of the choice tells
    every worker a few vectors. The answer has the bits of :func:`fwsr.select` with all points in
    one place, for any number of workers and any chunks, on processors of one kind. A worker that
    is lost is replaced, and the answer is the same.

    Parameters
    ----------
    X : dask array or dask table
        Rows in chunks, columns whole; a table of numbers. Chunks of unknown sizes are counted.
    k, method, codes, seed, verbose, callback, **options
        As for :func:`fwsr.select`. Lists of conditions may be arrays of Dask, too.
    y : array-like or collection of Dask, optional
        Labels, in the order of the points and in any chunks, for ``per_class``; they are brought
        here.
    per_class : bool or "proportional"
        As for :func:`fwsr.select`: one class after the other. The points are cut once into chunks
        of one class each; classes of up to 4096 points are chosen from in this process.
    client : distributed.Client, optional
        None: the one that is there.
    timeout : float
        Seconds: a worker of which nothing is heard for so long is named in an error; and how long
        to wait for a worker where none is left.
    n_jobs : int, optional
        Threads for what is done here; on workers there are as many as these have.
    checkpoint, resume, checkpoint_seconds
        As for :func:`fwsr.select`: a file of the client's. ``fwsr.select`` with all points in one
        place can go on from it, and the other way round.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> import fwsr.dask
    >>> client = Client(processes=False, dashboard_address=None)  # doctest: +SKIP
    >>> X = da.random.default_rng(0).normal(size=(10_000, 20), chunks=(2_000, -1))
    >>> chosen = fwsr.dask.select(X, 5)  # doctest: +SKIP
    >>> chosen.points.shape  # doctest: +SKIP
    (5, 20)
    """
    request = Request.of(method, options, seed_of(seed))
    if per_class or isinstance(k, (str, Mapping)):
        checkpoint_of(checkpoint, resume, checkpoint_seconds, request, {}, {}, True)
        return select_classes(X, k, request, y=y, per_class=per_class, codes=codes, client=client,
                              timeout=timeout, n_jobs=n_jobs,
                              watcher=Watcher(verbose, callback, method))
    with running(X, request, k, client=client, timeout=timeout, n_jobs=n_jobs, name="k",
                 checkpoint=checkpoint, resume=resume,
                 checkpoint_seconds=checkpoint_seconds) as run:
        found = run.select(Watcher(verbose, callback, method), codes)
    tell(found.warnings)
    return found


def sweep(
    X: Any,
    k: Any,
    alphas: Sequence[float | str] = (),
    etas: Sequence[float] = (),
    *,
    y: Any = None,
    per_class: bool | str = False,
    client: Any = None,
    timeout: float = 60.0,
    n_jobs: int | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    **options: Any,
) -> Sweep:
    """FWSR with many settings of alpha and eta, all in the same passes over the points.

    Parameters
    ----------
    X, k, y, per_class, client, timeout, n_jobs, verbose, callback, **options
        As for :func:`fwsr.dask.select`.
    alphas, etas : sequence of float
        As for :func:`fwsr.sweep`.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> import fwsr.dask
    >>> found = fwsr.dask.sweep(X, 20, alphas=["auto", 2], etas=[0, 0.3])  # doctest: +SKIP
    >>> len(found)  # doctest: +SKIP
    4
    """
    for name in ("alpha", "beta", "eta"):
        if name in options:
            raise TypeError(f"sweep tries alphas and etas; leave {name} out")
    _refuse_classes(k, per_class)
    request = Request.of("fwsr", options)
    with running(X, request, k, client=client, timeout=timeout, n_jobs=n_jobs, name="k",
                 sweep=True) as run:
        settings = run.sweep(_listed("alphas", alphas), _numbers("etas", etas),
                             Watcher(verbose, callback, "sweep"))
    tell([f"alpha {s.alpha if s.alpha == 'auto' else f'{s.alpha:g}'}, eta {s.eta:g}: {w}"
          for s in settings for w in s.selection.warnings])
    return settings


def _refuse_classes(k: Any, per_class: Any) -> None:
    if per_class or isinstance(k, (str, dict)):
        raise ValueError("exemplars per class are chosen on a cluster by fwsr.dask.select(X, k, "
                         "y=y, per_class=True) alone, or from the points of each class")


def select_classes(X: Any, k: Any, request: Request, *, y: Any, per_class: Any, codes: bool,
                   client: Any, timeout: float, n_jobs: int | None, watcher: Watcher) -> Selection:
    """The selections of all classes as one."""
    if not is_collection(X):
        raise TypeError(f"X must be a dask array or a dask table, got {type(X).__name__}; "
                        "fwsr.select takes points in memory")
    if any(value is not None for value in request.conditions.values()):
        raise ValueError("conditions per class are not served on a cluster; choose from the points "
                         "of each class by itself, with its part of the conditions")
    if codes:
        raise ValueError("codes of classes are not told on a cluster; leave codes out, or choose "
                         "from the points of each class by itself")
    client = client_of(client)
    with closing(watcher), closing(Split(client, X, y, k, per_class)) as points:
        names = in_order(points.classes.names)
        sizes = [len(points.members(name)) for name in names]
        assert points.classes.counts is not None
        parts: list[Part] = []
        for name, size, wanted in zip(names, sizes,
                                      wanted_of(names, sizes, points.classes.counts)):
            if size <= FEW or wanted > size or wanted == 0:
                parts.append(chosen_here(points, name, wanted, request, n_jobs, watcher))
            else:
                with running(points.chunks(name), request, wanted, client=client, timeout=timeout,
                             n_jobs=n_jobs, name="k") as run:
                    parts.append(run.part(name, points.members(name), watcher))
            if parts[-1].raw["selection"]["status"] == "interrupted":
                break
        frame = hasattr(X, "map_partitions")
        found = Selection(**joined_parts(parts, points, frame))
        found.remember_how(request.method, request.options, request.settings, weights=None,
                           function=False)
        if found.status != "interrupted":
            object.__setattr__(found, "assignment", lazy_assignment(X, points, parts))
        watcher.finish(len(found))
    tell(found.warnings)
    return found


def _gathered(value: Any) -> Any:
    """A list with an entry for each point is needed here, where the run is led."""
    return value.compute() if is_collection(value) else value


def _seconds(timeout: Any) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds, got {timeout!r}")
    if not timeout > 0:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout}")
    return float(timeout)
