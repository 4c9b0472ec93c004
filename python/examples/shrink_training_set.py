"""A smaller training set: a part of each class kept, and what that costs in accuracy.

Means over five splits into training and test points; settings are the defaults. There are 30
features, which few points span, so FWSR works with the rbf kernel here (``k-fwsr``); ``exchange``,
the default method, does so by itself.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fwsr

X, y = load_breast_cancer(return_X_y=True)
splits = list(StratifiedShuffleSplit(5, test_size=0.3, random_state=0).split(X, y))
MODELS = {"logistic": LogisticRegression(max_iter=1000), "1-NN": KNeighborsClassifier(1)}


def shrunk(method, part, X_train, y_train, seed):
    """Rows of a training set; all of them for a part of 1."""
    if part == 1:
        return np.arange(len(X_train))
    return fwsr.select(X_train, part, method=method, y=y_train, per_class="proportional",
                       scale="standard", seed=seed).exemplars


def accuracies(method, part):
    """For each model the mean over all splits."""
    scores = {name: [] for name in MODELS}
    for seed, (train, test) in enumerate(splits):
        rows = train[shrunk(method, part, X[train], y[train], seed)]
        for name, model in MODELS.items():
            fitted = make_pipeline(StandardScaler(), model).fit(X[rows], y[rows])
            scores[name].append(fitted.score(X[test], y[test]))
    return [np.mean(s) for s in scores.values()]


n = len(splits[0][0])
print(f"{n} training points; mean accuracy over {len(splits)} splits\n")
print("kept  method     " + "".join(f"{name:>10}" for name in MODELS))
for part in (0.05, 0.2, 1):
    for method in ("exchange", "k-fwsr", "kmedoids", "random") if part < 1 else ("all",):
        numbers = "".join(f"{a:10.3f}" for a in accuracies(method, part))
        print(f"{round(part * n):4d}  {method:<10}{numbers}")
