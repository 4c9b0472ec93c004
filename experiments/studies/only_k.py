"""Only k is given: widths, ridge, rounds, starts and middles of exchange; what the default does."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import euclidean_distances

import fwsr

from .. import data, page
from ..data import Split
from ..store import Key, Result, Store
from . import defaults
from .defaults import Judge

#: Every measurement is the mean over so many random four fifths of the training points.
DRAWS = 3
#: Runs on each of these of rules that draw at random.
RUNS = {"random": 7, "kmedoids": 2, "kmedoids-batch": 2, "random, then exchange": 2}

#: Beside those of the study of alpha and eta: sets that scikit-learn ships or makes, letters of
#: EMNIST, and the texts of News20 as dense embeddings.
SIZES: dict[str, tuple[list[int], list[int]]] = {
    **defaults.SIZES,
    "iris": ([2, 5], [5, 12]),
    "moons": ([5, 20], [10, 40]),
    "blobs": ([2, 5], [20, 50]),
    "quantiles": ([5, 20], [15, 60]),
    "patches": ([5, 20], [10, 40]),
    "letters": ([2, 10], [26, 100]),
    "news20-lsa": ([10, 40], [20, 100]),
}
del SIZES["diabetes"]  # has no classes to judge by
QUICK = ("wine", "iris")


def keys(quick: bool) -> Iterator[Key]:
    for name in QUICK if quick else SIZES:
        for per_class, sizes in zip((True, False), SIZES[name]):
            for k in sizes:
                yield {"data": name, "per_class": per_class, "k": k}


# ---- The sets ------------------------------------------------------------------------------------


@functools.lru_cache(1)
def points(name: str) -> Split:
    made = {"iris": _iris, "moons": _moons, "blobs": _blobs, "quantiles": _quantiles,
            "patches": _patches, "letters": _letters, "news20-lsa": _news20_lsa}
    return made[name]() if name in made else defaults.points(name)


def _split(X: Any, y: np.ndarray) -> Split:
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    return Split(X, y, X_test, y_test, k=5)


def _iris() -> Split:
    from sklearn.datasets import load_iris

    return data.standardised(_split(*load_iris(return_X_y=True)), independently=False)


def _moons() -> Split:
    from sklearn.datasets import make_moons

    return _split(*make_moons(3000, noise=0.25, random_state=0))


def _blobs() -> Split:
    """Clusters of unequal size and width, which overlap."""
    from sklearn.datasets import make_blobs

    sizes = [800, 400, 400, 200, 200, 200, 100, 100, 100, 50]
    widths = np.random.default_rng(0).uniform(1, 6, len(sizes))
    return _split(*make_blobs(sizes, 20, cluster_std=list(widths), center_box=(-4, 4),
                              random_state=0))


def _quantiles(seed: int = 0) -> Split:
    """Shells of one Gaussian: no clusters at all."""
    from sklearn.datasets import make_gaussian_quantiles

    return _split(*make_gaussian_quantiles(n_samples=3000, n_features=6, n_classes=3,
                                           random_state=seed))


def _patches() -> Split:
    """8 x 8 pieces of two photographs."""
    from sklearn.datasets import load_sample_images
    from sklearn.feature_extraction.image import extract_patches_2d

    pieces = [extract_patches_2d(image, (8, 8), max_patches=1500, random_state=0)
              for image in load_sample_images().images]
    X = np.concatenate(pieces).reshape(3000, -1) / 255
    return _split(X, np.repeat([0, 1], 1500))


def _letters() -> Split:
    import lzma

    with lzma.open(data.find("emnist/emnist-letters-test-first10000_X_u8.npy.xz")) as file:
        X = np.load(file)
    y = np.load(data.find("emnist/emnist-letters-test-first10000_y_u8.npy")).astype(np.int64)
    return _split(X[::3].reshape(len(y[::3]), -1).astype(np.float32) / 255, y[::3])


def _news20_lsa() -> Split:
    """The texts in 100 directions, each of norm 1, as people embed them."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    texts = defaults.points("news20")
    lsa = TruncatedSVD(100, random_state=0).fit(texts.X)
    return replace(texts, X=normalize(lsa.transform(texts.X)),
                   X_test=normalize(lsa.transform(texts.X_test)))


