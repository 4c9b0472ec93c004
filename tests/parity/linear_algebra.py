"""The methods of linear algebra against SciPy, NumPy and brute force, through the command line.

    python tests/parity/linear_algebra.py PATH_TO_FWSR_PROGRAM OUT.json

Where scores tie but for rounding, either of the points may come first: so picks are compared one by one given
those before, and a difference counts only where the reference is clear about it. Real data that is not there
(FWSR_DATA, or ../shared/data) is left out, and said so.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy
import scipy.io
import scipy.linalg
import sklearn
from sklearn.datasets import load_digits

PROGRAM = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = pathlib.Path(os.environ.get("FWSR_DATA", ROOT.parent / "shared" / "data"))


def choose(points, k, method, *more):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "points.npy")
        np.save(path, np.ascontiguousarray(points))
        command = [PROGRAM, "select", path, "-k", str(k), "--method", method, "--center", "none", "--json", *more]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return json.loads(done.stdout)


def problems(count, most=60, seed=0):
    """Random matrices of many shapes and spectra; rows are points."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        n, d = rng.integers(1, most, 2)
        a = rng.normal(size=(n, d))
        kind = i % 5
        if kind == 1:
            a = np.abs(a)
        elif kind == 2:  # singular values down to 1e-12
            u, _, v = np.linalg.svd(a, full_matrices=False)
            s = np.logspace(0, -12, min(n, d))
            a = (u * s) @ v
        elif kind == 3:  # low rank and noise
            r = min(3, n, d)
            a = rng.normal(size=(n, r)) @ rng.normal(size=(r, d)) + 1e-4 * a
        elif kind == 4:
            a = (a * rng.lognormal(0, 2, size=(n, 1))).astype(np.float32)
        yield a, int(rng.integers(1, min(n, d) + 1))


class Follower:
    """Residuals of all points after projection on the picks so far; rows."""

    def __init__(self, points):
        self.points = np.asarray(points, float)
        self.basis = np.zeros((0, self.points.shape[1]))
        self.rows = self.points.copy()
        self.largest = np.sqrt((self.points**2).sum(1)).max(initial=0)
        self.worst = 1.0

    def take(self, p):
        r = self.rows[p].copy()
        self.worst = max(self.worst, self.largest / np.linalg.norm(r))
        r -= self.basis.T @ (self.basis @ r)
        self.basis = np.vstack([self.basis, r / np.linalg.norm(r)])
        rows = self.points
        for _ in range(2):
            rows = rows - (rows @ self.basis.T) @ self.basis
        self.rows = rows

    def left(self):
        """Points that are not in the span of the picks, but for rounding."""
        return np.sqrt((self.rows**2).sum(1)) > 1e-12 * self.largest

    def tolerance(self):
        return 1e-9 + 1e-13 * self.worst


def follow(points, picks, score):
    """How many picks are the best given those before, of how many; and how many were first by a clear margin."""
    state, good, clear = Follower(points), 0, 0
    for p in picks:
        scores = np.where(state.left(), score(state), 0)
        best = scores.max()
        slack = best * (1 - state.tolerance())
        good += bool(scores[p] >= slack)
        clear += int((scores >= slack).sum() == 1)
        state.take(p)
    return good, len(picks), clear


def residual(state):
    return (state.rows**2).sum(1)


def correlation(state):
    return ((state.points @ state.rows.T) ** 2).sum(1)


def cosine(state):
    norms = (state.points**2).sum(1)
    return correlation(state) / np.where(norms > 0, norms, 1)


def drop_of_error(state):
    """Literally: project on every candidate, and measure."""
    total, result = (state.rows**2).sum(), np.zeros(len(state.rows))
    for i in np.flatnonzero(state.left()):
        q = state.rows[i] / np.linalg.norm(state.rows[i])
        result[i] = total - ((state.rows - np.outer(state.rows @ q, q)) ** 2).sum()
    return result


def alignment(state):
    v = np.linalg.svd(state.rows, full_matrices=False)[2][0]
    norms = (state.rows**2).sum(1)
    return (state.rows @ v) ** 2 / np.where(norms > 0, norms, 1)


def all_there(points, picks, k):
    """Whether there are k picks, or fewer and nothing but rounding is left of the other points."""
    if len(picks) == k:
        return True
    state = Follower(points)
    for p in picks:
        state.take(p)
    return len(picks) < k and bool((np.sqrt(residual(state)) <= 1e-11 * state.largest).all())


def check_greedy(method, score, count, most=40, largest_k=10):
    good = total = clear = whole = 0
    for a, k in problems(count, most, seed=1):
        picks = choose(a, min(k, largest_k), method)["exemplars"]
        whole += all_there(a, picks, min(k, largest_k))
        g, t, c = follow(a, picks, score)
        good, total, clear = good + g, total + t, clear + c
    return {
        "problems": count,
        "with_all_picks": whole,
        "picks": total,
        "best": good,
        "best_by_a_clear_margin": clear,
        "ok": good == total and whole == count,
    }


