"""ssc, ssc-omp and ksvd against other programs: python tests/parity/subspaces.py PATH_TO_FWSR OUT.json [METHOD]

ssc      CVXPY (CLARABEL): the objective within 1e-6 of the optimum, and the gap bounds the difference
ssc-omp  scikit-learn's orthogonal_mp, point by point, away from ties
ksvd     K-SVD in NumPy from the same atoms in the same order: the objective never rises, and is within 2 % of NumPy's
         where a change of the start by 1e-12 does not move NumPy's own by more; within 2 % of plain K-SVD, which may rise,
         on average and on nearly all problems
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import cvxpy as cp
import numpy as np
from sklearn.linear_model import orthogonal_mp

PROGRAM, OUT = sys.argv[1], sys.argv[2]
FOLDER = tempfile.TemporaryDirectory(prefix="fwsr-parity-")
PROBLEMS = 60
results, failures = {}, []
warnings.filterwarnings("ignore", message=".*linear dependence.*")


def expect(bar, met):
    if not met:
        failures.append(bar)
        print("NOT MET:", bar, flush=True)


def fwsr(x, k, method, seed=0):
    """The answer, and the codes over the exemplars."""
    path, codes = Path(FOLDER.name) / "points.npy", Path(FOLDER.name) / "codes.npy"
    np.save(path, x)
    command = [PROGRAM, "select", str(path), "-k", str(k), "--method", method, "--seed", str(seed), "--center", "none",
               "--threads", "1", "--certificate", "none", "--json", "--quiet", "--codes", str(codes)]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return answer, np.load(codes)


def whole(answer, codes, n):
    """C, rows by columns."""
    c = np.zeros((n, n))
    c[answer["exemplars"]] = codes.T
    return c


def points_for(seed, most=40):
    """On subspaces, noise, clusters."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, most)), int(rng.integers(2, 25))
    x = rng.standard_normal((n, d))
    if seed % 3 == 1:
        dims = max(1, d // 4)
        bases = rng.standard_normal((3, dims, d))
        x = np.einsum("ik,ikd->id", rng.standard_normal((n, dims)), bases[rng.integers(0, 3, n)]) + 0.05 * x
    elif seed % 3 == 2:
        x = 2 * rng.standard_normal((4, d))[rng.integers(0, 4, n)] + 0.5 * x
    return x, rng


def ssc_optimum(x, lam, affine):
    a, n = x.T, len(x)
    c = cp.Variable((n, n))
    cost = cp.sum(cp.abs(c)) + lam / 2 * cp.sum_squares(a - a @ c)
    limits = [cp.diag(c) == 0] + ([cp.sum(c, axis=0) == 1] if affine else [])
    problem = cp.Problem(cp.Minimize(cost / n), limits)
    for tolerance in (1e-10, 1e-9, 1e-8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver=cp.CLARABEL, max_iter=500, tol_gap_abs=tolerance, tol_gap_rel=tolerance,
                          tol_feas=tolerance)
        if problem.status == cp.OPTIMAL:
            return float(problem.value * n)
    return None


def check_ssc():
    rows = []
    for seed in range(PROBLEMS):
        x, rng = points_for(seed)
        alpha, affine = float(rng.choice([2, 10, 50])), bool(seed % 2)
        method = f"ssc:alpha={alpha}:affine={'yes' if affine else 'no'}"
        products = np.abs(x @ x.T)
        np.fill_diagonal(products, 0)
        lam = alpha / products.max(axis=0).min()
        best = ssc_optimum(x, lam, affine)
        if best is None:
            continue
        facts = fwsr(x, len(x), method + ":tolerance=1e-8")[0]["facts"]
        early = fwsr(x, len(x), method + ":tolerance=0.1")[0]["facts"]
        row = {"problem": seed, "n": len(x), "d": x.shape[1], "method": method, "optimum": best,
               "difference": (facts["objective"] - best) / best, "early": (early["objective"] - best) / best,
               "early_gap": early["gap"] / best}
        rows.append(row)
        expect(f"ssc {seed}: same lambda", abs(facts["lambda"] - lam) <= 1e-9 * lam)
        expect(f"ssc {seed}: objective within 1e-6 ({row['difference']:.1e})", abs(row["difference"]) <= 1e-6)
        expect(f"ssc {seed}: the gap bounds the difference", -5e-7 <= row["early"] <= row["early_gap"] + 5e-7)
    print(f"ssc: {len(rows)} of {PROBLEMS} solved by CVXPY, largest difference "
          f"{max(abs(r['difference']) for r in rows):.1e}", flush=True)
    results["ssc"] = rows


def check_ssc_omp():
    equal = points = ties = 0
    largest = 0.0
    for seed in range(PROBLEMS):
        x, rng = points_for(seed, most=120)
        sparsity = int(rng.integers(1, min(7, x.shape[1] + 1)))
        answer, codes = fwsr(x, len(x), f"ssc-omp:sparsity={sparsity}:tolerance=0")
        norms = np.linalg.norm(x, axis=1)
        c = whole(answer, codes, len(x)) * norms[:, None] / norms[None]
        unit = (x / norms[:, None]).T
        for i in range(len(x)):
            others = np.delete(np.arange(len(x)), i)
            theirs = np.zeros(len(x))
            theirs[others] = orthogonal_mp(unit[:, others], unit[:, i], n_nonzero_coefs=sparsity)
            points += 1
            difference = np.abs(c[:, i] - theirs).max()
            if difference <= 1e-8 * max(1.0, np.abs(theirs).max()):
                equal += 1
                largest = max(largest, float(difference))
                continue
            # A tie, or nothing left to represent: what both leave is the same to rounding.
            ours, left = (np.linalg.norm(unit[:, i] - unit @ v) for v in (c[:, i], theirs))
            ties += 1
            expect(f"ssc-omp {seed}, point {i}: differs by {difference:.1e} away from ties",
                   abs(ours - left) <= 1e-7 or min(ours, left) < 1e-6)
    print(f"ssc-omp: {equal} of {points} points of {PROBLEMS} problems as orthogonal_mp (to {largest:.1e}); "
          f"{ties} at ties or with nothing left", flush=True)
    expect("ssc-omp: nearly all points compared", ties <= 0.02 * points)
    results["ssc-omp"] = {"points": points, "equal": equal, "ties": ties, "largest_difference": largest}


def drawn(n, seed, count):
    """The points that ksvd begins with, in its order: SplitMix64 and a shuffle."""
    mask, state = (1 << 64) - 1, seed
    order = list(range(n))
    for i in range(n):
        limit = mask - mask % (n - i)
        while True:
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            z ^= z >> 31
            if z < limit:
                break
        j = i + z % (n - i)
        order[i], order[j] = order[j], order[i]
    return order[:count]


def numpy_turn(x, atoms, codes, sparsity, keep, apart):
    """Codes, then atoms. keep: a point keeps its code where the new one is worse; apart: no two unused atoms become one
    point."""
    atoms, taken = atoms.copy(), []
    found = orthogonal_mp(atoms.T, x.T, n_nonzero_coefs=min(sparsity, len(atoms))).reshape(len(atoms), -1)
    if keep:
        before, after = (((x.T - atoms.T @ c) ** 2).sum(axis=0) for c in (codes, found))
        found[:, after > before] = codes[:, after > before]
    for t in range(len(atoms)):
        users = np.flatnonzero(found[t])
        if len(users) == 0:
            left = ((x.T - atoms.T @ found) ** 2).sum(axis=0)
            if apart:
                left[taken] = 0
            taken.append(left.argmax())
            atoms[t] = x[taken[-1]] / np.linalg.norm(x[taken[-1]])
            continue
        found[t, users] = 0
        error = x[users].T - atoms.T @ found[:, users]
        u, s, v = np.linalg.svd(error, full_matrices=False)
        atoms[t], found[t, users] = u[:, 0], s[0] * v[0]
    return atoms, found, ((x.T - atoms.T @ found) ** 2).sum()


def numpy_ksvd(x, atoms, sparsity, turns, plain):
    """The objectives of all turns. plain: Aharon, Elad and Bruckstein's algorithm, orthogonal_mp and SVDs; else turns that
    raise the objective are done again, and points keep codes that were better."""
    codes, objectives = None, []
    for _ in range(turns):
        made = numpy_turn(x, atoms, codes, sparsity, False, not plain)
        if not plain and objectives and made[2] > objectives[-1]:
            made = numpy_turn(x, atoms, codes, sparsity, True, True)
        atoms, codes = made[:2]
        objectives.append(made[2])
    return objectives


def check_ksvd():
    rows, turns = [], 15
    for seed in range(PROBLEMS):
        x, rng = points_for(seed, most=150)
        k, sparsity = int(rng.integers(2, min(12, len(x)))), int(rng.integers(1, 4))
        method = f"ksvd:sparsity={sparsity}:tolerance=0:max_iterations="
        ours = [fwsr(x, k, f"{method}{t}", seed)[0]["facts"]["objective"] for t in (0, 1, 2, 4, 8, turns)]
        start = x[drawn(len(x), seed, k)]
        start = start / np.linalg.norm(start, axis=1, keepdims=True)
        moved = [start + size * rng.standard_normal(start.shape) for size in (0, *[1e-12] * 6)]
        same = [numpy_ksvd(x, atoms, sparsity, turns, plain=False)[-1] for atoms in moved]
        plain = [numpy_ksvd(x, atoms, sparsity, turns, plain=True) for atoms in (start, start[rng.permutation(k)])]
        energy = (x**2).sum()
        rows.append({"problem": seed, "n": len(x), "d": x.shape[1], "k": k, "sparsity": sparsity,
                     "objective": ours[-1] / energy, "numpy": same[0] / energy,
                     "numpy_least": min(same) / energy, "numpy_most": max(same) / energy,
                     "plain": min(plain[0]) / energy, "plain_other_order": min(plain[1]) / energy,
                     "plain_rises": bool((np.diff(plain[0]) > 1e-9 * energy).any())})
        expect(f"ksvd {seed}: the objective never rises",
               all(b <= a + 1e-12 * energy for a, b in zip(ours, ours[1:])))
        expect(f"ksvd {seed}: within 2 % of NumPy, or of what 1e-12 in its start makes of it",
               ours[-1] <= 1.02 * max(same) + 1e-9 * energy)
    column = {name: np.array([r[name] for r in rows]) for name in rows[0]}
    ours = column["objective"]

    def within(a, b, part=0.02):
        return int((a <= (1 + part) * b + 1e-9).sum())

    summary = {
        "mean": ours.mean(), "mean_numpy": column["numpy"].mean(), "mean_plain": column["plain"].mean(),
        "equal_to_numpy": int((abs(ours - column["numpy"]) <= 1e-6 * column["numpy"] + 1e-9).sum()),
        "within_numpy": within(ours, column["numpy"]), "within_plain": within(ours, column["plain"]),
        "plain_within_plain": within(column["plain_other_order"], column["plain"]),
        "numpy_moved": len(rows) - within(column["numpy_most"], column["numpy_least"], 1e-6),
        "numpy_moved_2_percent": len(rows) - within(column["numpy_most"], column["numpy_least"]),
        "plain_rises": int(column["plain_rises"].sum()),
    }
    print("ksvd:", {name: round(float(value), 5) for name, value in summary.items()}, flush=True)
    expect("ksvd: within 2 % of plain K-SVD on average", ours.mean() <= 1.02 * column["plain"].mean())
    expect("ksvd: within 2 % of plain K-SVD on nearly all problems", summary["within_plain"] >= 0.95 * len(rows))
    expect("ksvd: equal to NumPy on most problems", summary["equal_to_numpy"] >= 0.8 * len(rows))
    results["ksvd"] = {**summary, "problems": rows}


for name, check in {"ssc": check_ssc, "ssc-omp": check_ssc_omp, "ksvd": check_ksvd}.items():
    if name in sys.argv[3:] or len(sys.argv) == 3:
        check()
Path(OUT).write_text(json.dumps({"failures": failures, **results}, indent=1))
sys.exit(1 if failures else 0)
