"""The same picks, weights and objectives as the program, on real data.

The program is the one of FWSR_PROGRAM, else that of the checkout (build/release/bin/fwsr). Data is
read from FWSR_DATA, else from ../shared/data beside the checkout.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import fwsr

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("FWSR_PROGRAM", CHECKOUT / "build/release/bin/fwsr"))
DATA = Path(os.environ.get("FWSR_DATA", CHECKOUT.parent / "shared/data"))

pytestmark = [
    pytest.mark.skipif(not PROGRAM.exists(),
                       reason=f"no program at {PROGRAM}: build it, or name it in FWSR_PROGRAM"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def real(path: str) -> Path:
    if not (DATA / path).exists():
        pytest.skip(f"no data at {DATA / path}: name its folder in FWSR_DATA")
    return DATA / path


def digits() -> tuple[Any, list[str]]:
    data = fwsr.read("digits")
    return data.values, data.labels


def yale() -> tuple[Any, list[str]]:
    file = scipy.io.loadmat(real("yaleb/YaleB_32x32.mat"))
    return file["fea"][::3].astype(np.float32), [str(v) for v in file["gnd"][::3, 0]]


def credit() -> tuple[Any, list[str]]:
    X = np.load(real("credit/credit_paper5492_X_f32.npy"))
    return X, [str(v) for v in np.load(real("credit/credit_paper5492_y_u8.npy"))]


def mnist() -> tuple[Any, list[str]]:
    images, labels = (gzip.decompress(real(f"mnist/t10k-{name}-ubyte.gz").read_bytes())
                      for name in ("images-idx3", "labels-idx1"))
    X = np.frombuffer(images, dtype=np.uint8, offset=16).reshape(-1, 784)[:2000]
    return X.astype(np.float32), [str(v) for v in labels[8:2008]]


def news() -> tuple[Any, list[str]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = [], []
    with gzip.open(real("news20/news20_test.jsonl.gz"), "rt") as file:
        for line in file:
            one = json.loads(line)
            texts.append(one["text"])
            labels.append(str(one["label"]))
            if len(texts) == 1500:
                break
    return TfidfVectorizer(min_df=2, dtype=np.float64).fit_transform(texts), labels


SETS = {"digits": digits, "yale": yale, "credit": credit, "mnist": mnist, "news": news}
CACHE: dict[str, tuple[Any, list[str]]] = {}


def points(name: str) -> tuple[Any, list[str]]:
    if name not in CACHE:
        CACHE[name] = SETS[name]()
    return CACHE[name]


def by_program(folder: Path, X: Any, k: Any, y: list[str] | None, method: str, seed: int,
               options: dict[str, Any]) -> dict[str, Any]:
    """What the program says, its own warnings left out."""
    path = folder / ("x.npz" if sp.issparse(X) else "x.npy")
    if sp.issparse(X):
        sp.save_npz(path, sp.csr_matrix(X), compressed=False)
    else:
        np.save(path, X)
    command = [str(PROGRAM), "select", str(path), "-k", str(k), "--method", method, "--seed",
               str(seed), "--json", "--quiet", "--threads", "1"]
    if y is not None:
        (folder / "y.txt").write_text("\n".join(y) + "\n")
        command += ["--labels", str(folder / "y.txt"), "--per-class"]
    if options.get("eta_relative"):  # the program takes its value there
        options = {**options, "eta_relative": options["eta"]}
        del options["eta"]
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        command += [flag] if value is True else [flag, str(value)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def agree(program: dict[str, Any], chosen: fwsr.Selection) -> None:
    assert program["exemplars"] == chosen.exemplars.tolist()
    assert program["weights"] == chosen.weights.tolist()
    assert program["strength"] == pytest.approx(chosen.strength.tolist(), rel=1e-9)
    assert program["status"] == chosen.status
    if chosen.classes:
        assert [c["class"] for c in program["classes"]] == list(chosen.classes)
    elif chosen.certificate:
        for name in ("f", "f_at_zero", "gap", "reconstruction_error"):
            own, told = getattr(chosen.certificate, name), program["certificate"].get(name)
            if told is None:
                assert np.isnan(own)
            else:
                assert told == pytest.approx(own, rel=1e-9, abs=1e-12 * chosen.f_at_zero)


def both(folder: Path, X: Any, k: Any, y: list[str] | None = None, method: str = "fwsr",
         seed: int = 0, **options: Any) -> None:
    name, _, settings = method.partition(":")
    own = dict(part.split("=") for part in settings.split(":") if part)
    chosen = fwsr.select(X, k, method=name, y=y, per_class=y is not None, seed=seed, n_jobs=1,
                         **own, **options)
    assert len(chosen) >= 1
    agree(by_program(folder, X, k, y, method, seed, options), chosen)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", list(SETS))
def test_the_method_of_the_paper(tmp_path, name, dtype):
    X, _ = points(name)
    both(tmp_path, X.astype(dtype), 8, alpha=5)


@pytest.mark.parametrize("name", list(SETS))
def test_per_class(tmp_path, name):
    X, y = points(name)
    both(tmp_path, X, 3, y)


@pytest.mark.parametrize("name, options", [
    ("digits", {"kernel": "rbf"}), ("digits", {"kernel": "rbf", "gamma": 0.001, "rank": 50}),
    ("digits", {"kernel": "polynomial", "degree": 2, "coef0": 0.5}),
    ("digits", {"q": "inf", "nonneg": True, "alpha": 50}), ("digits", {"q": "1", "beta": 30}),
    ("digits", {"lambda_": 0.1, "rho": 0.2, "when_converged": "stop"}),
    ("credit", {"scale": "standard", "center": "feature"}),
    ("credit", {"eta": 0.3, "eta_relative": True, "alpha": 50}),
    ("credit", {"kernel": "laplacian", "rank": 40, "scale": "standard"}),
    ("yale", {"kernel": "cosine"}), ("mnist", {"center": "none", "precise": True}),
    ("news", {"kernel": "cosine"}), ("news", {"center": "none", "scale": "unit", "alpha": 0.5}),
    ("news", {"fill": True, "max_iterations": 5}),
])
def test_options(tmp_path, name, options):
    both(tmp_path, points(name)[0], 7, **options)


@pytest.mark.parametrize("name, method", [
    ("digits", "kmedoids"), ("digits", "kmedoids:init=build"),
    ("digits", "kmedoids:algorithm=alternating"), ("digits", "smrs:alpha=20"),
    ("digits", "rrqr"), ("digits", "random"), ("digits", "kdpp"), ("digits", "kmeans"),
    ("credit", "k-center"), ("credit", "k-fwsr"), ("yale", "facility"), ("yale", "herding"),
    ("news", "random"), ("news", "kmedoids:metric=cosine"), ("mnist", "leverage"),
    ("mnist", "omp"), ("digits", "greedy-cssp"), ("digits", "exchange"), ("news", "exchange"),
])
def test_methods_and_their_seeds(tmp_path, name, method):
    both(tmp_path, points(name)[0][:1200], 6, method=method, seed=11)


@pytest.mark.parametrize("k", ["proportional:12", {"0": 3, "7": 2}])
def test_counts_per_class(tmp_path, k):
    X, y = points("digits")
    program = by_program(tmp_path, X, k if isinstance(k, str) else "0=3,7=2", y, "fwsr", 0, {})
    agree(program, fwsr.select(X, k, method="fwsr", y=y))


def test_integers_and_wide_indices(tmp_path):
    X, _ = points("digits")
    for dtype in ("uint8", "int64", "float16"):
        both(tmp_path, X.astype(dtype), 6)
    sparse = sp.csr_matrix(X)
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    both(tmp_path, sparse, 6)
    both(tmp_path, np.asfortranarray(X), 6)


def test_assignment_and_codes(tmp_path):
    X, _ = points("digits")
    np.save(tmp_path / "x.npy", X)
    subprocess.run([PROGRAM, "select", tmp_path / "x.npy", "-k", "5", "--quiet", "--codes",
                    tmp_path / "codes.npy", "--assignment", tmp_path / "assignment.npy", "-o",
                    tmp_path / "out.csv"], check=True, timeout=300)
    chosen = fwsr.select(X, 5, codes=True)
    assert np.array_equal(np.load(tmp_path / "assignment.npy"), chosen.assignment)
    assert np.allclose(np.load(tmp_path / "codes.npy"), chosen.codes, rtol=1e-9, atol=1e-12)
