#!/usr/bin/env python3
"""smrs, kernel-smrs and ds3 against CVXPY: python tests/parity/smrs.py PATH_TO_FWSR OUT.json

The same convex programs, stated to CVXPY in the words of the articles and solved by CLARABEL. For every problem the
objective of fwsr has to be within 1e-6 of the optimum, and its gap has to bound the difference: there, and when the
iteration is stopped early.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import cvxpy as cp
import numpy as np

ACCURACY = 1e-6
ORACLE = 5e-7  # what the optimum of CLARABEL is trusted to
LOOSE = 1e-2  # a second run stops this early, so that its gap is more than rounding
PROBLEMS = {"smrs": 120, "kernel-smrs": 30, "ds3": 40}


def minimum(cost, constraints, scale):
    """The least cost; None when the solver does not reach the accuracy."""
    problem = cp.Problem(cp.Minimize(cost / scale), constraints)
    for tolerance in (1e-10, 1e-9, 1e-8):
        settings = {"tol_gap_abs": tolerance, "tol_gap_rel": tolerance, "tol_feas": tolerance}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an inaccurate solution, which is not used
            problem.solve(solver=cp.CLARABEL, max_iter=500, **settings)
        if problem.status == cp.OPTIMAL:
            return float(problem.value * scale)
    return None


def row_sparse_optimum(factor, lam, affine):
    """min lam sum_i ||x_i|| + 1/2 ||F - F X||^2 for K = F^T F."""
    n = factor.shape[1]
    x = cp.Variable((n, n))
    cost = lam * cp.sum(cp.norm(x, 2, axis=1)) + 0.5 * cp.sum_squares(factor - factor @ x)
    return minimum(cost, [cp.sum(x, axis=0) == 1] if affine else [], (factor**2).sum())


def ds3_optimum(distances, lam, p):
    z = cp.Variable(distances.shape)
    cost = lam * cp.sum(cp.norm(z, p, axis=1)) + cp.sum(cp.multiply(distances, z))
    return minimum(cost, [cp.sum(z, axis=0) == 1, z >= 0], distances.sum())


def largest_lambda(k, affine):
    n = len(k)
    center = np.eye(n) - 1 / n if affine else np.eye(n)
    return np.linalg.norm(center @ k @ center, axis=1).max()


def ds3_largest_lambda(d, p):
    sums = d.sum(axis=1)
    best = np.flatnonzero(sums <= sums.min() * (1 + 1e-12))[0]  # the first of equal ones
    other = np.delete(d, best, axis=0) - d[best]
    if p == "inf":
        return np.abs(other).sum(axis=1).max() / 2
    sums = other.sum(axis=1)
    used = sums > 1e-12 * d[best].sum()
    return (np.sqrt(len(d)) / 2 * (other[used] ** 2).sum(axis=1) / sums[used]).max()


def points_for(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 61))
    d = int(rng.choice([rng.integers(1, 8), rng.integers(8, 40), rng.integers(n, 2 * n + 1)]))
    x = rng.standard_normal((n, d))
    kind = seed % 4
    if kind == 1:
        x = x + 3 * rng.standard_normal(d)
    elif kind == 2:
        x = 3 * rng.standard_normal((4, d))[rng.integers(0, 4, n)] + 0.5 * x
    elif kind == 3 and d > 2:
        x = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.05 * x
    return x, rng


def run(program, folder, x, method, options):
    file = Path(folder) / "points.npy"
    np.save(file, x)
    command = [program, "select", str(file), "-k", "1", "--method", method, "--json", "--threads", "1", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)["facts"]


def one(name, seed, program, folder):
    x, rng = points_for(seed)
    alpha = float(rng.choice([2, 5, 20, 50]))
    options = ["--center", "none"]
    if name == "ds3":
        x = x[:30]
        p = "inf" if seed % 2 else "2"
        method = f"ds3:alpha={alpha}:p={p}"
        distances = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
        lam = ds3_largest_lambda(distances, p) / alpha
        best = ds3_optimum(distances, lam, np.inf if p == "inf" else 2)
    else:
        affine = bool(seed % 2)
        method = f"{name}:alpha={alpha}:affine={'yes' if affine else 'no'}"
        if name == "smrs":
            k = x @ x.T
        else:
            gamma = 0.5 / x.shape[1]
            k = np.exp(-gamma * ((x[:, None] - x[None]) ** 2).sum(axis=2))
            options += ["--kernel", "rbf", "--gamma", repr(gamma)]
        values, vectors = np.linalg.eigh(k)
        keep = values > 1e-14 * values[-1]
        factor = np.sqrt(values[keep])[:, None] * vectors[:, keep].T
        lam = largest_lambda(k, affine) / alpha
        best = row_sparse_optimum(factor, lam, affine)
    row = {"method": method, "name": name, "seed": seed, "n": len(x), "d": x.shape[1], "optimum": best, "ok": None}
    if best is None:
        return row
    facts = run(program, folder, x, f"{method}:tolerance=1e-8:max_iterations=1000000", options)
    early = run(program, folder, x, f"{method}:tolerance={LOOSE}", options)
    row |= {key: facts[key] for key in ("objective", "gap", "lambda", "iterations", "rows")}
    row |= {"early_objective": early["objective"], "early_gap": early["gap"]}
    row["difference"] = (facts["objective"] - best) / best
    bounded = all(
        -ORACLE <= (run_facts["objective"] - best) / best <= run_facts["gap"] / best + ORACLE
        for run_facts in (facts, early)
    )
    same_lambda = abs(facts["lambda"] - lam) <= 1e-9 * lam
    row["ok"] = bool(abs(row["difference"]) <= ACCURACY and bounded and same_lambda)
    return row


def main(program, out, only=None):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, count in PROBLEMS.items():
            if only and name != only:
                continue
            for seed in range(count):
                rows.append(one(name, seed, program, folder))
                if not rows[-1]["ok"]:
                    print(rows[-1], flush=True)
            mine = [r for r in rows if r["name"] == name]
            solved = [r for r in mine if r["ok"] is not None]
            print(
                f"{name}: {sum(r['ok'] for r in solved)} of {len(solved)} as CVXPY "
                f"({len(mine) - len(solved)} unsolved by it), "
                f"largest difference {max(abs(r['difference']) for r in solved):.1e}",
                flush=True,
            )
    Path(out).write_text(json.dumps({"accuracy": ACCURACY, "cvxpy": cp.__version__, "problems": rows}, indent=1))
    return 0 if all(r["ok"] is not False for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
