"""Which points to label first: 40 of 1347 digits, chosen without labels, labelled and learnt from.

Every method has its default settings; the test points are looked at once, at the end. ``exchange``
is what ``fwsr.select`` does when no method is named. ``fwsr`` looks for points that span the others
and so takes extreme ones, ``k-fwsr`` for those close to many.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import fwsr

BUDGET = 40

X, y = load_digits(return_X_y=True)
X = X / 16  # pixels from 0 to 1
X_pool, X_test, y_pool, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)


def accuracy(rows):
    """Of a linear model that knows the labels of these rows alone."""
    model = LogisticRegression(max_iter=1000).fit(X_pool[rows], y_pool[rows])
    return model.score(X_test, y_test)


print(f"{BUDGET} of {len(X_pool)} points labelled; accuracy on {len(X_test)} others\n")
print("method      accuracy  digits seen")
for method in ("exchange", "fwsr", "k-fwsr", "kmedoids"):
    chosen = fwsr.select(X_pool, BUDGET, method=method)
    seen = len(set(y_pool[chosen.exemplars]))
    print(f"{method:<10}  {accuracy(chosen.exemplars):8.3f}  {seen:11d}")

draws = [fwsr.select(X_pool, BUDGET, method="random", seed=s).exemplars for s in range(10)]
scores = [accuracy(rows) for rows in draws]
seen = np.mean([len(set(y_pool[rows])) for rows in draws])
print(f"{'random':<10}  {np.mean(scores):8.3f}  {seen:11.1f}   (10 draws, from {min(scores):.3f} "
      f"to {max(scores):.3f})")
