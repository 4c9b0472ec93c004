"""The answer of a comparison: methods side by side."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core, _html
from ._fields import MEASURES, described, marked


@described(trials="One for each repeat: ``exemplars``, and every measure by its name, NaN where it "
                  "was not taken. " +
                  " ".join(f"``{name}``: {marked(about)}." for name, about in MEASURES.items()))
@dataclass(frozen=True, eq=False)
class ComparedMethod:
    """One method of a comparison.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> row = fwsr.compare(X, 3, ["rrqr"])[0]
    >>> row.name, row.outcome, len(row.trials)
    ('rrqr', 'done', 1)
    """

    name: str
    outcome: str
    reason: str
    planned_seconds: float
    device: str
    warnings: list[str]
    trials: list[dict[str, Any]]

    def mean(self, measure: str) -> float:
        """Over the trials; NaN when there is none, or when it was not measured."""
        _known_measure(measure)
        return float(np.mean([t[measure] for t in self.trials])) if self.trials else float("nan")

    def deviation(self, measure: str) -> float:
        """The standard deviation over the trials; 0 for one."""
        _known_measure(measure)
        values = [t[measure] for t in self.trials]
        return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


class Comparison(list):  # type: ignore[type-arg]
    """The methods of :func:`fwsr.compare`, in order: a list of :class:`ComparedMethod`.

    Prints as the table of the command line: mean and standard deviation of every measure, a star
    for the best of each column and for what equals it to rounding.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> fwsr.compare(X, 3, ["greedy-cssp", "random"], repeats=3).best("reconstruction_error")
    'greedy-cssp'
    """

    _call = ""  # in words

    @property
    def measures(self) -> list[str]:
        """Those that were taken."""
        return [name for name in MEASURES if any(np.isfinite(m.mean(name)) for m in self)]

    def best(self, measure: str) -> str:
        """The name of the method that does best by a measure; of equal ones the first."""
        _known_measure(measure)
        means = [m.mean(measure) for m in self]
        done = [m for m, mean in zip(self, means) if np.isfinite(mean)]
        if not done:
            raise ValueError(f"no method has the measure '{measure}'")
        best = [m for m, marked in zip(self, _core.best_of(measure, means)) if marked]
        return (best or done)[0].name

    def report(self, path: Any, X: Any, y: Any = None, *, images: Any = None, text: Any = None,
               columns: Any = None, name: str | None = None) -> int:
        """Write a page to look at: the measures, to be sorted, and the exemplars side by side.

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
        >>> size = fwsr.compare(digits, 20).report("methods.html", digits)  # doctest: +SKIP
        """
        from ._report import comparison_page

        page = comparison_page(self, X, y, images, text, columns, name)
        _core.write_file(os.fspath(path), page)
        return len(page.encode())

    def to_frame(self) -> Any:
        """Means as a pandas table, one line a method."""
        import pandas as pd

        return pd.DataFrame([{"method": m.name, "outcome": m.outcome,
                              **{name: m.mean(name) for name in self.measures}} for m in self])

    def __str__(self) -> str:
        names = list(MEASURES)
        lines = [(m.name if m.device == "cpu" else f"{m.name} ({m.device})", m.outcome,
                  [m.mean(name) for name in names],
                  [m.deviation(name) for name in names]) for m in self]
        reasons = [f"{m.name} has no answer: {m.reason}\n" for m in self if not m.trials]
        return (_core.comparison_table(lines) + "".join(reasons)).rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _html.comparison(self, self.measures)


def _known_measure(measure: str) -> bool:
    """Whether less of it is better."""
    lower = {name: less for name, _, less, _ in _core.measures()}
    if measure not in lower:
        raise ValueError(f"there is no measure '{measure}'; there are {', '.join(lower)}")
    return lower[measure]
