"""The paper's Table 1, measured: seconds and memory as n, d and k double.

FWSR and SMRS each in two forms: the paper's, with n x n matrices in NumPy, and this library's. All
run on one thread, and what is timed is the time of the processor: other programs disturb it little.
"""

from __future__ import annotations

import math
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import fwsr
from bench import literal

from .. import figures, page
from ..data import Split, load, standardised
from ..store import Key, Result, Store

ALONE = True
ALPHA = 5.0
#: What doubles, how often at most, and what stays.
AXES: dict[str, dict[str, Any]] = {
    "n": {"first": 500, "doublings": 9, "d": 100, "k": 20},
    "d": {"first": 100, "doublings": 4, "n": 2000, "k": 20},
    "k": {"first": 20, "doublings": 4, "n": 2000, "d": 400},
}
#: Doublings for those that would take too long or too much memory with all of them.
FEWER = {
    ("fwsr, paper", "n"): 4,
    ("smrs, paper", "n"): 4,
    ("smrs", "n"): 5,
    ("smrs", "d"): 3,
    ("smrs, paper", "d"): 3,
}
METHODS = ("fwsr, paper", "fwsr", "smrs, paper", "smrs")
#: Points of one class of real data, for the number of steps.
REAL: dict[str, tuple[str, Callable[[], Split]]] = {
    "mnist": ("MNIST, 0", lambda: load("mnist")),
    "fashion": ("Fashion-MNIST, T-shirts", lambda: load("fashion")),
    "yaleb": ("E-YaleB, all people", lambda: replace(load("yaleb"), y=np.zeros(1938, np.int64))),
    "credit": ("Credit, normal", lambda: load("credit")),
    "credit-standardised": (
        "Credit, normal, standardised", lambda: standardised(load("credit"), independently=False)
    ),
}
ASKED = (5, 10, 20, 50, 100)
ALPHAS = (0.5, 5.0, 50.0)
LONG = 4.0  # seconds: what takes longer is timed once, the rest three times
ITERATIONS = 3  # of SMRS in the paper's form: each costs the same, so a few are timed
NAMES = {
    "fwsr, paper": "FWSR, the paper's form",
    "fwsr": "FWSR, ours",
    "smrs, paper": "SMRS, the paper's form",
    "smrs": "SMRS, ours",
}


def keys(quick: bool) -> list[Key]:
    made: list[Key] = []
    for axis, of in AXES.items():
        if quick and axis != "n":
            continue
        for method in METHODS:
            if axis == "k" and method.startswith("smrs"):  # the same work for every k
                continue
            doublings = 0 if quick else FEWER.get((method, axis), of["doublings"])
            for i in range(doublings + 1):
                fixed = {name: of[name] for name in "ndk" if name in of}
                made.append({"axis": axis, "method": method, **fixed, axis: of["first"] * 2**i})
    for name in ["yaleb"] if quick else REAL:
        made += [{"axis": "steps", "points": name, "alpha": alpha} for alpha in ALPHAS]
    return made


def measure(axis: str, **key: Any) -> Result:
    if axis == "steps":
        return _steps(**key)
    return _in_its_own_process(key)


def _in_its_own_process(key: Key) -> Result:
    """So that its largest memory is that of this run. Pipes need no semaphores, unlike a pool."""
    spawn = get_context("spawn")
    answer, end = spawn.Pipe(duplex=False)
    child = spawn.Process(target=_tell_measured, args=(end, key))
    child.start()
    end.close()
    try:
        told = answer.recv()
    except EOFError:
        child.join()
        raise RuntimeError(f"the process ended with {child.exitcode}") from None
    child.join()
    if isinstance(told, BaseException):
        raise told
    return told


def _tell_measured(end: Connection, key: Key) -> None:
    try:
        end.send(_measured(**key))
    except Exception as error:
        end.send(error)


def _points(n: int, d: int) -> np.ndarray:
    """Normally distributed, the variance of feature j falling as 1 / j."""
    points = np.random.default_rng(0).standard_normal((n, d))
    points /= np.sqrt(1 + np.arange(d))
    return points


