"""fwsr.FWSR(...).fit against the program on the same file: time, and memory beside the points.

Runs alternate; the ratio is that of the medians. The program's time is what its JSON calls set-up,
steps and certificate, as fit does not read the file.

usage: python bench/python_fit.py [--points N] [--features D] [--exemplars K] [--repeats R]
                                  [-o FILE]
Run it in an environment that has the package, on a machine that does nothing else.
"""

import argparse
import gc
import json
import pathlib
import platform
import statistics
import subprocess
import tempfile
import threading
import time
import tracemalloc

import numpy as np

import fwsr

ROOT = pathlib.Path(__file__).parent.parent
PROGRAM = ROOT / "build/release/bin/fwsr"


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * 4096


class PeakMemory:
    """The largest resident size within the block, looked at a thousand times a second."""

    def __enter__(self):
        self.before = self.peak = resident()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self):
        while not self._done.wait(0.001):
            self.peak = max(self.peak, resident())

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    @property
    def growth(self):
        return self.peak - self.before


def by_program(path, k):
    command = [PROGRAM, "select", path, "-k", str(k), "--method", "fwsr", "--json", "--quiet"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    seconds = answer["seconds"]
    return seconds["setup"] + seconds["steps"] + seconds["certificate"], answer["exemplars"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=500_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--exemplars", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("-o", "--output")
    a = parser.parse_args()

    rng = np.random.default_rng(0)
    X = rng.standard_normal((a.points, a.features), dtype=np.float32)
    X[:, : a.features // 4] *= 3
    fwsr.FWSR(2).fit(X[:1000])  # modules and threads are there before anything is measured
    fits, programs, growths = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "points.npy"
        np.save(path, X)
        for _ in range(a.repeats):
            seconds, picks = by_program(path, a.exemplars)
            programs.append(seconds)
            gc.collect()
            model = fwsr.FWSR(a.exemplars)
            start = time.perf_counter()
            model.fit(X)
            fits.append(time.perf_counter() - start)
            assert model.exemplar_indices_.tolist() == picks, "the program picks other points"
            del model
            gc.collect()
            with PeakMemory() as memory:
                fwsr.FWSR(a.exemplars).fit(X)
            growths.append(memory.growth)
    tracemalloc.start()
    fwsr.FWSR(a.exemplars).fit(X)
    traced = tracemalloc.get_traced_memory()[1]
    result = {
        "points": a.points, "features": a.features, "exemplars": a.exemplars,
        "data_mib": X.nbytes / 2**20,
        "fit_seconds": statistics.median(fits), "program_seconds": statistics.median(programs),
        "ratio": statistics.median(fits) / statistics.median(programs),
        "resident_growth_mib": max(growths) / 2**20,
        "python_allocations_mib": traced / 2**20,
        "processor": platform.processor() or platform.machine(),
        "command": "python bench/python_fit.py",
    }
    text = json.dumps(result, indent=2)
    print(text)
    if a.output:
        pathlib.Path(a.output).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
