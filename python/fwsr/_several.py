"""What several runs gave: the settings of a sweep, and the errors of fewer exemplars."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._results import ByClass, Selection


@dataclass(frozen=True, eq=False)
class Setting:
    """One setting of :func:`fwsr.sweep`.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> setting = fwsr.sweep(X, 4, alphas=[5])[0]
    >>> setting.alpha, setting.eta, len(setting.selection)
    (5.0, 0.0, 4)
    """

    alpha: float | str
    eta: float
    selection: Selection


class Sweep(list):  # type: ignore[type-arg]
    """The settings of :func:`fwsr.sweep`, in order: a list of :class:`Setting`.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> settings = fwsr.sweep(X, 4, alphas=[1, 5])
    >>> settings.best().alpha in (1.0, 5.0)
    True
    """

    _call = ""  # in words

    def best(self) -> Setting:
        """The setting with the smallest reconstruction error; of equal ones the first."""
        best: Setting | None = None
        least = np.inf
        for setting in self:
            parts = list(setting.selection.classes.values()) or [setting.selection]
            errors = [p.certificate.reconstruction_error for p in parts if p.certificate]
            if errors and max(errors) < least:  # of classes the largest
                best, least = setting, max(errors)
        if best is None:
            raise ValueError("no setting has a certificate, whose reconstruction error would tell")
        return best

    def report(self, path: Any, X: Any, y: Any = None, *, images: Any = None, text: Any = None,
               columns: Any = None, name: str | None = None) -> int:
        """Write a page to look at: what every setting leaves over, and its exemplars.

        One HTML file that any browser shows, from disk and without a network.

        Parameters
        ----------
        path, X, y, images, text, columns, name
            As for :meth:`Selection.report`.

        Returns
        -------
        int
            The size of the page in bytes.

        Examples
        --------
        >>> import fwsr
        >>> digits = fwsr.read("digits")
        >>> size = fwsr.sweep(digits, 20, [1, 5]).report("settings.html", digits)  # doctest: +SKIP
        """
        from ._report import sweep_page

        page = sweep_page(self, X, y, images, text, columns, name)
        _core.write_file(os.fspath(path), page)
        return len(page.encode())


@dataclass(frozen=True, eq=False)
class Path:
    """One run, and how good its first j exemplars are, for every j.

    Attributes
    ----------
    selection : Selection
    error : ndarray of float64
        ``error[j]`` is the reconstruction error of the first j + 1 exemplars. Per class: of the
        first j + 1 of each class, or all that a class has; what is left of the points of all
        classes, each in its own space.
    classes : dict
        Per class: name of the class, as text -> its own Path; ``plot.error_path`` draws them all.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> path = fwsr.path(X, 4)
    >>> path.smallest(error=1.0)
    1
    """

    selection: Selection
    error: np.ndarray
    classes: dict[str, Path] = field(default_factory=ByClass)

    def smallest(self, error: float) -> int | None:
        """The smallest number of exemplars with at most this error; None when all are too few.

        Per class: of each class.
        """
        good = np.flatnonzero(self.error <= error)
        return int(good[0]) + 1 if len(good) else None
