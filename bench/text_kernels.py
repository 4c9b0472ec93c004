"""Which kernel for text? Exemplars of 20 Newsgroups by class, judged by the documents of the test set.

    python3 bench/text_kernels.py > bench/results/text_kernels.md

with the package installed and the data where experiments/data.py looks for it. Every document of the test set gets the
class of the nearest exemplar (cosine of TF-IDF); the accuracy of that is told.
"""

import pathlib
import sys
from dataclasses import replace

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import fwsr  # noqa: E402
from experiments import data  # noqa: E402

KERNELS = {
    "fwsr, linear": {"method": "fwsr"},
    "fwsr, cosine": {"method": "fwsr", "kernel": "cosine"},
    "fwsr, rbf": {"method": "k-fwsr"},
    "kmeans": {"method": "kmeans"},
}
SEEDS = 10


def accuracy(s, chosen):
    """Of the nearest exemplar, for the points of the test set."""
    near = np.asarray((s.X_test @ s.X[chosen].T).argmax(axis=1)).ravel()
    return float((s.y[chosen][near] == s.y_test).mean())


def only(s, classes):
    """The documents of some classes that have a word at all."""
    train = np.isin(s.y, classes) & (s.X.getnnz(axis=1) > 0)
    test = np.isin(s.y_test, classes) & (s.X_test.getnnz(axis=1) > 0)
    return replace(s, X=s.X[train], y=s.y[train], X_test=s.X_test[test], y_test=s.y_test[test])


def main():
    split = data.load("news20-unit")
    print("# Kernels for text\n\n    python3 bench/text_kernels.py > bench/results/text_kernels.md\n")
    print("20 Newsgroups (bydate, without headers, footers and quotes) as TF-IDF of 5,000 words, rows of norm 1. k\n"
          "exemplars of each class of the training set; accuracy of the nearest one (cosine) on the test set. Random\n"
          f"points and k-means: mean and standard deviation over {SEEDS} seeds.\n")
    every = sorted(set(split.y))
    for name, classes in (("all 20 classes", every), ("8 classes", every[::3] + every[1:2])):
        s = only(split, classes)
        print(f"## {name}: {len(s.y):,} documents, {len(s.y_test):,} to judge by\n")
        ks = (5, 20, 50)
        print("| chosen by | " + " | ".join(f"k = {k}" for k in ks) + " |\n|---|" + "---|" * len(ks))
        for how, options in {**KERNELS, "random": {"method": "random"}}.items():
            cells = []
            for k in ks:
                seeds = range(SEEDS if options["method"] in ("kmeans", "random") else 1)
                found = [accuracy(s, fwsr.select(s.X, k, y=s.y, per_class=True, seed=seed, certificate="none",
                                                 **options).exemplars) for seed in seeds]
                cells.append(f"{np.mean(found):.3f}" + (f" ± {np.std(found, ddof=1):.3f}" if len(found) > 1 else ""))
            print(f"| {how} | " + " | ".join(cells) + " |", flush=True)
        print()


if __name__ == "__main__":
    main()
