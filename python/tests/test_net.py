"""The net, for Python: what calls of the package answer, recorded in tests/net/python_answers.txt.

    pytest test_net.py                 picks, counts and words are the recorded ones, numbers to
                                       within rounding
    python test_net.py --record        the recorded answers anew; the diff then shows what changed
    python test_net.py --bits FILE     all answers of the package installed here, every bit of them,
                                       into a file
    python test_net.py --compare FILE  the same bits as in the file, which another package wrote on
                                       this machine
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwsr

NET = Path(__file__).resolve().parents[2] / "tests" / "net"
sys.path[:0] = [str(NET), str(NET.parent / "cli")]

import answers
import points

RECORDED = NET / "python_answers.txt"

plain = np.array(points.Draws(1).rows(160, 9, points.STRETCHED))
single = np.array(points.Draws(2).rows(300, 14, points.STRETCHED), dtype=np.float32)
clusters, labels = (np.array(part) for part in points.blobs(120, 6, 3, 3))
new = np.array(points.Draws(4).rows(7, 9, points.STRETCHED))
gram = (1 + plain[:60] @ plain[:60].T / 8) ** 2
rows = points.sparse_rows(110, 70, 5, 5)
words = sp.csr_matrix(([v for row in rows for _, v in row], [j for row in rows for j, _ in row],
                       np.cumsum([0] + [len(row) for row in rows])), shape=(110, 70))
pixels = np.round(40 * (single[:150] + 3)).clip(0, 255).astype(np.uint8)
many = np.array(points.Draws(6).rows(4200, 5, points.STRETCHED))  # a factor is made of these

by_fwsr = functools.partial(fwsr.select, method="fwsr")


def from_file(**options: Any) -> Any:
    """Points in a file that is mapped, or streamed where memory is short."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.npy")
        Path(path).write_bytes(points.large())
        return by_fwsr(path, 3, n_jobs=1, **options)


def until_three() -> Any:
    """The run that a callback stops, and all that the callback was told."""
    told: list[Any] = []

    def watch(progress: fwsr.Progress) -> bool:
        told.append([progress.exemplars, progress.f, progress.gap])
        return progress.exemplars < 3

    chosen = by_fwsr(plain, 9, callback=watch)
    return {"chosen": chosen, "told": [one for three in told for one in three]}


def fitted(model: Any, of: Any = plain, y: Any = None, others: Any = new) -> Any:
    model.fit(of, y)
    found = {"indices": model.exemplar_indices_, "weights": model.weights_,
             "codes": model.transform(of), "score": model.score(of)}
    if others is not None:
        found |= {"new": model.transform(others), "nearest": model.predict(others)}
    return found


def resampled() -> Any:
    few, classes = fwsr.KFWSR(3, per_class=True).fit_resample(clusters, labels)
    return {"rows": few, "classes": classes}


