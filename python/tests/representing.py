"""What tests of points and their exemplars share."""

import numpy as np

from fwsr import _encoder


def tolerance(model, X):
    """For codes: what rounding the kernel to the precision of the points may change in them."""
    encoder = model._encoder
    exact = np.dtype(X.dtype) == np.float64 or encoder.kernel.name in ("linear", "cosine")
    precision = np.finfo(np.float64 if exact else np.float32).eps
    theta = np.abs(model.selection_.coefficients["theta"])
    products = encoder._known(encoder.basis).codes(_encoder._points(X))
    among = np.abs(products) + encoder.eta ** 2
    return 64 * precision * (among @ theta.T).max()


def closeness(model, X):
    """To every exemplar in the kernel's space, less what all have in common."""
    encoder = model._encoder
    if not len(encoder.gram):
        return np.zeros((X.shape[0], 0))
    products = encoder._known(encoder.exemplars).codes(_encoder._points(X))
    return 2 * products - np.diagonal(encoder.gram)


def assert_same_up_to_ties(closeness, found, expected, within=1e-6):
    """Both of the same closeness, row by row; within what is rounding."""
    if not closeness.shape[1]:
        assert (found == -1).all() and (expected == -1).all()
        return
    rows = np.arange(len(closeness))
    np.testing.assert_allclose(closeness[rows, found], closeness[rows, expected], rtol=0,
                               atol=within * max(1e-300, np.abs(closeness).max()))