def drawn(split: Split, draw: int) -> Split:
    """A random four fifths of every class."""
    random = np.random.default_rng(draw)
    rows = [random.permutation(np.flatnonzero(split.y == c)) for c in np.unique(split.y)]
    return split.part(np.sort(np.concatenate([r[: max(2, len(r) * 4 // 5)] for r in rows])))


# ---- The rules -----------------------------------------------------------------------------------

Rule = Callable[..., np.ndarray]


def _plain(**options: Any) -> Rule:
    def choose(X: Any, k: int, seed: int) -> np.ndarray:
        return fwsr.select(X, k, certificate="none", seed=seed, **options).exemplars

    return choose


def _exchange(times: float, of: float, start: str = "k-fwsr", refine: str = "exchange",
              **options: Any) -> Rule:
    """Exchange with gamma = times / a quantile of the squared distances."""

    def choose(X: Any, k: int, seed: int) -> np.ndarray:
        gamma = times / typical_distance(X, of)
        rule = _plain(method=start, kernel="rbf", gamma=gamma, refine=refine, **options)
        return rule(X, k, seed)

    return choose


def typical_distance(X: Any, quantile: float) -> float:
    """Squared, between up to 1000 evenly spaced points; equal points left out."""
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, 1000).astype(int))]
    squared = euclidean_distances(some, squared=True)
    return float(np.quantile(squared[squared > 1e-12 * squared.max()], quantile))


#: What `fwsr select` does where no method is named.
DEFAULT = "exchange, the default"
#: Of every set; by the name that tables show.
RULES: dict[str, Rule] = {
    DEFAULT: _plain(method="exchange"),
    "exchange, not to the middle": _plain(method="exchange", refine="exchange"),
    "exchange, always to the middle": _plain(method="exchange", refine="middle"),
    "kmedoids": _plain(method="kmedoids"),
    "kmedoids-batch": _plain(method="kmedoids-batch"),
    "fwsr": _plain(method="fwsr"),
    "fwsr, then exchange": _plain(method="fwsr", refine="exchange"),
    "k-fwsr": _plain(method="k-fwsr"),
    "k-fwsr, then exchange": _plain(method="k-fwsr", refine="exchange"),
    "greedy-cssp": _plain(method="greedy-cssp"),
    "random": _plain(method="random"),
}
#: Of dense sets: the parts of the default, one changed at a time.
VARIANTS: dict[str, Rule] = {
    "gamma = 1 / median": _exchange(1, 0.5),
    "gamma = 1.5 / median": _exchange(1.5, 0.5),
    "gamma = 2 / median": _exchange(2, 0.5),
    "gamma = 1 / 90 % quantile": _exchange(1, 0.9),
    "gamma = 2 / 90 % quantile": _exchange(2, 0.9),
    "gamma = 3 / 90 % quantile": _exchange(3, 0.9),
    "ridge 0.01": _exchange(2, 0.9, ridge=0.01),
    "ridge 0.3": _exchange(2, 0.9, ridge=0.3),
    "one visit": _exchange(2, 0.9, refine_rounds=1),
    "through a factor of rank 256": _exchange(2, 0.9, rank=256),
    "through a factor of rank 256, middle": _exchange(2, 0.9, refine="middle", rank=256),
    "through a factor of rank 512, middle": _exchange(2, 0.9, refine="middle", rank=512),
    "from greedy-cssp:mu=0.1": _exchange(2, 0.9, start="greedy-cssp", mu=0.1),
    "random, then exchange": _exchange(2, 0.9, start="random"),
}


def judged(judge: Judge, rule: Rule, k: int, draw: int, runs: int) -> list[dict[str, float]]:
    """What k exemplars by this rule are worth, run by run."""
    X, found = judge.split.X, []
    for run in range(runs):
        rows = [g[rule(X[g], min(k, len(g)), 100 * draw + run)] for g in judge.groups]
        found.append(judge.all(np.concatenate(rows)))
    return found


def measure(data: str, per_class: bool, k: int, only: tuple[str, ...] = ()) -> Result:
    """With `only` just these rules: every rule is measured by itself."""
    whole = points(data)
    rules = RULES if scipy.sparse.issparse(whole.X) else {**RULES, **VARIANTS}
    rules = {name: rule for name, rule in rules.items() if not only or name in only}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in rules}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer than k found
        for draw in range(DRAWS):
            judge = Judge(drawn(whole, draw), per_class, labelled=True)
            for name, rule in rules.items():
                found[name] += judged(judge, rule, k, draw, RUNS.get(name, 1))
    return {
        name: {m: float(f"{np.mean([one[m] for one in all_]):.4g}")
               for m in ("distance", "svm", "knn")}
        for name, all_ in found.items()
    }


# ---- Tables --------------------------------------------------------------------------------------


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    found = list(stores["only_k"])
    dense = [(key, result) for key, result in found if any(v in result for v in VARIANTS)]
    return {
        "only-k-rules": _rules(found, list(RULES)),
        "only-k-variants": _rules(dense, [DEFAULT, *VARIANTS, "kmedoids"]),
        "only-k-sets": _sets(found),
    }


def _above_random(found: list[tuple[Key, Result]], name: str, measure: str) -> list[float]:
    return [r[name][measure] - r["random"][measure] for _, r in found]


def _rules(found: list[tuple[Key, Result]], names: list[str]) -> str:
    """One line for each rule: means over the tasks with their standard errors, and the set on which
    it is worst beside random points."""
    rows = []
    for name in names:
        row: list[Any] = [f"**{name}**" if name == DEFAULT else name]
        for measure in ("svm", "knn"):
            above = _above_random(found, name, measure)
            error = np.std(above, ddof=1) / np.sqrt(len(above))
            row.append(f"{np.mean(above):+.3f} ± {error:.3f}" if name != "random" else None)
        by_set = {
            (one, words): float(np.mean(_above_random(mine, name, measure)))
            for one in dict.fromkeys(key["data"] for key, _ in found)
            for mine in [[f for f in found if f[0]["data"] == one]]
            for measure, words in (("svm", "SVM"), ("knn", "1-NN"))
        }
        (one, words), least = min(by_set.items(), key=lambda item: item[1])
        row.append(f"{least:+.3f} ({one}, {words})" if name != "random" else None)
        ratios = [r[name]["distance"] / min(v["distance"] for v in r.values()) for _, r in found]
        row.append(f"{np.exp(np.mean(np.log(ratios))):.2f}")
        rows.append(row)
    sets = len({key["data"] for key, _ in found})
    return page.table(
        [f"{len(found)} tasks of {sets} sets", "SVM - random", "1-NN - random", "least of any set",
         "distance / least"],
        rows,
    )


def _sets(found: list[tuple[Key, Result]]) -> str:
    """The default, k-medoids and the paper's two on every set, SVM / 1-NN above random points."""
    names = [DEFAULT, "kmedoids", "k-fwsr", "fwsr"]
    rows = []
    for one in dict.fromkeys(key["data"] for key, _ in found):
        mine = [f for f in found if f[0]["data"] == one]
        rows.append([one] + [
            " / ".join(f"{np.mean(_above_random(mine, name, m)):+.3f}" for m in ("svm", "knn"))
            for name in names
        ])
    return page.table(["SVM / 1-NN - random", *names], rows)