DOUBLE: dict[str, Callable[[], Any]] = {
    "select": lambda: by_fwsr(plain, 7, codes=True),
    "select, alpha, eta, feature": lambda: by_fwsr(
        plain, 7, alpha=3, eta=0.4, center="feature", scale="standard", codes=True),
    "select, every other point": lambda: by_fwsr(plain[::2], 5),
    "select, columns first": lambda: by_fwsr(np.asfortranarray(plain), 5),
    "select, lists": lambda: by_fwsr(plain[:40].tolist(), 4),
    "select, rbf": lambda: by_fwsr(plain, 7, kernel="rbf", codes=True),
    "select, laplacian": lambda: by_fwsr(plain, 5, kernel="laplacian", alpha=2),
    "select, given": lambda: by_fwsr(gram, 5, kernel="precomputed", codes=True),
    "select, a kernel of one's own": lambda: by_fwsr(
        plain, 5, kernel=lambda a, b: (1 + a @ b.T / 8) ** 2),
    "select, factor": lambda: by_fwsr(plain, 6, kernel="rbf", rank=50, codes=True),
    "select, q 1": lambda: by_fwsr(plain, 5, q=1, codes=True),
    "select, q inf, nonneg": lambda: by_fwsr(plain, 5, q="inf", nonneg=True, codes=True),
    "select, sparse": lambda: by_fwsr(words, 6, codes=True),
    "select, sparse, cosine": lambda: by_fwsr(words, 6, kernel="cosine"),
    "select, stop": lambda: by_fwsr(
        plain, 30, alpha=200, when_converged="stop", delta=1e-3, codes=True),
    "select, fill": lambda: by_fwsr(plain, 14, center="none", fill=True),
    "select, more than there is": lambda: by_fwsr(plain[:, :3], 40, center="none"),
    "select, boolean objective": lambda: by_fwsr(plain, 5, lambda_=0.3, rho=0.1),
    "select, stopped": until_three,
    "select, classes": lambda: by_fwsr(clusters, 3, y=labels, per_class=True, codes=True),
    "select, classes, proportional": lambda: by_fwsr(
        clusters, 8, y=labels, per_class="proportional", kernel="rbf"),
    "select, classes, some": lambda: by_fwsr(clusters, {0: 2, 2: 4}, y=labels),
    "sweep": lambda: fwsr.sweep(plain, 5, alphas=["auto", 0, 5], etas=[0, 0.5]),
    "sweep, rbf": lambda: fwsr.sweep(plain, 4, alphas=["auto", 5], kernel="rbf"),
    "path": lambda: fwsr.path(plain, 6, method="fwsr"),
    "path, classes": lambda: fwsr.path(
        clusters, 3, method="fwsr", y=labels, per_class=True, kernel="rbf"),
    "compare": lambda: fwsr.compare(
        clusters, 4, ["fwsr", fwsr.KFWSR(), "kmedoids:restarts=2", "random"], y=labels, repeats=2),
    "plan": lambda: sentences(fwsr.plan(plain, 5, method="fwsr")),
    "plan, tiles": lambda: sentences(
        fwsr.plan(np.tile(plain, (8, 1)), 5, method="fwsr", kernel="rbf", memory="6M", n_jobs=1)),
    "exchange": lambda: fwsr.select(plain, 7, codes=True),
    "exchange, sparse": lambda: fwsr.select(words, 6, codes=True),
    "exchange, classes": lambda: fwsr.select(clusters, 3, y=labels, per_class=True, codes=True),
    "exchange, factor": lambda: fwsr.select(plain, 6, gamma=0.05, ridge=0.3, rank=60),
    "exchange, many points": lambda: fwsr.select(many, 8),
    "exchange, given": lambda: fwsr.select(gram, 5, kernel="precomputed", codes=True),
    "exchange, path": lambda: fwsr.path(plain, 6),
    "exchange, plan": lambda: sentences(fwsr.plan(many, 80)),
    "Exchange, classes": lambda: fitted(
        fwsr.Exchange(3, per_class=True), clusters, labels, clusters[:9]),
    "Exchange, sparse": lambda: fitted(fwsr.Exchange(5), words, None, words[:9]),
    "exchange, no option": lambda: fwsr.select(plain, 5, alpha=5),
    "KFWSR, factor": lambda: fitted(fwsr.KFWSR(5, rank=40)),
    "FWSR, eta": lambda: fitted(fwsr.FWSR(5, eta=0.5, center="none")),
    "FWSR, classes": lambda: fitted(fwsr.FWSR(3, per_class=True), clusters, labels, clusters[:9]),
    "FWSR, sparse": lambda: fitted(fwsr.FWSR(5), words, None, words[:9]),
    "fit_resample": resampled,
    **{name.__name__: lambda one=name: fitted(with_seed(one)) for name in fwsr.ESTIMATORS},
}
SINGLE: dict[str, Callable[[], Any]] = {
    "float32": lambda: by_fwsr(single, 7, codes=True),
    "float32, precise": lambda: by_fwsr(single, 7, precise=True, eta=0.3, eta_relative=True),
    "float32, rbf": lambda: by_fwsr(single, 7, kernel="rbf", codes=True),
    "float32, sparse": lambda: by_fwsr(words.astype(np.float32), 6, kernel="rbf"),
    "float32, exchange": lambda: fwsr.select(single, 7, codes=True),
    "float32, Exchange, many points": lambda: fitted(
        fwsr.Exchange(6), many.astype(np.float32), None, many[:9].astype(np.float32)),
    "float32, FWSR": lambda: fitted(fwsr.FWSR(5), single, None, single[:9]),
    "uint8": lambda: by_fwsr(pixels, 6, center="feature"),
    "mapped": from_file,
    "streamed": lambda: from_file(memory="23M"),
    "digits": lambda: fwsr.select(fwsr.read("digits"), 8, method="kmedoids"),
}
CASES = DOUBLE | SINGLE


