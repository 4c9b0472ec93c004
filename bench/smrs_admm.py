#!/usr/bin/env python3
"""smrs against a plain NumPy ADMM: python bench/smrs_admm.py PATH_TO_FWSR OUT.json [--whole]

The NumPy one makes the same updates on n x n matrices with the explicit inverse of K + rho I, as is usual: n^3 a step.
Both run on two threads, in turns. fwsr stops when its gap certifies 1e-4 of the objective; of the NumPy one the steps
are counted until its objective is within 1e-4 of the optimum, which is known from a run of fwsr to 1e-9.

The iterates of both are the same matrices, seen in another basis. So where a NumPy step takes seconds, its steps are
counted in the basis in which they are cheap, a few are timed as they are, and the time is the product; --whole runs all.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
import numpy as np  # noqa: E402

ACCURACY = 1e-4
ALPHA = 20.0
RHO, OMEGA = 0.3, 1.7  # rho in units of lambda, over-relaxation: those of fwsr
TURNS = 3
STEPS_A_TURN = 2
MOST_STEPS = 5000


def data_folder():
    return Path(os.environ.get("FWSR_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def credit():
    x = np.load(data_folder() / "credit" / "credit_paper5492_X_f32.npy").astype(float)
    y = np.load(data_folder() / "credit" / "credit_paper5492_y_u8.npy")
    x = x[y == 0][:4394]
    return (x - x.mean(axis=0)) / x.std(axis=0)


def gaussian():
    return np.random.default_rng(1).standard_normal((2000, 1000))


def shrink_rows(v, threshold):
    norms = np.linalg.norm(v, axis=1, keepdims=True)
    return v * np.maximum(0, 1 - threshold / np.maximum(norms, 1e-300))


def feasible(z, q):
    """Z, its rows moved in proportion to their norms until 1^T Z = q."""
    norms = np.linalg.norm(z, axis=1)
    shares = norms / norms.sum() if norms.sum() > 0 else np.full(len(z), 1 / len(z))
    return z + np.outer(shares, q - z.sum(axis=0))


class Plain:
    """ADMM on n x n matrices for points a (n x d)."""

    def __init__(self, a, lam):
        self.a, self.lam, self.rho = a, lam, RHO * lam
        n = len(a)
        self.k = a @ a.T
        self.inverse = np.linalg.inv(self.k + self.rho * np.eye(n))
        self.ones = self.inverse.sum(axis=1)
        self.z, self.u = np.zeros((n, n)), np.zeros((n, n))

    def step(self):
        x = self.inverse @ (self.k + self.rho * (self.z - self.u))
        x += np.outer(self.ones / self.ones.sum(), 1 - x.sum(axis=0))
        v = OMEGA * x + (1 - OMEGA) * self.z + self.u
        self.z = shrink_rows(v, self.lam / self.rho)
        self.u = v - self.z

    def objective(self):
        z = feasible(self.z, np.ones(len(self.z)))
        fit = self.a.T - self.a.T @ z
        return self.lam * np.linalg.norm(z, axis=1).sum() + (fit**2).sum() / 2


class Turned(Plain):
    """The same iterates times the right singular vectors of the centred points, and 1."""

    def __init__(self, a, lam):
        n = len(a)
        v, s, _ = np.linalg.svd(a - a.mean(axis=0), full_matrices=False)
        self.v = np.hstack([v, np.full((n, 1), n**-0.5)])
        self.s = s**2
        self.lam, self.rho = lam, RHO * lam
        self.g = np.append(self.s / (self.s + self.rho), 1)[:, None]
        self.z, self.u = np.zeros(self.v.shape), np.zeros(self.v.shape)

    def step(self):
        t = self.z - self.u
        x = t + self.v @ (self.g * (np.eye(len(self.g)) - self.v.T @ t))
        v = OMEGA * x + (1 - OMEGA) * self.z + self.u
        self.z = shrink_rows(v, self.lam / self.rho)
        self.u = v - self.z

    def objective(self):
        q = np.append(np.zeros(len(self.s)), np.sqrt(len(self.v)))
        z = feasible(self.z, q)
        fit = (np.eye(len(self.g)) - self.v.T @ z)[:-1]
        return self.lam * np.linalg.norm(z, axis=1).sum() + (self.s[:, None] * fit**2).sum() / 2


def steps_until(admm, best):
    for step in range(1, MOST_STEPS + 1):
        admm.step()
        if abs(admm.objective() - best) <= ACCURACY * best:
            return step
    raise RuntimeError("no convergence")


def ours(program, file, tolerance):
    command = [program, "select", str(file), "-k", "10", "--center", "none", "--threads", "2", "--json"]
    command += ["--method", f"smrs:alpha={ALPHA}:affine=yes:tolerance={tolerance}"]
    done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return done["facts"], done["seconds"]["setup"] + done["seconds"]["steps"]


def compare(name, a, program, whole):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        np.save(file, a)
        exact, _ = ours(program, file, 1e-9)
        best, lam = exact["objective"], exact["lambda"]
        steps = steps_until(Turned(a, lam), best)
        own, inverse, step_seconds = [], [], []
        for _ in range(TURNS):
            facts, seconds = ours(program, file, ACCURACY)
            own.append(seconds)
            start = time.perf_counter()
            plain = Plain(a, lam)
            inverse.append(time.perf_counter() - start)
            count = steps if whole else min(steps, STEPS_A_TURN)
            for _ in range(count):
                start = time.perf_counter()
                plain.step()
                step_seconds.append(time.perf_counter() - start)
            if whole:
                error = (plain.objective() - best) / best
                assert abs(error) <= ACCURACY * (1 + 1e-6), error
    numpy_seconds = float(np.median(inverse) + steps * np.median(step_seconds))
    row = {
        "data": name,
        "points": len(a),
        "features": a.shape[1],
        "alpha": ALPHA,
        "objective": best,
        "fwsr_error": (facts["objective"] - best) / best,
        "fwsr_iterations": facts["iterations"],
        "fwsr_seconds": own,
        "numpy_iterations": steps,
        "numpy_setup_seconds": inverse,
        "numpy_step_seconds": step_seconds,
        "numpy_seconds": numpy_seconds,
        "numpy_steps_run": "all" if whole else f"{STEPS_A_TURN} of {steps}, the rest by multiplication",
        "times_faster": numpy_seconds / float(np.median(own)),
    }
    print(
        f"{name} {len(a)} x {a.shape[1]}: fwsr {np.median(own):.2f} s ({facts['iterations']:.0f} iterations), "
        f"NumPy {numpy_seconds:.1f} s ({steps} iterations of {np.median(step_seconds):.2f} s, "
        f"set-up {np.median(inverse):.1f} s): {row['times_faster']:.1f} times",
        flush=True,
    )
    return row


def main(program, out, *options):
    whole = "--whole" in options
    rows = [compare(name, make(), program, whole) for name, make in (("gaussian", gaussian), ("credit", credit))]
    Path(out).write_text(json.dumps({"accuracy": ACCURACY, "numpy": np.__version__, "rows": rows}, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
