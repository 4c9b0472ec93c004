"""Milliseconds from Ctrl-C to KeyboardInterrupt in the midst of long work of the Python package.

usage: python bench/ctrl_c.py [--json]
Run it in an environment that has the package, on a machine that does nothing else.
"""

import argparse
import json
import os
import pathlib
import signal
import tempfile
import threading
import time

import numpy as np

import fwsr

#: Work of many seconds: points, features, and what is done with them.
LONG = {
    "gradient": (9000, 40, "fwsr.select(X, 3000, method='fwsr', nonneg=True, when_converged='stop', delta=0)"),
    "covariance": (60_000, 800, "fwsr.select(X, 700, method='fwsr', n_jobs=1)"),
    "representer": (6000, 3000, "fwsr.select(X, 3000, method='fwsr')"),
    "kernel": (12_000, 100, "fwsr.select(X, 4000, method='k-fwsr')"),
    "factor": (30_000, 40, "fwsr.select(X, 20_000, method='k-fwsr', rank=300)"),
    "kmedoids": (8000, 50, "fwsr.select(X, 400, method='kmedoids', restarts=500)"),
    "smrs": (6000, 300, "fwsr.select(X, 100, method='smrs', tolerance=1e-12)"),
    "sweep": (8000, 50, "fwsr.sweep(X, 500, alphas=[1, 5, 50], etas=[0, 0.1], kernel='rbf')"),
    "compare": (8000, 50, "fwsr.compare(X, 400, ['kmedoids'], repeats=500)"),
    "per class": (20_000, 50, "fwsr.select(X, 800, per_class=True, y=y, method='k-fwsr')"),
    "path": (12_000, 50, "fwsr.path(X, 5000, method='k-fwsr')"),
    "estimator": (12_000, 50, "fwsr.FWSR(4000, kernel='rbf').fit(X)"),
    "reading": (300, 10, "[fwsr.read(large) for _ in range(500)]"),
}


def latency(call, names):
    """Seconds from Ctrl-C, 0.25 s after the beginning, to its exception; None: there was none."""
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.25, press)
    timer.start()
    try:
        eval(compile(call, call, "eval"), names)  # of a string, eval would mark the exit
        timer.cancel()
        return None
    except KeyboardInterrupt:
        return time.perf_counter() - pressed[0]
    finally:
        timer.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="seconds, as JSON")
    as_json = parser.parse_args().json
    rng, seconds = np.random.default_rng(0), {}
    with tempfile.TemporaryDirectory() as folder:
        large = pathlib.Path(folder) / "large.csv"
        large.write_text((",".join(map(str, rng.normal(size=100))) + "\n") * 20_000)
        for name, (n, d, call) in LONG.items():
            X = rng.standard_normal((n, d), dtype=np.float32)
            seconds[name] = latency(call, {"fwsr": fwsr, "X": X, "y": np.arange(n) % 3,
                                           "large": large})
            if not as_json:
                ended = "ended before" if seconds[name] is None else f"{1e3 * seconds[name]:.0f} ms"
                print(f"{name:<12}{ended:>12}", flush=True)
    if as_json:
        print(json.dumps(seconds))


if __name__ == "__main__":
    main()
