"""Milliseconds from Ctrl-C to KeyboardInterrupt in the midst of long work of the Python package.

usage: python bench/ctrl_c.py [--json]
Run it in an environment that has the package, on a machine that does nothing else.
"""

import argparse
import itertools
import json
import os
import pathlib
import signal
import tempfile
import threading
import time

import numpy as np

import fwsr

#: Steps without end: nobody can tell how fast a machine is.
ENDLESS = {"alpha": 50, "when_converged": "stop", "delta": 0, "max_iterations": 10**12}
#: Work of many seconds: points, features, and what is done with them.
LONG = {
    "gradient": (9000, 40, "fwsr.select(X, 3000, method='fwsr', nonneg=True, **endless)"),
    "covariance": (60_000, 800, "fwsr.select(X, 700, method='fwsr', n_jobs=1, **endless)"),
    "representer": (6000, 3000, "fwsr.select(X, 3000, method='fwsr', **endless)"),
    "kernel": (12_000, 100, "fwsr.select(X, 4000, method='k-fwsr', **endless)"),
    "factor": (30_000, 40, "fwsr.select(X, 20_000, method='k-fwsr', rank=300, **endless)"),
    "kmedoids": (8000, 50, "fwsr.select(X, 400, method='kmedoids', restarts=1_000_000)"),
    "smrs": (6000, 300, "fwsr.select(X, 100, method='smrs', tolerance=1e-300, max_iterations=10**9)"),
    "sweep": (8000, 50, "fwsr.sweep(X, 500, alphas=[20, 30, 50], etas=[0, 0.1], kernel='rbf', **steps)"),
    "compare": (8000, 50, "fwsr.compare(X, 400, ['kmedoids'], repeats=1_000_000)"),
    "per class": (20_000, 50, "fwsr.select(X, 800, per_class=True, y=y, method='k-fwsr', **endless)"),
    "path": (12_000, 50, "fwsr.path(X, 5000, method='k-fwsr', **endless)"),
    "estimator": (12_000, 50, "fwsr.FWSR(4000, kernel='rbf', **endless).fit(X)"),
    "reading": (300, 10, "all(fwsr.read(large) for _ in itertools.count())"),
}


def latency(call, names):
    """Seconds from Ctrl-C, 0.25 s after the beginning, to its exception: of the clock, and of all
    processors; None: there was none."""
    pressed = []

    def press():
        pressed.extend((time.perf_counter(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.25, press)
    timer.start()
    try:
        eval(compile(call, call, "eval"), names)  # of a string, eval would mark the exit
        timer.cancel()
        return None
    except KeyboardInterrupt:
        return time.perf_counter() - pressed[0], time.process_time() - pressed[1]
    finally:
        timer.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="seconds, of the clock or of all processors, whichever are fewer, as JSON")
    as_json = parser.parse_args().json
    rng, seconds = np.random.default_rng(0), {}
    with tempfile.TemporaryDirectory() as folder:
        large = pathlib.Path(folder) / "large.csv"
        large.write_text((",".join(map(str, rng.normal(size=100))) + "\n") * 20_000)
        for name, (n, d, call) in LONG.items():
            X = rng.standard_normal((n, d), dtype=np.float32)
            steps = {name: value for name, value in ENDLESS.items() if name != "alpha"}
            found = latency(call, {"fwsr": fwsr, "X": X, "y": np.arange(n) % 3, "large": large,
                                   "itertools": itertools, "endless": ENDLESS, "steps": steps})
            seconds[name] = found and min(found)  # what others do meanwhile is not of the work
            if not as_json:
                ended = "ended before" if found is None else f"{1e3 * found[0]:.0f} ms"
                print(f"{name:<12}{ended:>12}", flush=True)
    if as_json:
        print(json.dumps(seconds))


if __name__ == "__main__":
    main()
