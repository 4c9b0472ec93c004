"""Few-shot examples for a prompt: two messages of each intent that stand for the others.

The embeddings are TF-IDF and a truncated SVD; those of a language model go in the same way.
"""

from itertools import product

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import pairwise_distances_argmin
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import fwsr

PATTERNS = {
    "refund": (["I want my money back for", "please refund", "how do I return", "cancel and repay"],
               ["the blue jacket", "my last order", "a broken lamp", "the wrong shoes"]),
    "delivery": (["where is", "when will you deliver", "I am still waiting for", "please track"],
                 ["my parcel", "my last order", "the blue jacket", "the package from Monday"]),
    "account": (["I cannot log in to", "how do I change", "please delete", "someone has stolen"],
                ["my account", "my password", "my email address", "the login of my son"]),
    "praise": (["thank you for", "I am very happy with", "what a pleasure:", "great work on"],
               ["the quick reply", "my last order", "the lovely lamp", "your friendly staff"]),
}
messages = [f"{a} {b}" for starts, ends in PATTERNS.values() for a, b in product(starts, ends)]
intents = np.repeat(list(PATTERNS), 16)

embed = make_pipeline(TfidfVectorizer(), TruncatedSVD(20, random_state=0), Normalizer())
METHODS = ("exchange", "fwsr", "k-fwsr", "kmedoids", "random")
scores: dict[str, list[float]] = {method: [] for method in METHODS}
for seed in range(15):
    known, asked, y_known, y_asked = train_test_split(
        np.array(messages), intents, test_size=0.5, stratify=intents, random_state=seed)
    E_known, E_asked = embed.fit(known).transform(known), embed.transform(asked)
    for method in scores:
        chosen = fwsr.select(E_known, 2, y=y_known, per_class=True, method=method, seed=seed)
        examples = chosen.exemplars
        if seed == 0 and method == "exchange":  # the default
            for row, weight in zip(examples, chosen.weights):
                print(f'{y_known[row]:<9} "{known[row]}" stands for {weight:.0f}')
        nearest = pairwise_distances_argmin(E_asked, E_known[examples])
        scores[method].append(float(np.mean(y_known[examples][nearest] == y_asked)))

print(f"\n{len(asked)} other messages given the intent of the nearest example; {seed + 1} splits\n")
for method, values in scores.items():
    print(f"{method:<9} accuracy {np.mean(values):.3f}, standard deviation {np.std(values):.3f}")