def _measured(method: str, n: int, d: int, k: int) -> Result:
    run = {
        "fwsr, paper": _fwsr_paper,
        "fwsr": _fwsr,
        "smrs, paper": _smrs_paper,
        "smrs": _smrs,
    }[method]
    with threadpool_limits(1):
        run(_points(100, 20), 5)  # loads what is loaded once
        points = _points(n, d)
        before = _peak()
        results = [run(points, k)]
        taken = _peak() - before
        if results[0]["seconds"] < LONG:
            results += [run(points, k) for _ in range(2)]
    middle = sorted(results, key=lambda r: r["seconds"])[len(results) // 2]
    return {**middle, "bytes": taken}


def _peak() -> int:
    """The most bytes that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    done = work()
    return done, time.process_time() - start


def _stepping(chosen: fwsr.Selection) -> float:
    """The part of the run that was steps."""
    return chosen.seconds["steps"] / sum(chosen.seconds.values())


def _fwsr_paper(points: np.ndarray, k: int) -> Result:
    beta = len(points) / ALPHA
    _, first = _timed(lambda: literal.choose(points, 1, beta=beta))  # the Gram matrix, one choice
    (picks, steps), seconds = _timed(lambda: literal.choose(points, k, beta=beta))
    return {
        "steps": steps, "seconds": seconds, "step_seconds": (seconds - first) / max(steps - 1, 1),
        "picks": [int(i) for i in picks],
    }


def _fwsr(points: np.ndarray, k: int) -> Result:
    chosen, seconds = _timed(lambda: fwsr.select(points, k, method="fwsr", alpha=ALPHA, n_jobs=1))
    steps = len(chosen.trace["pick"])
    return {
        "steps": steps, "seconds": seconds, "step_seconds": seconds * _stepping(chosen) / steps,
        "picks": chosen.exemplars.tolist(), "planned_bytes": chosen.plan.memory_bytes,
    }


def _smrs(points: np.ndarray, k: int) -> Result:
    chosen, seconds = _timed(lambda: fwsr.select(points, k, method="smrs", n_jobs=1))
    steps = int(chosen.facts["iterations"])
    return {
        "steps": steps, "seconds": seconds, "step_seconds": seconds * _stepping(chosen) / steps,
        "planned_bytes": chosen.plan.memory_bytes,
    }


def _smrs_paper(points: np.ndarray, k: int) -> Result:
    """ADMM on n x n matrices, (K + rho I)^-1 by the matrix inversion lemma: 2 n^2 d a step.

    The iterates are those of our form in another basis, so that ours tells how many there are.
    """
    of_ours = fwsr.select(points, k, method="smrs", n_jobs=1)
    weight = of_ours.facts["lambda"]
    start = time.process_time()
    rho, relaxed = 0.3 * weight, 1.7
    n, d = points.shape
    kernel = points @ points.T
    inner = np.linalg.inv(points.T @ points + rho * np.eye(d))

    def solve(right: np.ndarray, scratch: np.ndarray) -> None:
        np.matmul(points, inner @ (points.T @ right), out=scratch)
        right -= scratch
        right /= rho

    ones = np.ones((n, 1))
    solve(ones, np.empty((n, 1)))
    ones /= ones.sum()
    z, u, x, scratch = (np.full((n, n), 0.0) for _ in range(4))  # not zeros: pages are taken here
    begun = time.process_time()
    for _ in range(ITERATIONS):
        np.subtract(z, u, out=x)
        x *= rho
        x += kernel
        solve(x, scratch)
        np.multiply(ones, 1 - x.sum(axis=0), out=scratch)
        x += scratch
        x *= relaxed
        z *= 1 - relaxed
        x += z
        x += u
        norms = np.sqrt(np.einsum("ij,ij->i", x, x))
        shrunk = np.maximum(0, 1 - weight / rho / np.maximum(norms, 1e-300))
        np.multiply(x, shrunk[:, None], out=z)
        np.subtract(x, z, out=u)
    step = (time.process_time() - begun) / ITERATIONS
    steps = int(of_ours.facts["iterations"])
    return {"steps": steps, "seconds": begun - start + steps * step, "step_seconds": step}


def _steps(points: str, alpha: float) -> Result:
    """After how many steps there are so many exemplars; nothing where the run ended before."""
    split = REAL[points][1]()
    of_class = split.X[split.y == 0]
    run = fwsr.select(of_class, ASKED[-1], method="fwsr", alpha=alpha, certificate="none")
    rows = run.trace["rows"]
    reached = {str(k): int(np.argmax(rows >= k)) + 1 for k in ASKED if rows.max() >= k}
    return {"n": len(of_class), "d": of_class.shape[1], "steps": reached}


# --- tables and figure ---------------------------------------------------------------------------


def _operations(method: str, n: int, d: int, k: int, steps: int) -> dict[str, float]:
    """What Table 1 counts, and docs/forms.md (set-up, steps, certificate; the covariance form)."""
    table = {
        "fwsr": n * n * d + steps * n * n,
        "smrs": n * n * d + steps * min(n * n * d, n**3),
    }
    ours = {
        "fwsr": 2 * n * d * d + 6 * steps * n * d + 4 * n * k * k,
        "smrs": steps * n * min(n, d) ** 2,
    }
    name, _, paper = method.partition(", ")
    return {"table": table[name], "ours": math.nan if paper else ours[name]}


def _bytes(method: str, n: int, d: int, k: int) -> dict[str, float]:
    name, _, paper = method.partition(", ")
    table = {"fwsr": n * n + k * n, "smrs": 2 * n * n}[name]
    ours = {"fwsr": 3 * n + 5 * d * d, "smrs": n * min(n, d)}[name]
    return {"table": table, "ours": math.nan if paper else ours}


def _slope(x: list[float], y: list[float]) -> float:
    """Of log y against log x, over the last three."""
    return statistics.linear_regression(
        [math.log(v) for v in x[-3:]], [math.log(v) for v in y[-3:]]
    ).slope


def _lines(store: Store, axis: str, method: str) -> list[tuple[Key, Result]]:
    found = store.find(axis=axis, method=method)
    return sorted(found, key=lambda line: line[0][axis])


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["costs"]
    _draw(store, folder)
    return {
        "costs-exponents": _exponents(store),
        "costs-seconds": _largest(store),
        "costs-figure": page.figure("costs", "seconds and memory against n, d and k, log-log"),
        "costs-steps": _step_table(store),
        "costs-same": _same_picks(store),
    }


def _exponents(store: Store) -> str:
    def number(value: float) -> str | None:
        return None if math.isnan(value) else f"{value:.1f}"

    rows = []
    for axis in AXES:
        for method in METHODS:
            lines = _lines(store, axis, method)
            if len(lines) < 3:
                continue
            sizes = [{name: key[name] for name in "ndk"} for key, _ in lines]
            x = [float(size[axis]) for size in sizes]
            counts = [
                _operations(method, **size, steps=result["steps"])
                for size, (_, result) in zip(sizes, lines)
            ]
            held = [_bytes(method, **size) for size in sizes]
            rows.append([
                f"{NAMES[method]}, {axis} = {x[-3]:.0f} to {x[-1]:.0f}",
                number(_slope(x, [r["seconds"] for _, r in lines])),
                number(_slope(x, [c["table"] for c in counts])),
                number(_slope(x, [c["ours"] for c in counts])),
                number(_slope(x, [max(r["bytes"], 1.0) for _, r in lines])),
                number(_slope(x, [h["table"] for h in held])),
                number(_slope(x, [h["ours"] for h in held])),
            ])
    head = ["exponent of", "seconds", "Table 1", "our forms", "bytes", "Table 1", "our forms"]
    return page.table(head, rows)


def _largest(store: Store) -> str:
    rows = []
    for axis in AXES:
        for method in METHODS:
            lines = _lines(store, axis, method)
            if not lines:
                continue
            for key, result in [lines[0], lines[-1]]:
                planned = result.get("planned_bytes")
                rows.append([
                    NAMES[method], key["n"], key["d"], key["k"], result["steps"],
                    _short(result["seconds"]), _short(1000 * result["step_seconds"]),
                    _short(result["bytes"] / 1e6),
                    None if planned is None else _short(planned / 1e6),
                ])
    head = ["", "n", "d", "k", "steps", "seconds", "ms a step", "MB", "MB planned"]
    return page.table(head, rows)


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _step_table(store: Store) -> str:
    rows = [
        [REAL[key["points"]][0], result["n"], result["d"], f"{key['alpha']:g}",
         *(result["steps"].get(str(k)) for k in ASKED)]
        for key, result in store.find(axis="steps")
    ]
    return page.table(["points", "n", "d", "alpha", *(f"k = {k}" for k in ASKED)], rows)


def _same_picks(store: Store) -> str:
    pairs = [
        (result["picks"], store[theirs]["picks"])
        for key, result in store
        if key.get("method") == "fwsr" and (theirs := {**key, "method": "fwsr, paper"}) in store
    ]
    same = sum(ours == theirs for ours, theirs in pairs)
    return (
        f"Both forms of FWSR chose the same exemplars in the same order in {same} of {len(pairs)} "
        "runs."
    )


def _draw(store: Store, folder: Path) -> None:
    made, panels = figures.new(13, 4, 4)
    shown = [("n", "seconds"), ("d", "seconds"), ("k", "seconds"), ("n", "bytes")]
    for axes, (axis, what) in zip(panels, shown):
        for method in METHODS:
            lines = _lines(store, axis, method)
            x = [key[axis] for key, _ in lines]
            y = [result[what] for _, result in lines]
            if what == "bytes":
                y = [max(value / 1e6, 1.0) for value in y]
            paper = method.endswith("paper")
            axes.loglog(
                x, y, label=NAMES[method], linestyle="--" if paper else "-", markersize=4,
                linewidth=1.4, fillstyle="none" if paper else "full",
                **figures.style_of(method.partition(",")[0]),
            )
        fixed = ", ".join(f"{name} = {AXES[axis][name]}" for name in "ndk" if name in AXES[axis])
        axes.set_title(fixed, fontsize=9)
        axes.set_xlabel(axis)
        ticks = [AXES[axis]["first"] * 2**i for i in range(AXES[axis]["doublings"] + 1)]
        ticks = ticks[:: 3 if axis == "n" else 1]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        axes.set_ylabel("seconds" if what == "seconds" else "MB beside the data (1 or more)")
    made.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figures.save(made, folder, "costs")