def compare_with_qr(points, k):
    """Picks equal to SciPy's, or different where SciPy's own diagonal says that they tie."""
    ours = choose(points, k, "rrqr")
    picks, strength = np.array(ours["exemplars"]), np.array(ours["strength"])
    r, pivots = scipy.linalg.qr(np.asarray(points, float).T, mode="r", pivoting=True)[:2]
    equal = len(picks) == k and bool((picks == pivots[:k]).all())
    diagonal = np.abs(np.diag(r))[:len(picks)]
    error = float((np.abs(strength - diagonal) / diagonal).max(initial=0)) if equal else None
    good, total, _ = follow(points, picks, residual)
    best = good == total and all_there(points, picks, k)
    return {"equal": equal, "found": len(picks), "best": best, "diagonal_error": error}


def check_qr():
    runs = [compare_with_qr(a, k) for a, k in problems(150)]
    return {
        "problems": len(runs),
        "equal": sum(r["equal"] for r in runs),
        "best_given_those_before": sum(r["best"] for r in runs),
        "largest_error_of_the_diagonal": max(r["diagonal_error"] for r in runs if r["equal"]),
        "ok": all(r["best"] for r in runs) and sum(r["equal"] for r in runs) >= 0.97 * len(runs),
    }


def real_sets():
    yield "digits", load_digits().data, 50
    credit = DATA / "credit" / "credit_paper5492_X_f32.npy"
    if credit.exists():
        yield "credit card fraud", np.load(credit).astype(float), 29
    faces = DATA / "yaleb" / "YaleB_32x32.mat"
    if faces.exists():
        yield "Extended Yale B", scipy.io.loadmat(faces)["fea"].astype(float), 200


def check_real():
    runs = {}
    for name, points, k in real_sets():
        qr = compare_with_qr(points, k)
        qr["points"], qr["features"], qr["k"] = *points.shape, k
        qr["ok"] = qr["best"]
        runs[name] = qr
    if len(runs) < 3:
        runs["left out"] = f"data that is not in {DATA}"
    runs["ok"] = all(r["ok"] for r in runs.values() if isinstance(r, dict))
    return runs


def check_leverage():
    worst, checked = 0.0, 0
    for a, k in problems(120, seed=2):
        a = np.asarray(a, float)
        s, v = np.linalg.svd(a.T, full_matrices=False)[1:]
        if s[k - 1] < 1e-3 * s[0] or (k < len(s) and s[k] > 0.99 * s[k - 1]):
            continue  # the leading space is ill-defined
        expected = (v[:k] ** 2).sum(0)
        ours = choose(a, len(a), f"leverage:rank={k}")
        scores = np.zeros(len(a))
        scores[ours["exemplars"]] = ours["strength"]
        worst, checked = max(worst, float(np.abs(scores - expected).max())), checked + 1
    return {"problems": checked, "largest_difference": worst, "ok": checked > 50 and worst < 1e-8}


def kahan(n, angle):
    """Pivoted QR without swaps fails on it (Kahan 1966); points are rows."""
    upper = np.eye(n) - np.cos(angle) * np.triu(np.ones((n, n)), 1)
    return ((np.sin(angle) ** np.arange(n))[:, None] * upper * (1 - 1e-10 * np.arange(n))).T


