"""ssc, ssc-omp and ksvd against other programs: python tests/parity/subspaces.py PATH_TO_FWSR OUT.json [METHOD]

ssc      CVXPY (CLARABEL): the objective within 1e-6 of the optimum, and the gap bounds the difference
ssc-omp  scikit-learn's orthogonal_mp, point by point, away from ties
ksvd     a plain K-SVD in NumPy from the same atoms: the objective never rises, and is within 2 % of it on average
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


def plain_ksvd(x, atoms, sparsity, turns):
    """Aharon, Elad and Bruckstein's algorithm: orthogonal_mp and SVDs. Objectives of all turns."""
    atoms, objectives = atoms.copy(), []
    for _ in range(turns):
        codes = orthogonal_mp(atoms.T, x.T, n_nonzero_coefs=min(sparsity, len(atoms))).reshape(len(atoms), -1)
        for t in range(len(atoms)):
            users = np.flatnonzero(codes[t])
            if len(users) == 0:
                left = ((x.T - atoms.T @ codes) ** 2).sum(axis=0)
                atoms[t] = x[left.argmax()] / np.linalg.norm(x[left.argmax()])
                continue
            codes[t, users] = 0
            error = x[users].T - atoms.T @ codes[:, users]
            u, s, v = np.linalg.svd(error, full_matrices=False)
            atoms[t], codes[t, users] = u[:, 0], s[0] * v[0]
        objectives.append(((x.T - atoms.T @ codes) ** 2).sum())
    return objectives


def check_ksvd():
    rows, turns = [], 15
    for seed in range(PROBLEMS):
        x, rng = points_for(seed, most=150)
        k, sparsity = int(rng.integers(2, min(12, len(x)))), int(rng.integers(1, 4))
        start = f"ksvd:sparsity={sparsity}:tolerance=0:max_iterations="
        first = fwsr(x, k, start + "0", seed)[0]
        ours = [first["facts"]["objective"]]
        ours += [fwsr(x, k, f"{start}{t}", seed)[0]["facts"]["objective"] for t in (1, 2, 4, 8, turns)]
        theirs = plain_ksvd(x, np.array(first["atoms"]), sparsity, turns)
        energy = (x**2).sum()
        rows.append({"problem": seed, "n": len(x), "d": x.shape[1], "k": k, "sparsity": sparsity,
                     "objective": ours[-1] / energy, "theirs": min(theirs) / energy})
        expect(f"ksvd {seed}: the objective never rises",
               all(b <= a + 1e-12 * energy for a, b in zip(ours, ours[1:])))
    ours, theirs = (np.array([r[name] for r in rows]) for name in ("objective", "theirs"))
    ratio = ours / np.maximum(theirs, 1e-12)
    rows_within = int((ours <= 1.02 * theirs + 1e-9).sum())
    print(f"ksvd: mean objective {ours.mean():.5f} of the points, theirs {theirs.mean():.5f}; {rows_within} of "
          f"{len(rows)} within 2 % or below, median ratio {np.median(ratio):.4f}", flush=True)
    expect("ksvd: within 2 % of plain K-SVD on average", ours.mean() <= 1.02 * theirs.mean())
    results["ksvd"] = {"mean": ours.mean(), "mean_theirs": theirs.mean(), "within": rows_within, "problems": rows}


for name, check in {"ssc": check_ssc, "ssc-omp": check_ssc_omp, "ksvd": check_ksvd}.items():
    if name in sys.argv[3:] or len(sys.argv) == 3:
        check()
Path(OUT).write_text(json.dumps({"failures": failures, **results}, indent=1))
sys.exit(1 if failures else 0)
