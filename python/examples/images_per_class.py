"""What a set of labelled images looks like: four of each class, in a picture.

usage: images_per_class.py [PICTURE.png]
"""

import sys

import numpy as np
from sklearn.datasets import load_digits

import fwsr
from fwsr import plot

X, y = load_digits(return_X_y=True)
model = fwsr.KFWSR(4, per_class=True).fit(X, y)

for name, part in model.selection_.classes.items():
    print(f"class {name}: images {', '.join(map(str, part.exemplars))} stand for "
          f"{', '.join(f'{w:.0f}' for w in part.weights)} of {np.sum(y == int(name))}")

# How well they stand for their class: give every other image the class of its nearest exemplar.
others = ~model.get_support()
nearest = model.exemplar_indices_[model.predict(X[others])]
print(f"\n1-NN on the {others.sum()} other images with these {len(model.exemplar_indices_)}: "
      f"accuracy {np.mean(y[nearest] == y[others]):.3f}")
drawn = [fwsr.RandomExemplars(4, per_class=True, random_state=s).fit(X, y) for s in range(10)]
scores = [np.mean(y[m.exemplar_indices_[m.predict(X[~m.get_support()])]] == y[~m.get_support()])
          for m in drawn]
print(f"with as many drawn at random, mean of {len(scores)}: {np.mean(scores):.3f}")

picture = sys.argv[1] if len(sys.argv) > 1 else "images_per_class.png"
plot.gallery(X, model, cmap="gray_r").savefig(picture)
print(f"picture: {picture}")