def with_seed(estimator: Any) -> Any:
    """One that draws nothing at random has no random_state."""
    names = {field.name for field in dataclasses.fields(estimator)}
    return estimator(5, random_state=3) if "random_state" in names else estimator(5)


def sentences(plan: fwsr.Plan) -> Any:
    return {"how": [plan.method, plan.form, plan.kernel, plan.kernel_by, plan.why, *plan.notes],
            "sizes": [plan.points, plan.features, plan.passes, plan.rank]}


def tree_of(answer: Any) -> Any:
    """As JSON would have it, and NaN as it is; of arrays also type and shape."""
    if dataclasses.is_dataclass(answer):
        return {f.name: tree_of(getattr(answer, f.name)) for f in dataclasses.fields(answer)}
    if isinstance(answer, dict):
        return {str(key): tree_of(value) for key, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [tree_of(value) for value in answer]
    if isinstance(answer, np.ndarray) and answer.ndim > 1:
        return {"type": str(answer.dtype), "shape": list(answer.shape),
                "numbers": answer.ravel().tolist()}
    if isinstance(answer, (np.ndarray, np.generic)):
        return answer.tolist()
    return answer


def facts_of(name: str, whole: bool) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            answer = tree_of(CASES[name]())
        except Exception as e:
            answer = {"raised": f"{type(e).__name__}: {e}"}
    tree = answer if isinstance(answer, dict) else {"answer": answer}
    return answers.facts_of({**tree, "told_warnings": [str(w.message) for w in told]}, whole)


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return answers.read(RECORDED)


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_the_recorded_one(name, recorded):
    near = answers.NEAR_DOUBLE if name in DOUBLE else answers.NEAR_SINGLE
    found = answers.complaint(name, recorded.get(name, {}), facts_of(name, False), near)
    assert not found, f"{found}\nwhere that is meant, test_net.py --record writes the answers anew"


def test_every_record_has_its_case(recorded):
    assert sorted(recorded) == sorted(CASES)


def compare(file: str) -> int:
    """The same bits as in the file."""
    before, equal, unequal = answers.read(file), 0, {}
    for name in CASES:
        now = facts_of(name, True)
        apart = answers.differences(before.get(name, {}), now)
        equal += not apart
        if apart:
            unequal[name] = apart
            print(answers.complaint(name, before.get(name, {}), now, None, before="file"))
    return answers.summary(equal, unequal)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", action="store_true")
    what.add_argument("--bits", metavar="FILE")
    what.add_argument("--compare", metavar="FILE")
    asked = parser.parse_args()
    print(f"{len(CASES)} answers of {fwsr.__file__}")
    if asked.compare:
        return compare(asked.compare)
    whole = bool(asked.bits)
    answers.write(asked.bits or RECORDED, {name: facts_of(name, whole) for name in CASES})
    return 0


if __name__ == "__main__":
    sys.exit(main())
