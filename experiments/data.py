"""The data sets of the experiments, as training and test points.

They are read from the folder FWSR_DATA, or from ../shared/data beside the checkout; Fashion-MNIST
from where Debian's package dataset-fashion-mnist puts it. What is not there raises Missing.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import fwsr

FOLDER = Path(os.environ.get("FWSR_DATA", Path(__file__).parents[2] / "shared/data"))
FASHION = Path("/usr/share/datasets/fashion-mnist")


class Missing(Exception):
    """A data set is not on this machine; the text says where it was looked for."""


@dataclass(frozen=True)
class Split:
    """Points to select from and train on, and points to test on."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    k: int  # exemplars of each class
    only: tuple[int, ...] = ()  # classes to select from, all points of the others are kept; (): all
    f1: bool = False  # judge by F1 of class 1, not by accuracy

    def part(self, rows: np.ndarray) -> Split:
        """The same with only these training points."""
        return replace(self, X=self.X[rows], y=self.y[rows])


def find(path: str, folder: Path = FOLDER) -> Path:
    if not (folder / path).exists():
        raise Missing(f"no data at {folder / path}: name its folder in FWSR_DATA")
    return folder / path


def _images(folder: Path, images: str, labels: str) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of two idx files; pixels from 0 to 1."""
    X = np.asarray(fwsr.read(find(images, folder)).values, dtype=np.float32) / np.float32(255)
    with gzip.open(find(labels, folder)) as file:
        y = np.frombuffer(file.read(), dtype=np.uint8, offset=8)
    if len(X) != len(y):
        raise ValueError(f"{folder / images} holds {len(X)} images, {labels} {len(y)} labels")
    return X, y.astype(np.int64)


def _idx_sets(folder: Path, train: str, test: str, k: int) -> Split:
    both = [
        _images(folder, f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz")
        for part in (train, test)
    ]
    return Split(*both[0], *both[1], k=k)


@functools.lru_cache(1)
def mnist() -> Split:
    return _idx_sets(FOLDER / "mnist", "train", "t10k", k=10)


@functools.lru_cache(1)
def fashion() -> Split:
    if not FASHION.exists():
        raise Missing(f"no Fashion-MNIST at {FASHION}: install dataset-fashion-mnist")
    return _idx_sets(FASHION, "train", "t10k", k=10)


@functools.lru_cache(1)
def emnist(cap: int = 5000) -> Split:
    """EMNIST ByClass from the official files, at most `cap` training images of a class, the first.

    The images are stored transposed, which changes no distance and no product.
    """
    whole = _idx_sets(FOLDER / "emnist", "emnist-byclass-train", "emnist-byclass-test", k=10)
    return whole.part(capped(whole.y, cap))


def capped(y: np.ndarray, cap: int) -> np.ndarray:
    """The first `cap` of each class, in order."""
    return np.sort(np.concatenate([np.flatnonzero(y == c)[:cap] for c in np.unique(y)]))


@functools.lru_cache(2)
def yaleb(draw: int = 0) -> Split:
    """Extended Yale B: 51 random training images of each of 38 people (1938 = 38 x 51)."""
    from scipy.io import loadmat

    file = loadmat(find("yaleb/YaleB_32x32.mat"))
    X, y = file["fea"].astype(np.float64) / 255, file["gnd"].ravel().astype(np.int64) - 1
    random = np.random.default_rng(draw)
    train = np.sort(
        np.concatenate([random.permutation(np.flatnonzero(y == c))[:51] for c in range(38)])
    )
    test = np.setdiff1d(np.arange(len(y)), train)
    return Split(X[train], y[train], X[test], y[test], k=7)


@functools.lru_cache(2)
def credit(draw: int = 0) -> Split:
    """The paper's 5000 normal and 492 fraudulent payments, a random fifth for validation."""
    from sklearn.model_selection import train_test_split

    X = np.load(find("credit/credit_paper5492_X_f32.npy")).astype(np.float64)
    y = np.load(find("credit/credit_paper5492_y_u8.npy")).astype(np.int64)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1098, random_state=draw)
    return Split(X, y, X_test, y_test, k=10, only=(0,), f1=True)


