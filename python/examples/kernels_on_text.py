"""Kernels on sparse text: do k documents cover k subjects?

The corpus is made here: documents of very different length, most words common to all subjects.
"""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer

import fwsr

SUBJECTS, DOCUMENTS, WORDS = 12, 1500, 3000


def corpus(seed):
    """Counts of words as a sparse matrix, and the subject of each document."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(WORDS, 0.05))
    own = rng.dirichlet(np.full(WORDS, 0.02), size=SUBJECTS)
    subject = rng.choice(SUBJECTS, size=DOCUMENTS, p=rng.dirichlet(np.full(SUBJECTS, 3.0)))
    length = rng.lognormal(4.5, 0.8, size=DOCUMENTS).astype(int) + 5
    counts = [rng.multinomial(m, 0.6 * common + 0.4 * own[s]) for m, s in zip(length, subject)]
    return csr_matrix(np.array(counts, dtype=np.float32)), subject


SETTINGS = {
    "counts, linear": ("counts", {"method": "fwsr"}),
    "counts, unit norm": ("counts", {"method": "fwsr", "scale": "unit", "center": "none"}),
    "TF-IDF, cosine": ("tfidf", {"method": "fwsr", "kernel": "cosine"}),
    "TF-IDF, rbf": ("tfidf", {"method": "fwsr", "kernel": "rbf"}),
    "TF-IDF, the default": ("tfidf", {}),
    "random": ("counts", {"method": "random"}),
}
covered: dict[str, list[int]] = {name: [] for name in SETTINGS}
largest: dict[str, list[float]] = {name: [] for name in SETTINGS}
for seed in range(5):
    counts, subject = corpus(seed)
    points = {"counts": counts, "tfidf": TfidfTransformer(sublinear_tf=True).fit_transform(counts)}
    words = np.asarray(counts.sum(axis=1)).ravel()
    for name, (which, options) in SETTINGS.items():
        chosen = fwsr.select(points[which], SUBJECTS, seed=seed, **options).exemplars
        covered[name].append(len(set(subject[chosen])))
        largest[name].append(float(np.median(words[chosen]) / np.median(words)))

print(f"{SUBJECTS} exemplars of {DOCUMENTS} documents, {counts.nnz / DOCUMENTS:.0f} different "
      f"words each of {WORDS}; means over 5 corpora\n")
print("points and kernel    subjects covered   length beside the median")
for name in SETTINGS:
    print(f"{name:<20} {np.mean(covered[name]):8.1f} of {SUBJECTS} {np.mean(largest[name]):19.1f}")