def strong_problems():
    for i, (a, k) in enumerate(problems(150, 30, seed=3)):
        if i % 5 != 2 and k < len(a):
            yield np.asarray(a, float), k, (1.0, 1.05, 2.0)[i % 3]
    for n in range(20, 60, 4):
        yield kahan(n, 1.2), n - 1, (1.5, 2.0)[n // 4 % 2]


def check_strong():
    """rho of every exchange, and the volumes before and after the swaps, by numpy.linalg.qr."""
    count, swaps, worst, growth = 0, 0, -np.inf, np.inf
    for a, k, f in strong_problems():
        ours = choose(a, k, f"strong-rrqr:f={f}")
        picks = ours["exemplars"]
        q, r = np.linalg.qr(a[picks].T)
        rest = [j for j in range(len(a)) if j not in picks]
        inverse = np.linalg.inv(r)
        r12 = q.T @ a[rest].T
        gamma = np.linalg.norm(a[rest].T - q @ r12, axis=0)
        rho = np.sqrt((inverse @ r12) ** 2 + np.outer(np.linalg.norm(inverse, axis=1), gamma) ** 2).max()
        worst = max(worst, float(rho / f))
        plain = np.linalg.qr(a[choose(a, k, "rrqr")["exemplars"]].T)[1]
        volume = np.log(np.abs(np.diag(r))).sum() - np.log(np.abs(np.diag(plain))).sum()
        growth = min(growth, float(volume - ours["facts"]["swaps"] * np.log(f)))
        swaps += int(ours["facts"]["swaps"])
        count += 1
    return {
        "problems": count,
        "swaps": swaps,
        "largest_rho_over_f": worst,
        "least_log_volume_gained_less_swaps_log_f": growth,
        "ok": swaps > 10 and worst <= 1 + 1e-6 and growth >= -1e-8,
    }


def check_kdpp():
    """Every pick makes the determinant largest, by numpy.linalg.slogdet of all candidates."""
    rng, good, total, whole = np.random.default_rng(4), 0, 0, 0
    for _ in range(100):
        n, d = rng.integers(2, 25), rng.integers(1, 6)
        a, gamma = rng.normal(size=(n, d)), float(rng.uniform(0.2, 2))
        picks = choose(a, min(n, 6), "kdpp", "--gamma", str(gamma))["exemplars"]
        whole += bool(len(picks) == min(n, 6))
        kernel = np.exp(-gamma * ((a[:, None] - a[None]) ** 2).sum(2))
        for t, p in enumerate(picks):
            volumes = [
                -np.inf if i in picks[:t] else np.linalg.slogdet(kernel[np.ix_([*picks[:t], i], [*picks[:t], i])])[1]
                for i in range(n)
            ]
            good += bool(volumes[p] >= max(volumes) - 1e-9)
            total += 1
    return {
        "problems": 100,
        "with_all_picks": whole,
        "picks": total,
        "best": good,
        "ok": good == total and whole == 100,
    }


def error_of(points, picks):
    q = np.linalg.qr(points[picks].T)[0]
    return float(((points - (points @ q) @ q.T) ** 2).sum())


def strong_columns(columns, k, f=2.0):
    """k columns by pivoted QR and swaps, literally: determinants of all exchanges."""
    picks = list(scipy.linalg.qr(columns, mode="r", pivoting=True)[1][:k])
    while True:
        volume = abs(np.linalg.det(columns[:, picks]))
        best, swap = f * (1 + 1e-10), None
        for t in range(k):
            for j in range(columns.shape[1]):
                if j in picks:
                    continue
                growth = abs(np.linalg.det(columns[:, picks[:t] + [j] + picks[t + 1 :]])) / volume
                if growth > best:
                    best, swap = growth, (t, j)
        if swap is None:
            return picks
        picks[swap[0]] = swap[1]


def two_stage(points, k, rng, oversampling=1.0):
    """One run by the article: draws by leverage, then strong QR of the scaled rows of V_k."""
    v = np.linalg.svd(points.T, full_matrices=False)[2][:k]
    p = (v**2).sum(0) / k
    count = int(max(k, np.ceil(oversampling * k * np.log(k + 1))))
    while True:
        drawn = np.unique(rng.choice(len(points), count, p=p / p.sum()))
        columns = v[:, drawn] / np.sqrt(p[drawn])
        if np.linalg.matrix_rank(columns) == k:
            return drawn[strong_columns(columns, k)]
        count *= 2


def check_two_stage(runs=60):
    """The mean error over seeds, ours against that of literal runs."""
    rng, ratios, errors = np.random.default_rng(5), [], []
    for _ in range(20):
        n, d, k = int(rng.integers(20, 60)), int(rng.integers(5, 30)), int(rng.integers(2, 5))
        a = rng.normal(size=(n, d)) * 0.7 ** np.arange(d)
        ours, literal = [], []
        for seed in range(runs):
            method = "two-stage:oversampling=1:restarts=1"
            answer = choose(a, k, method, "--seed", str(seed))
            if len(answer["exemplars"]) != k:
                return {"ok": False, "short": answer["exemplars"]}
            ours.append(error_of(a, answer["exemplars"]))
            literal.append(error_of(a, two_stage(a, k, rng)))
        ratios.append(np.mean(ours) / np.mean(literal))
        errors.append(np.hypot(np.std(ours) / np.mean(ours), np.std(literal) / np.mean(literal)) / np.sqrt(runs))
    deviations = np.abs(np.array(ratios) - 1) / np.array(errors)
    return {
        "problems": len(ratios),
        "runs": runs,
        "mean_error_over_literal": float(np.mean(ratios)),
        "largest_deviation_in_standard_errors": float(deviations.max()),
        "ok": bool(abs(np.mean(ratios) - 1) < 0.03 and deviations.max() < 4),
    }


def main():
    report = {
        "versions": {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__},
        "rrqr, scipy.linalg.qr": check_qr(),
        "rrqr, real data": check_real(),
        "strong-rrqr, bounds by numpy": check_strong(),
        "omp, literal": check_greedy("omp", correlation, 100),
        "omp normalized, literal": check_greedy("omp:normalize=yes", cosine, 100),
        "leverage, numpy.linalg.svd": check_leverage(),
        "two-stage, literal": check_two_stage(),
        "greedy-cssp, brute force": check_greedy("greedy-cssp", drop_of_error, 100),
        "kdpp, brute force": check_kdpp(),
        "ipm, numpy.linalg.svd": check_greedy("ipm", alignment, 100),
    }
    pathlib.Path(sys.argv[2]).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    failed = [name for name, part in report.items() if not part.get("ok", True)]
    print(json.dumps(report, indent=2))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