@functools.lru_cache(2)
def news20(features: int = 50000) -> Split:
    """20 Newsgroups without headers, footers and quotes, as TF-IDF of the commonest 50,000 words.

    With fewer features: the best of them by the chi-squared test on the training texts.
    """
    from sklearn.datasets import _twenty_newsgroups as news
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.feature_selection import SelectKBest, chi2

    if features < 50000:
        whole = news20()
        best = SelectKBest(chi2, k=features).fit(whole.X, whole.y)
        return replace(
            whole, X=best.transform(whole.X).tocsr(), X_test=best.transform(whole.X_test).tocsr()
        )
    texts, labels = {}, {}
    for part in ("train", "test"):
        with gzip.open(find(f"news20/news20_{part}.jsonl.gz"), "rt") as file:
            rows = [json.loads(line) for line in file]
        texts[part] = [
            news.strip_newsgroup_quoting(
                news.strip_newsgroup_footer(news.strip_newsgroup_header(row["text"]))
            )
            for row in rows
        ]
        labels[part] = np.array([row["label"] for row in rows], dtype=np.int64)
    words = TfidfVectorizer(max_features=features)
    X = words.fit_transform(texts["train"]).tocsr()
    X_test = words.transform(texts["test"]).tocsr()
    return Split(X, labels["train"], X_test, labels["test"], k=50)


def news20_unit() -> Split:
    """The 5000 best words, each text to norm 1 again: short texts are then not near all."""
    from sklearn.preprocessing import normalize

    best = news20(5000)
    return replace(best, X=normalize(best.X), X_test=normalize(best.X_test))


def _of_sklearn(load: Callable[..., Any], k: int) -> Split:
    from sklearn.model_selection import train_test_split

    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    return Split(X.astype(np.float64), y, X_test.astype(np.float64), y_test, k=k)


@functools.lru_cache(1)
def digits() -> Split:
    from sklearn.datasets import load_digits

    return _of_sklearn(load_digits, k=5)


@functools.lru_cache(1)
def cancer() -> Split:
    from sklearn.datasets import load_breast_cancer

    return _of_sklearn(load_breast_cancer, k=10)


@functools.lru_cache(1)
def wine() -> Split:
    from sklearn.datasets import load_wine

    return _of_sklearn(load_wine, k=5)


#: By name, with the name that tables show.
SETS: dict[str, tuple[str, Callable[..., Split]]] = {
    "yaleb": ("E-YaleB", yaleb),
    "yaleb-knn": ("E-YaleB", yaleb),
    "news20": ("News20", news20),
    "news20-chi2": ("News20, 5000 words", functools.partial(news20, 5000)),
    "news20-unit": ("News20, 5000 words, unit norm", news20_unit),
    "credit": ("Credit", credit),
    "credit-both": ("Credit, both classes", lambda draw=0: replace(credit(draw), only=())),
    "emnist": ("EMNIST", emnist),
    "mnist": ("MNIST", mnist),
    "fashion": ("Fashion-MNIST", fashion),
    "digits": ("digits", digits),
    "cancer": ("breast cancer", cancer),
    "wine": ("wine", wine),
}


def load(name: str, *draw: int) -> Split:
    """A data set by its name; of those that are split at random, the split of that number."""
    return SETS[name][1](*draw)


def inner(split: Split) -> Split:
    """Four fifths of the training points to learn from, one fifth to tune on: no test point."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(split.y))
    learn, tune = train_test_split(rows, test_size=0.2, random_state=1, stratify=split.y)
    learn, tune = np.sort(learn), np.sort(tune)
    return replace(
        split, X=split.X[learn], y=split.y[learn], X_test=split.X[tune], y_test=split.y[tune]
    )


def standardised(split: Split, independently: bool) -> Split:
    """Each feature to mean 0 and variance 1: of the test points by their own (as the paper), or by
    the training points'."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(split.X)
    of_test = StandardScaler().fit(split.X_test) if independently else scaler
    return replace(split, X=scaler.transform(split.X), X_test=of_test.transform(split.X_test))
